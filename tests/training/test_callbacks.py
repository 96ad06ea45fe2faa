"""A slice stops in time; a run stops if it no longer improves."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from ras_flow.training.callbacks import callbacks, stale


@pytest.mark.parametrize(
    ("step", "left", "longest", "measuring", "stops"),
    [
        (4, 30, 1, 60, False),
        (4, 30, 60, 0, True),
        (5, 30, 1, 60, True),  # Step 6 is measured.
        (5, 90, 1, 60, False),
        (6, 30, 1, 60, True),  # This step is.
        (10, 30, 1, 60, True),  # So is the last one.
        (11, -1, 1, 60, False),
    ],
)
def test_a_slice_stops_before_what_may_be_too_long(
    step: int, left: float, longest: float, measuring: float, stops: bool
) -> None:
    told = callbacks(deadline=time.monotonic() + left, patience=0, log=lambda _: None)
    [stop] = [one for one in told if type(one).__name__ == "Stop"]
    args = SimpleNamespace(device="cpu")
    control = SimpleNamespace(should_training_stop=False, should_evaluate=step % 3 == 0)
    history = [{"loss": 1.0}, {"eval_runtime": measuring}]
    state = SimpleNamespace(global_step=step, max_steps=11, eval_steps=3, log_history=history)
    stop.on_train_begin(args, None, control)
    stop.longest = longest
    stop.on_step_end(args, state, control)
    assert control.should_training_stop is stops
    assert stops is getattr(control, "should_save", False)


def test_patience_counts_from_the_lowest_loss() -> None:
    history = [{"eval_loss": 3.0}, {"loss": 0.0}, {"eval_loss": 1.0}, {"eval_loss": 2.0}]
    assert (stale(history), stale(history[:3]), stale([])) == (1, 0, 0)
