"""kill -9 in every node: the run resumes, and no finished model call is made again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

NODES = ["start", "plan", "retrieve", "to_triples", "merge_graph", "encode", "answer"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.runs.killed", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
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
    assert died.returncode == -signal.SIGKILL, died.stderr
    before = log.read_text() if log.exists() else ""
    resumed = run(str(tmp_path), str(log), "run1")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == "Narvik"
    calls = log.read_text().splitlines()
    assert len(calls) == len(set(calls)), f"repeated calls; before the kill:\n{before}"
    assert calls[-1] == "answer"


def test_a_finished_run_is_not_resumed(tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    run(str(tmp_path), str(log), "run1", "plan", "1")
    run(str(tmp_path), str(log), "run1")
    again = run(str(tmp_path), str(log), "run1")
    assert again.returncode != 0
    assert "is finished" in again.stderr


def test_an_unknown_run_is_named(tmp_path: Path) -> None:
    missing = run(str(tmp_path), str(tmp_path / "log"), "nope")
    assert missing.returncode != 0
    assert "no run 'nope'" in missing.stderr
