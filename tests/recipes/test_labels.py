"""Labels meet their texts by checksums; what is kept of them can be read."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ras_flow.datasets.reading import read_rows
from ras_flow.errors import InputError
from ras_flow.formats.hop_reply import parse_hop_reply
from ras_flow.formats.hop_view import LAST
from ras_flow.state.schema import passage_id
from ras_flow.training.triples.examples import read_examples
from recipes.graph_llm.config import load_config
from recipes.labels import (
    HOPS,
    INVENTED,
    TRIPLES,
    LabelledReplies,
    labelled_passages,
    labelled_rows,
)
from recipes.triples.support import supported
from tests.recipes.graph_llm.test_playing import write_mix


def kept(path: Path, *rows: dict[str, Any]) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


async def test_a_row_learns_the_label_of_what_it_shows(tmp_path: Path) -> None:
    shown = "Question: Who made it?\n1 [Salt Road] Made by Aino Laine."
    row = {"task": "hop", "input": shown, "output": "[SUBQ] What?", "split": "train"}
    key = sha256(shown.encode()).hexdigest()[:16]
    labels = LabelledReplies(kept(tmp_path / "l.jsonl.gz", {"key": key, "reply": "[ANSWER] Aino"}))
    [learnt] = labelled_rows([row, {**row, "input": f"{shown}\n{LAST}"}], labels)
    assert (learnt["input"], learnt["output"]) == (shown, "[ANSWER] Aino")
    said = [{"role": "system", "content": "Note."}, {"role": "user", "content": shown}]
    other = [{"role": "user", "content": "Question: Who?"}]
    replies = await labels.generate([said, other], max_new_tokens=9)
    assert [reply.text for reply in replies] == ["[ANSWER] Aino", ""]


def test_triples_meet_the_pages_of_a_mix(tmp_path: Path) -> None:
    mix = load_config(write_mix(tmp_path))
    page = {"title": "Ti' Punch", "paragraph": "Ti ' Punch is made of rum ."}
    paragraphs = kept(tmp_path / "qed.jsonl.gz", page)
    key = passage_id("Ti' Punch", "Ti ' Punch is made of rum.")
    triples = [["Ti' Punch", "made of", "rum"]]
    labels = kept(tmp_path / "l.jsonl.gz", {"key": key, "triples": triples})
    [example] = labelled_passages([mix], paragraphs, labels)
    assert example.triples == (("Ti' Punch", "made of", "rum"),)
    with pytest.raises(InputError, match="has a label"):
        labelled_passages([mix], None, labels)


def test_every_reply_ends_with_a_step_and_every_passage_has_triples() -> None:
    for row in read_rows(HOPS):
        assert parse_hop_reply(row.text("reply")).label, row.where
    assert all(row.triples("triples") for row in read_rows(TRIPLES))


def test_what_is_invented_states_its_triples() -> None:
    for example in read_examples(INVENTED):
        text = f"{example.title} {example.text}"
        assert example.triples
        for subject, _, object in example.triples:
            assert supported(subject, text) == 1, (example.id, subject)
            assert supported(object, text) >= 0.5, (example.id, object)
