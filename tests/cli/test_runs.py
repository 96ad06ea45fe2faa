"""Runs that fail, are killed or interrupted: told in one line, and finished without repetition."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command, Done, ras_flow
from tests.cli.model import QUESTION, SECOND, Model
from tests.servers import Answer

BORN = SECOND.removeprefix("[SUBQ] ")


def only_run() -> str:
    [run] = json.loads(ras_flow("runs", "list", "--json").out)
    return str(run["run"])


def way(run: str) -> dict[str, Any]:
    """Return the newest branch of a run."""
    document = json.loads(ras_flow("runs", "show", run, "--json").out)
    assert document["run"] == run
    return dict(document["branches"][document["current"] - 1])


def resumed(model: Model, *more: str) -> Done:
    """Resume the only run; no request that was answered may be sent again."""
    model.release()
    done = ras_flow("runs", "resume", only_run(), *more)
    assert done.code == 0, done.err
    assert len(model.answered) == len(set(model.answered)), "an answered request was sent again"
    return done


def test_runs_are_listed_and_shown(model: Model, docs: Path) -> None:
    assert "No runs yet" in ras_flow("runs", "list").out
    asked = ras_flow("ask", QUESTION, "--docs", str(docs), *model.options)
    run = only_run()
    assert asked.out.startswith(f"run {run}\n")
    listed = ras_flow("runs", "list").out
    assert run in listed and "sufficient" in listed and "Narvik" in listed
    shown = ras_flow("runs", "show", run).out.splitlines()
    told = asked.out.splitlines()
    assert shown[0].startswith(f"run {run}") and shown[1] == told[1] == f"Question {QUESTION}"
    # How it ended is told alike.
    end = max(i for i, line in enumerate(told) if line.startswith("Answer"))
    assert shown[-len(told[end:]) :] == told[end:]
    assert way(run)["answer"] == "Narvik"
    again = ras_flow("runs", "resume", run)
    assert (again.code, again.out) == (1, "") and f"Run {run} is finished" in again.err


@pytest.mark.parametrize("as_json", [False, True])
def test_a_failed_run_says_in_one_line_how_to_go_on(
    as_json: bool, model: Model, docs: Path
) -> None:
    model.answers = lambda role, text: Answer(status=500, error="\x1b[31mout of\nmemory")
    arguments = ["ask", QUESTION, "--docs", str(docs), "--set", "max_retries=0", *model.options]
    failed = ras_flow(*arguments, *["--json"] * as_json)
    run = only_run()
    assert failed.code == 1
    [line] = failed.err.splitlines()
    assert line.startswith("ras-flow: No usable answer from the model 'test' at 127.0.0.1")
    assert "out of memory" in line and "\x1b" not in line
    assert "During task" not in line
    assert line.endswith(f" memory. Go on with: ras-flow runs resume {run}")
    assert (failed.out == "") == as_json
    assert "unfinished" in ras_flow("runs", "list").out
    shown = ras_flow("runs", "show", run).out
    assert QUESTION in shown
    assert f"Unfinished; next: plan. Go on with: ras-flow runs resume {run}" in shown

    again = ras_flow("runs", "resume", run)
    assert (again.code, again.err.splitlines()[-1]) == (1, line)
    model.answers = lambda role, text: None
    done = resumed(model, *["--json"] * as_json)
    assert "Narvik" in done.out
    assert way(run)["answer"] == "Narvik"


def kept_extractions(home: Path) -> int:
    with sqlite3.connect(f"file:{home / 'store.sqlite'}?mode=ro", uri=True) as store:
        return int(store.execute("SELECT count(*) FROM store").fetchone()[0])


WHERE = {
    "first plan": (lambda role, text: role == "planner", 0),
    "an extraction": (lambda role, text: text.startswith("Title: Aurora Bridge"), 1),
    "second plan": (lambda role, text: role == "planner" and text.count("[SUBQ]") == 1, 2),
    "last plan": (lambda role, text: role == "planner" and text.count("[SUBQ]") == 2, 2),
    "answer": (lambda role, text: role == "answerer", 2),
}
"""The request that never gets its answer, and the extractions that are kept by then."""


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("first plan", signal.SIGINT),
        ("an extraction", signal.SIGKILL),
        ("second plan", signal.SIGKILL),
        ("last plan", signal.SIGINT),
        ("answer", signal.SIGINT),
    ],
)
def test_a_run_that_dies_while_a_model_works_is_finished_without_repetition(
    where: str, how: signal.Signals, model: Model, docs: Path, own_home: Path
) -> None:
    model.hang, kept = WHERE[where]
    asking = Command("ask", QUESTION, "--docs", str(docs), "--top-k", "2", *model.options)
    asking.until(model.hanging.is_set)
    asking.until(lambda: kept_extractions(own_home) >= kept)
    began = time.monotonic()
    asking.send(how)
    died = asking.wait()
    run = only_run()
    if how == signal.SIGKILL:
        assert died.code == -signal.SIGKILL
    else:
        assert died.code == 130
        assert time.monotonic() - began < 20
        assert died.err == (f"ras-flow: interrupted. Go on with: ras-flow runs resume {run}\n")
    shown = ras_flow("runs", "show", run)
    assert shown.code == 0 and "Unfinished" in shown.out and "Answer" not in shown.out
    assert ("merge_graph" in shown.out) == (where not in ("first plan", "an extraction"))

    done = resumed(model)
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "Answer Narvik" in lines
    # The story before the end is told too, so that citations can be read.
    assert f"Question {QUESTION}" in lines and f"[SUBQ] {BORN}" in "\n".join(lines)
    assert "cites Mira Lund | place of birth | Narvik [Mira Lund]" in lines
    result = way(run)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")
    assert len(model.answered) == 6


def test_an_interrupt_leaves_the_terminal_tidy(model: Model, docs: Path) -> None:
    model.hang = lambda role, text: role == "planner"
    asking = Command("ask", QUESTION, "--docs", str(docs), *model.options, terminal=True)
    asking.until(model.hanging.is_set)
    asking.until(lambda: b"planning" in asking.out.read_bytes())
    asking.send(signal.SIGINT)
    died = asking.wait()
    assert died.code == 130
    assert "interrupted. Go on with: ras-flow runs resume" in died.out
    assert died.out.rindex("\x1b[?25h") > died.out.rindex("\x1b[?25l"), "the cursor stays hidden"
