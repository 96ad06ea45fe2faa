"""kill -9 in every node: the run resumes, and no finished model call is made again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.command import Command, Done
from tests.runs import killed

NODES = ["start", "plan", "retrieve", "to_triples", "merge_graph", "encode", "answer"]


def run(*arguments: str) -> Done:
    return Command(*arguments, main=killed.run).wait()


@pytest.mark.parametrize(
    ("node", "nth"),
    [
        *((node, "1") for node in NODES),
        *((node, "2") for node in NODES[1:-1]),
        ("Mira Lund", "1"),
    ],
)
def test_a_killed_run_resumes_without_repeating_a_finished_call(
    node: str, nth: str, tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    died = run(str(tmp_path), str(log), "run1", node, nth)
    assert died.code == -signal.SIGKILL, died.err
    before = log.read_text() if log.exists() else ""
    resumed = run(str(tmp_path), str(log), "run1")
    assert resumed.code == 0, resumed.err
    assert resumed.out == "Narvik"
    calls = log.read_text().splitlines()
    assert len(calls) == len(set(calls)), f"repeated calls; before the kill:\n{before}"
    assert calls[-1] == "answer"
