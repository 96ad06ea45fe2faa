"""kill -9 in the middle of an evaluation: it goes on, and no finished model call is made again."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.command import Command, Done
from tests.evaluation.running import killed


def run(*arguments: str) -> Done:
    return Command(*arguments, main=killed.run).wait()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The calls of an evaluation that nobody kills."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run(str(folder), str(folder / "calls.log"))
    assert done.out == "15 rows", done.err
    return Counter((folder / "calls.log").read_text().splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "You answe In which town",
        "You find  In which country",
        "You read ",
        "plan 1 In which town",
        "extract Mira Lund",
        "answer Who designed",
    ],
)
def test_a_killed_evaluation_goes_on_without_repeating_a_finished_call(
    call: str, tmp_path: Path, undisturbed: Counter[str]
) -> None:
    log = tmp_path / "calls.log"
    died = run(str(tmp_path), str(log), call)
    assert died.code == -signal.SIGKILL, died.err
    before = log.read_text() if log.exists() else ""
    done = run(str(tmp_path), str(log))
    assert (done.code, done.out) == (0, "15 rows"), done.err
    calls = Counter(log.read_text().splitlines())
    assert calls == undisturbed, f"before the kill:\n{before}"
    paid = 0
    for system in killed.SYSTEMS:
        path = tmp_path / "out" / "predictions" / "small" / f"{system}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert [row["id"] for row in rows] == ["born", "country", "harbour"]
        assert not any(row["outcome"]["error"] for row in rows)
        for row in rows:
            use = row["outcome"]["usage"].get("extractor", {"input_tokens": 0})
            paid += use["input_tokens"] - row["saved_tokens"].get("extractor", [0])[0]
    extracted = [call for call in calls if call.startswith("'extract")]
    assert paid == 30 * len(extracted), "each passage is paid for by one of the rows"
