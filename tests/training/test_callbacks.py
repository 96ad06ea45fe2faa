"""A slice stops in time; a run stops if it no longer improves."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from ras_flow.training.callbacks import callbacks, stale


@pytest.mark.parametrize(
    ("left", "longest", "step", "stops"),
    [(30, 1, 5, False), (30, 60, 5, True), (-1, 0, 5, True), (-1, 0, 11, False)],
)
def test_a_slice_stops_before_a_step_that_may_be_too_long(
    left: float, longest: float, step: int, stops: bool
) -> None:
    told = callbacks(deadline=time.monotonic() + left, patience=0, log=lambda _: None)
    [stop] = [one for one in told if type(one).__name__ == "Stop"]
    args, control = SimpleNamespace(device="cpu"), SimpleNamespace(should_training_stop=False)
    stop.on_train_begin(args, None, control)
    stop.longest = longest
    stop.on_step_end(args, SimpleNamespace(global_step=step, max_steps=11), control)
    assert control.should_training_stop is stops
    assert stops is getattr(control, "should_save", False)


def test_patience_counts_from_the_lowest_loss() -> None:
    history = [{"eval_loss": 3.0}, {"loss": 0.0}, {"eval_loss": 1.0}, {"eval_loss": 2.0}]
    assert (stale(history), stale(history[:3]), stale([])) == (1, 0, 0)
