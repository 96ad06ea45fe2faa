"""Completed labels: held-out titles stay out, no fact is missing, nothing is extracted twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from ras_flow.datasets.facts import FactPassage, holds
from ras_flow.errors import ModelResponseError
from ras_flow.formats.normalize import normalize_name
from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.training.triples.examples import read_examples
from recipes.triples.cleaning import clean
from recipes.triples.completing import complete, completed, facts_of_corpus
from tests.training.triples.samples import Worker, write_rows

SALT_ROAD = "Salt Road is a drama film directed by Aino Laine in 1952."
AINO = "Aino Laine was born in Oulu and died in Turku."
LEDA = "Leda Koskinen was born in Vaasa."


def stated(title: str, text: str, *facts: tuple[str, str, str]) -> FactPassage:
    passage = make_passage(title, text)
    return FactPassage(passage, facts)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    texts = {"Salt Road (film)": SALT_ROAD, "Aino Laine": AINO, "Leda Koskinen": LEDA, "Oulu": "A."}
    rows = [{"title": title, "text": text} for title, text in texts.items()]
    return write_rows(tmp_path / "corpus.jsonl.gz", rows)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    film = {
        "support": [["Salt Road", 0], ["Aino Laine", 0]],
        "triples": [["Salt Road", "director", "Aino Laine"], ["Aino Laine", "born in", "Oulu"]],
        "measured": False,
    }
    leda = {
        "support": [["Leda Koskinen", 0]],
        "triples": [["Leda Koskinen", "place of birth", "Vaasa"]],
        "measured": True,
    }
    unstated = {
        "support": [["Oulu", 0]],
        "triples": [["Oulu", "country", "Finland"], ["Aino Laine", "died in", "Turku"]],
        "measured": False,
    }
    return write_rows(tmp_path / "questions.jsonl", [film, leda, unstated, film])


def titles(found: Sequence[FactPassage]) -> list[str]:
    return [one.passage["title"] for one in found]


def test_facts_are_found_in_the_passages_that_state_them(corpus: Path, questions: Path) -> None:
    found = facts_of_corpus(corpus, questions)
    assert titles(found) == ["Salt Road (film)", "Aino Laine", "Leda Koskinen"]
    assert found[0].facts == (("Salt Road", "director", "Aino Laine"),)
    assert [fact[2] for fact in found[1].facts] == ["Oulu", "Turku"]


NAME = st.sampled_from(["Aino Laine", "Oulu", "Turku", "AINO LAINE", "was", "a director"])


@given(st.lists(st.tuples(NAME, NAME, NAME)))
def test_no_fact_is_ever_missing_and_no_triple_is_there_twice(
    made: list[tuple[str, str, str]],
) -> None:
    one = stated("Aino Laine", AINO, ("Aino Laine", "place of birth", "Oulu"))
    triples = completed(one, made).triples
    assert holds(triples, one.facts[0])
    keys = [tuple(map(normalize_name, triple)) for triple in triples]
    assert len(keys) == len(set(keys))
    assert set(keys) >= {tuple(map(normalize_name, triple)) for triple in made}


def born(passage: Passage) -> Extraction:
    """Find where somebody was born, and fail on a film."""
    if "Salt" in passage["title"]:
        return Extraction([], [], "too long", 1, 1)
    return Extraction([(passage["title"], "was born in", "Oulu\ud800")], [], None, 1, 1)


async def test_a_file_to_train_on_is_written(corpus: Path, questions: Path, tmp_path: Path) -> None:
    found = facts_of_corpus(corpus, questions)
    out, store = tmp_path / "completed.jsonl", InMemoryStore()
    with pytest.raises(KeyboardInterrupt):
        await complete(found, Worker(born, calls=0), out, store=store)
    assert not out.exists()
    examples = await complete(found, Worker(born), out, store=store)
    assert [example.title for example in examples] == ["Aino Laine", "Leda Koskinen"]
    assert list(read_examples(out)) == examples
    again = Worker(born)
    assert await complete(found, again, out, store=store) == examples
    assert again.asked == [SALT_ROAD], "only what failed"
    first, died = clean(read_examples(out))[0].triples
    assert (first[2], died) == ("Oulu", ("Aino Laine", "died in", "Turku"))


async def test_passages_that_fail_are_told_and_the_file_of_before_kept(
    corpus: Path, questions: Path, tmp_path: Path
) -> None:
    out, told = tmp_path / "completed.jsonl", list[str]()
    film, *others = facts_of_corpus(corpus, questions)
    with pytest.raises(ModelResponseError, match="too long"):
        await complete([film], Worker(born), out)
    assert not out.exists()
    await complete([film, *others], Worker(born), out, log=told.append)
    assert "1 of 3" in told[-1] and "too long" in told[-1]
    before = out.read_bytes()
    with pytest.raises(ModelResponseError):
        await complete([film], Worker(born), out)
    assert out.read_bytes() == before
    made = await complete([film, *others], Worker(lambda _: Extraction([])), out)
    assert len(made) == 3
