"""T²RAG by the command line: clues and slots as they come, in stored runs, and in edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.cli.runs.edits import read_edits
from ras_flow.errors import InputError
from ras_flow.runs.systems import info_of
from tests.cli.command import Command
from tests.t2rag import scripted
from tests.t2rag.world import QUESTION

OPERATIONS = info_of("t2rag")["operations"]


def test_a_run_is_asked_shown_forked_and_compared(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        done = Command(*arguments, "--database", str(tmp_path / "home"), main=scripted.main).wait()
        assert done.code == 0, done.err
        return done.out

    ask = ("ask", QUESTION, "--system", "t2rag", "--index", "demo", "--top-k", "2")
    asked = run(*ask)
    assert "?director_a = Aino Laine" in asked and "Answer   Northern Light" in asked
    id = asked.split()[1]
    shown = run("runs", "show", id)
    assert "resolved in round 2: ?director_a | born in | ?birth_a → Aino Laine" in shown
    assert '"Aino Laine, born in 1931, was a Finnish director."' in shown
    forked = run("runs", "fork", id, "--from", "resolve:0", "--fill", "?director_a=Eva Lund")
    assert "Eva Lund born in" in forked and "Answer   Salt Road" in forked
    differs = run("runs", "diff", f"{id}/1", f"{id}/2")
    assert "+ ?birth_a = 1950" in differs and "- ?birth_a = 1931" in differs
    assert "+ resolved by a person: Northern Light" in differs


def test_a_systems_edits_are_options() -> None:
    words = ["--fill", "?d=Per=Holm", "--unfill=?d", "--add-clue", "a b | c | ?d"]
    assert read_edits(words, OPERATIONS) == [
        {"op": "fill", "slot": "?d", "value": "Per=Holm"},
        {"op": "unfill", "slot": "?d"},
        {"op": "add_clue", "subject": "a b", "predicate": "c", "object": "?d"},
    ]


@pytest.mark.parametrize(
    "words", [["--fill", "X"], ["--fills", "?d=X"], ["--add-clue", "a | b"], ["--choose"], ["x"]]
)
def test_other_options_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError):
        read_edits(words, OPERATIONS)
