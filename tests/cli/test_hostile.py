"""Text of documents, models and servers is shown as text: it never drives the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ras_flow.formats.text import plain
from tests.cli.command import ras_flow
from tests.cli.model import QUESTION, Model
from tests.servers import Answer

EVIL = (
    "[bold red]alarm[/bold red] [link=http://evil.example]x[/link] \x1b[31mred\x1b[0m "
    "\x1b]0;title\x07 \x1b]8;;http://evil.example\x1b\\go\x1b]8;;\x1b\\ \u202eabc\u202c "
    "\u2066x\u2069 \x9b31m bell\x07 back\x08 return\rover \u2028line"
)
OUR_CODES = re.compile(r"\x1b\[(?:[\d;]*m|\?25[hl]|1A|2K)")
"""What rich writes for colours, and for a line that is shown while something is awaited."""
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(model: Model, docs: Path) -> Path:
    (docs / "Aurora Bridge.txt").write_text(f"Aurora Bridge {EVIL} NUL \0 {'long ' * 5000}")
    (docs / "evil.jsonl").write_text(
        json.dumps({"title": f"Aurora Bridge {EVIL}", "text": f"The designer {EVIL} of a bridge"})
    )
    subqueries = [f"[SUBQ] Where {EVIL}?", f"{EVIL} no label", f"[SUBQ] Where else {EVIL}?"]

    def answers(role: str, text: str) -> Answer:
        if role == "planner":
            return Answer("[SUBQ] x" if "[SUBQ]" not in text else subqueries.pop(0))
        if role == "extractor":
            return Answer(f"(S> {EVIL}| P> is {EVIL}| O> designer {EVIL})")
        return Answer(f"designer {EVIL}")

    model.answers = answers
    return docs


def lines_of(output: str) -> list[str]:
    return output.replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_is_shown_as_text(model: Model, hostile: Path, terminal: bool) -> None:
    arguments = ["ask", f"Who {EVIL}?", "--docs", str(hostile), "--max-hops", "3", *model.options]
    done = ras_flow(*arguments, terminal=terminal)
    assert done.code == 0, done.err
    for part in ["Hop 1", "[bold red]alarm[/bold red]", "Answer"]:
        assert part in done.out
    coloured = re.search(r"\x1b\[1;3[23]mAnswer", done.out) is not None
    assert coloured == terminal, "colours are for a terminal"
    run = json.loads(ras_flow("runs", "list", "--json").out)[0]["run"]
    shown = ras_flow("runs", "show", run, terminal=terminal)
    listed = ras_flow("runs", "list", terminal=terminal)
    for output in (done, shown, listed):
        for line in lines_of(output.out + output.err):
            # On a terminal, a carriage return ends the line that is shown while one waits.
            own = OUR_CODES.sub("", line).replace("\r", "") if terminal else line
            assert not FORBIDDEN.search(own), repr(line)
        assert "\x1b]" not in output.out and "\x1b[31mred" not in output.out
    assert max(map(len, lines_of(done.out))) < 1500


def test_hostile_errors_are_shown_as_text(model: Model, docs: Path) -> None:
    model.answers = lambda role, text: Answer(status=400, error=EVIL)
    done = ras_flow("ask", QUESTION, "--docs", str(docs), *model.options)
    [line] = done.err.splitlines()
    assert done.code == 1 and "[bold red]alarm" in line and not FORBIDDEN.search(line)


def test_text_that_no_encoding_holds_does_not_end_the_run(model: Model, docs: Path) -> None:
    lone = "\ud83d\0"
    texts = {"planner": f"[SUBQ] {lone}", "extractor": f"(S> {lone}| P> b| O> {lone}c)"}
    model.answers = lambda role, text: Answer(texts.get(role, f"yes {lone}"))
    arguments = ["ask", QUESTION, "--docs", str(docs), "--max-hops", "1", *model.options]
    done = ras_flow(*arguments)
    assert done.code == 0, done.err
    assert "yes" in done.out
    assert json.loads(ras_flow(*arguments, "--json").out)["answer"].startswith("yes")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u202eb\u2066c\ufeffd\u200ee", "abcde"),
        ("one\n two\tthree\u2029four", "one two three four"),
        ("\x1b[2Jx\x00y\x7fz\x85", "[2Jxyz"),
    ],
)
def test_plain_text_keeps_its_letters_alone(text: str, shown: str) -> None:
    assert plain(text) == shown
