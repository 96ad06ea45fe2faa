"""kill -9 around a review: what is asked is not forgotten, what was answered is not asked again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.graph import killed_review


def step(*arguments: str) -> str:
    done = Command(*arguments, main=killed_review.run).wait()
    assert done.code == 0, done.err
    return done.out


def die(*arguments: str) -> None:
    done = Command(*arguments, main=killed_review.run).wait()
    assert done.code == -signal.SIGKILL, done.err


@pytest.mark.parametrize(
    ("moment", "looked_at"), [("event", True), ("waiting", True), ("event", False)]
)
def test_killed_while_it_waits(tmp_path: Path, moment: str, looked_at: bool) -> None:
    home = str(tmp_path)
    die(home, "ask", moment)
    if looked_at:
        assert step(home, "go") == "before_answer"
    assert step(home, "answer") == "elsewhere"


def test_killed_before_an_answer_was_taken_in(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert step(home, "ask") == "before_answer"
    die(home, "answer", "review_answer")
    assert step(home, "answer") == "elsewhere"


def test_killed_after_an_answer_was_taken_in(tmp_path: Path) -> None:
    home = str(tmp_path)
    assert step(home, "ask") == "before_answer"
    die(home, "answer", "answer")
    assert step(home, "go") == "elsewhere"
