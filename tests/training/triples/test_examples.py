from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.errors import InputError
from ras_flow.training.triples.examples import read_examples
from tests.training.triples.samples import rows, write_rows


def test_shared_format_gzipped(tmp_path: Path) -> None:
    first, second = read_examples(write_rows(tmp_path / "some.jsonl.gz", rows(2)))
    assert (first.source, first.title, first.id) == ("farms", "", "house-0")
    assert second.title == "Birch House 1"
    assert second.triples[0] == ("Birch House 1", "opened in", "Bergen")


@pytest.mark.parametrize(("text", "triples"), [("text", "triplet"), ("input", "output")])
def test_wikiofgraph_formats(tmp_path: Path, text: str, triples: str) -> None:
    written = "(S> Ann (poet)| P> Born in| O> Oslo), (S> Ann (poet)| P> Wrote| O> Tide)"
    row = {text: "Ann wrote Tide.", triples: written}
    (example,) = read_examples(write_rows(tmp_path / "wikiofgraph_train.jsonl", [row]))
    assert example.source == "wikiofgraph_train"
    assert example.triples == (("Ann (poet)", "Born in", "Oslo"), ("Ann (poet)", "Wrote", "Tide"))


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ({"triples": [["a", "b", "c"]]}, ":2:text"),
        ({"text": "x", "triples": [["a", "b"]]}, ":2:triples[0]"),
        ({"text": "x", "triples": "a"}, ":2:triples"),
        ({"text": "x"}, ":2:triples"),
        ({"text": "x", "triplet": "(S> a| P> b| O> c), (S> broken| P> x)"}, ":2:triplet"),
    ],
)
def test_malformed_rows_name_file_line_and_field(
    tmp_path: Path, row: dict[str, object], where: str
) -> None:
    file = write_rows(tmp_path / "bad.jsonl", [*rows(1), row])
    with pytest.raises(InputError) as raised:
        list(read_examples(file))
    assert f"bad.jsonl{where}" in str(raised.value)
