"""What happens beside training: a log, a time limit, an end when nothing improves, bad steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ras_flow.support.extras import require
from ras_flow.training.finite import finite_steps
from ras_flow.training.processes import any_says

MEASURED = "measured_seconds"
"""The log's name for the time of a whole measurement, where it is more than that of the loss."""

_TOLD = ("loss", "eval_loss", "plan_label_accuracy", "answer_exact_match", "answer_f1")


def callbacks(*, deadline: float | None, patience: int, log: Callable[[str], None]) -> list[Any]:
    """Return callbacks for transformers' Trainer."""
    base: Any = require("transformers", extra="local").TrainerCallback

    class Tell(base):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            told = [f"{n} {float(logs[n]):.4f}" for n in _TOLD if n in (logs or {})]
            if told and state.is_world_process_zero:
                log(f"step {state.global_step} of {state.max_steps}: {', '.join(told)}")

    class Stop(base):  # type: ignore[misc]
        """Stops before the time is over: all may take as long as the longest of it so far.

        How long the first measurement takes is not known. It may be killed, so what was learnt is
        kept before each.
        """

        def __init__(self) -> None:
            self.last = time.monotonic()
            self.longest = 0.0

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.last = time.monotonic()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if measuring_time([logs or {}]):
                self.last = time.monotonic()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            now = time.monotonic()
            self.longest = max(self.longest, now - self.last)
            self.last = now
            last = state.global_step + 1 == state.max_steps
            due = args.eval_strategy == "steps" and (
                last or (state.global_step + 1) % state.eval_steps == 0
            )
            control.should_save |= due
            # At the end, what is kept is measured once more.
            measurements = control.should_evaluate + due + last
            end = now + self.longest + measurements * measuring_time(state.log_history)
            over = deadline is not None and any_says(end >= deadline, args.device)
            if over and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True
            return control

    class Patience(base):  # type: ignore[misc]
        """Its memory is the log's history, which a checkpoint has."""

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            if at_end(state, patience):
                control.should_training_stop = True
            return control

    return [Tell(), Stop(), Patience(), finite_steps(log)]


def at_end(state: Any, patience: int) -> bool:
    """Tell whether a run is at its end, or must stop for lack of improvement."""
    ended = patience > 0 and stale(state.log_history) >= patience
    return ended or bool(state.global_step >= state.max_steps)


def stale(history: list[dict[str, Any]]) -> int:
    """Return how many measurements there were since the lowest loss."""
    losses = [entry["eval_loss"] for entry in history if "eval_loss" in entry]
    return len(losses) - 1 - losses.index(min(losses)) if losses else 0


def measuring_time(history: list[dict[str, Any]]) -> float:
    """Return how many seconds the longest measurement took; 0 where there was none."""
    names = ("eval_runtime", MEASURED)
    return max((entry[name] for entry in history for name in names if name in entry), default=0.0)
