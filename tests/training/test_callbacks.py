"""A slice stops in time, also for a measurement that is due."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ras_flow.training.callbacks import callbacks

HISTORY: list[dict[str, Any]] = [
    {"step": 3, "eval_loss": 1.0, "eval_runtime": 2.0},
    {"step": 3, "answer_f1": 0.5, "measured_seconds": 60.0},
]


@pytest.mark.parametrize(
    ("step", "left", "history", "stops"),
    [
        (4, 30.0, HISTORY, False),
        (5, 30.0, HISTORY, True),  # Step 6 is measured.
        (5, 90.0, HISTORY, False),
        (5, 30.0, [], False),  # It cannot know.
        (6, 90.0, HISTORY, False),
        (6, 30.0, HISTORY, True),  # After this measurement.
        (10, 90.0, HISTORY, True),  # The last step is measured, too, and what is kept in the end.
        (10, 150.0, HISTORY, False),
    ],
)
def test_a_measurement_that_is_due_is_reckoned_with(
    step: int, left: float, history: list[dict[str, Any]], stops: bool
) -> None:
    told = callbacks(deadline=time.monotonic() + left, patience=0, log=lambda _: None)
    [stop] = [one for one in told if type(one).__name__ == "Stop"]
    args = SimpleNamespace(eval_strategy="steps", device="cpu")
    state = SimpleNamespace(global_step=step, max_steps=11, eval_steps=3, log_history=history)
    control = SimpleNamespace(
        should_evaluate=step % 3 == 0, should_save=False, should_training_stop=False
    )
    stop.on_step_end(args, state, control)
    assert control.should_training_stop is stops
    assert control.should_save is (stops or step in (5, 10))
