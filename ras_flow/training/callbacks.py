"""What happens beside training: a log, a time limit, early stopping, steps that are skipped."""

from __future__ import annotations

import time
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require
from ras_flow.training.processes import any_says
from ras_flow.training.run import Logger

MOST_BAD_STEPS = 5
"""Steps in a row without finite gradients after which training ends."""

MEASURED = "eval_runtime"
"""The log's name for the seconds that a measurement took."""

_LOGGED = (
    "loss",
    "eval_loss",
    "eval_recall",
    "plan_label_accuracy",
    "answer_exact_match",
    "answer_f1",
)


def callbacks(*, deadline: float | None, patience: int, log: Logger) -> list[Any]:
    """Return callbacks for transformers' Trainer."""
    torch = require("torch", extra="local")
    base: Any = require("transformers", extra="local").TrainerCallback

    class Tell(base):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            told = [f"{n} {float(logs[n]):.4f}" for n in _LOGGED if n in (logs or {})]
            if told and state.is_world_process_zero:
                log(f"step {state.global_step} of {state.max_steps}: {', '.join(told)}")

    class Stop(base):  # type: ignore[misc]
        """Stops if another step, and the measurement that may be due, may not end in time."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.last, self.longest = time.monotonic(), 0.0

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if MEASURED in (logs or {}):
                self.last = time.monotonic()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            now, following = time.monotonic(), state.global_step + 1
            self.longest, self.last = max(self.longest, now - self.last), now
            due = following % state.eval_steps == 0 or following == state.max_steps
            measuring = max((entry.get(MEASURED, 0.0) for entry in state.log_history), default=0.0)
            end = now + self.longest + (due + control.should_evaluate) * measuring
            over = deadline is not None and any_says(end >= deadline, args.device)
            if over and state.global_step < state.max_steps:
                control.should_save = control.should_training_stop = True

    class Patience(base):  # type: ignore[misc]
        """Early stopping that reads the log's history, which a checkpoint keeps."""

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop |= at_end(state, patience)

    class Finite(base):  # type: ignore[misc]
        """Skips steps whose gradients are not finite: one of them would destroy all weights.

        In bfloat16 on a GPU one step in eight hundred was such.
        """

        in_a_row = 0

        def on_pre_optimizer_step(
            self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
        ) -> None:
            weights = [weight for weight in model.parameters() if weight.grad is not None]
            if torch.nn.utils.get_total_norm([weight.grad for weight in weights]).isfinite():
                self.in_a_row = 0
                return
            self.in_a_row += 1
            step = state.global_step + 1
            if self.in_a_row == min(MOST_BAD_STEPS, state.max_steps):
                raise ConfigurationError(
                    f"The gradients of {self.in_a_row} steps in a row, up to step {step}, are not "
                    "finite. Lower optimizer.learning_rate or set optimizer.precision = "
                    '"float32", and name another output; or give the same command again to go on '
                    "from the last checkpoint."
                )
            for weight in weights:
                weight.grad = None
            if state.is_world_process_zero:
                log(f"step {step} is skipped: its gradients are not finite")

    return [Tell(), Stop(), Patience(), Finite()]


def at_end(state: Any, patience: int) -> bool:
    """Tell whether a run is at its end, or must stop for lack of improvement."""
    ended = patience > 0 and stale(state.log_history) >= patience
    return ended or bool(state.global_step >= state.max_steps)


def stale(history: list[dict[str, Any]]) -> int:
    """Return how many measurements there were since the lowest loss."""
    losses = dev_losses(history)
    return len(losses) - 1 - losses.index(min(losses)) if losses else 0


def dev_losses(history: list[dict[str, Any]]) -> list[float]:
    """Return every loss that was measured on ``dev``."""
    return [entry["eval_loss"] for entry in history if "eval_loss" in entry]
