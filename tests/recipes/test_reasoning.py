"""What the hop reader learnt from, as the sentences of a trained IRCoT."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest

import recipes.labels
from ras_flow.evaluation.systems.replies import first_sentence, parse_conclusion
from ras_flow.formats.hop_view import AGAIN, LAST
from recipes.__main__ import label_rows
from recipes.labels.reasoning import reasoned
from recipes.t2rag.convert import TextRow

FIRST = """Question: Where was the maker of Salt Road born?
1 [Salt Road] Salt Road is a film by T. Veland.
2 [Prices] Film | Price
  Salt Road | 9"""
SECOND = """Question: Where was the maker of Salt Road born?
Salt Road | director | T. Veland [1]
Search: Where was T. Veland born?
3 [T. Veland] T. Veland was born in Molde."""
LAST_ONE = f"""Question: Where was the maker of Salt Road born?
Salt Road | director | T. Veland [1]
Search: Where was T. Veland born?
(nothing noted)
{AGAIN}1 [Salt Road] Salt Road is a film by T. Veland.
{LAST}"""
PASSAGES = "[Salt Road] Salt Road is a film by T. Veland.\n[Prices] Film | Price\nSalt Road | 9\n"
ASKED = "Question: Where was the maker of Salt Road born?\nReasoning:"
SEARCH = "Where was T. Veland born?"


def row(shown: str, reply: str) -> TextRow:
    return {
        "id": "w/1",
        "source": "w",
        "split": "train",
        "task": "hop",
        "input": shown,
        "output": reply,
    }


ROWS = [
    row(SECOND, "T. Veland | place of birth | Molde [3]\n[ANSWER] Molde [1, 3]"),
    row(FIRST, "Salt Road | director | T. Veland [1]\n[SUBQ] Where was T. Veland born?"),
]


def test_a_run_becomes_a_reasoning_over_all_that_it_read() -> None:
    made = {one["input"]: one["output"] for one in reasoned(ROWS)}
    end = "So the answer is: Molde"
    seen = f"{PASSAGES}[T. Veland] T. Veland was born in Molde.\n{ASKED} {SEARCH}"
    assert made == {f"{PASSAGES}{ASKED}": SEARCH, seen: end}
    assert first_sentence(SEARCH) == SEARCH, "the next search is the whole sentence"
    assert parse_conclusion(end) == "Molde"


@pytest.mark.parametrize("shown", [SECOND, LAST_ONE])
def test_a_reply_whose_run_is_not_known_from_its_beginning_is_left_out(shown: str) -> None:
    assert not list(reasoned([row(shown, "[ANSWER] Molde [3]")]))
    other = row(FIRST, "[SUBQ] Who made Salt Road?")
    assert len(list(reasoned([row(shown, "[ANSWER] Molde [3]"), other]))) == 1


def test_two_searches_are_one_sentence() -> None:
    [made] = reasoned([row(FIRST, "[SUBQ] Who made it?\n[SUBQ] Who paid?")])
    assert made["output"] == "Who made it and Who paid?" == first_sentence(made["output"])


def test_the_command_writes_labelled_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = tmp_path / "hops.jsonl.gz"
    with gzip.open(labels, "wt") as file:
        for one in ROWS:
            key = sha256(one["input"].encode()).hexdigest()[:16]
            file.write(json.dumps({"key": key, "reply": one["output"]}) + "\n")
    read, kept = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    read.write_text("".join(json.dumps({**one, "output": "[SUBQ] ?"}) + "\n" for one in ROWS))
    monkeypatch.setattr(recipes.labels.LabelledReplies.__init__, "__defaults__", (labels,))
    for reasoning, first in ((False, ROWS[1]["output"]), (True, SEARCH)):
        label_rows([read], kept, reasoning=reasoning)
        outputs = [json.loads(line)["output"] for line in kept.read_text().splitlines()]
        assert len(outputs) == 2 and first in outputs
