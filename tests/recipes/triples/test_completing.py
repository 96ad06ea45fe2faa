"""Completed labels: held-out titles stay out, no fact is missing, nothing is extracted twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from ras_flow.datasets.facts import FactPassage, holds
from ras_flow.errors import InputError, ModelResponseError
from ras_flow.formats.normalize import normalize_name
from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.training.triples.examples import read_examples
from recipes.graph_llm.config import load_config
from recipes.triples.cleaning import clean
from recipes.triples.completing import COMPLETED, WHOLE, complete, completed, facts_of_mix
from tests.training.triples.samples import Worker, write_rows

SALT_ROAD = "Salt Road is a drama film directed by Aino Laine in 1952."
AINO = "Aino Laine was born in Oulu and died in Turku."
LEDA = "Leda Koskinen was born in Vaasa."


def stated(title: str, text: str, *facts: tuple[str, str, str]) -> FactPassage:
    passage = make_passage(title, text)
    return FactPassage(passage, facts)


def asked(question: str, *facts: list[str], **texts: str) -> dict[str, Any]:
    """A question in 2Wiki's form, with the documents that it rests on."""
    docs = {name.replace("_", " "): text for name, text in texts.items()}
    if "Salt Road" in docs:
        docs["Salt Road (film)"] = docs.pop("Salt Road")
    return {
        "id": question,
        "question": question,
        "answer": facts[-1][2],
        "support": [[title, 0] for title in docs],
        "triples": facts,
        "docs": [{"title": title, "sents": [text]} for title, text in docs.items()],
    }


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    made, born = ["Salt Road", "director", "Aino Laine"], ["Aino Laine", "born in", "Oulu"]
    rows = [
        asked("Where was Leda Koskinen born?", ["Leda Koskinen", "place of birth", "Vaasa"],
              Leda_Koskinen=LEDA),
        asked("Where was the director of Salt Road born?", made, born,
              Salt_Road=SALT_ROAD, Aino_Laine=AINO),
        asked("Where did Aino Laine die?", ["Aino Laine", "died in", "Turku"], Aino_Laine=AINO),
        asked("Where is Oulu?", ["Oulu", "country", "Finland"], Oulu="A."),
    ]  # fmt: skip
    write_rows(tmp_path / "questions.jsonl", rows)
    text = 'seed = 5\ndev = 0\ntest = 0\n[[source]]\nfile = "questions.jsonl"\n'
    (tmp_path / "mix.toml").write_text(text)
    return tmp_path / "mix.toml"


@pytest.fixture
def found(mix: Path) -> list[FactPassage]:
    return facts_of_mix(load_config(mix))


def test_facts_are_found_in_the_pages_that_state_them(found: list[FactPassage], mix: Path) -> None:
    facts = {one.passage["title"]: one.facts for one in found}
    assert facts.keys() == {"Salt Road (film)", "Aino Laine", "Leda Koskinen"}
    assert facts["Salt Road (film)"] == (("Salt Road", "director", "Aino Laine"),)
    assert {fact[2] for fact in facts["Aino Laine"]} == {"Oulu", "Turku"}
    mix.write_text(mix.read_text().replace("test = 0", "test = 0.99"))
    with pytest.raises(InputError, match="training"):
        facts_of_mix(load_config(mix))


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
    town = "Vaasa" if "Leda" in passage["title"] else "Oulu\ud800"
    return Extraction([(passage["title"], "was born in", town)], [], None, 1, 1)


async def test_a_file_to_train_on_is_written(found: list[FactPassage], tmp_path: Path) -> None:
    out, store = tmp_path / "completed.jsonl", InMemoryStore()
    with pytest.raises(KeyboardInterrupt):
        await complete(found, Worker(born, calls=0), out, store=store)
    assert not out.exists()
    examples = await complete(found, Worker(born), out, store=store)
    assert {example.title for example in examples} == {"Aino Laine", "Leda Koskinen"}
    assert list(read_examples(out)) == examples
    assert {one.title: one.source for one in examples} == {
        "Aino Laine": COMPLETED,
        "Leda Koskinen": WHOLE,
    }
    again = Worker(born)
    assert await complete(found, again, out, store=store) == examples
    assert again.asked == [SALT_ROAD], "only what failed"
    [aino] = [one for one in clean(read_examples(out)) if one.title == "Aino Laine"]
    first, died = aino.triples
    assert (first[2], died) == ("Oulu", ("Aino Laine", "died in", "Turku"))


async def test_passages_that_fail_are_told_and_the_file_of_before_kept(
    found: list[FactPassage], tmp_path: Path
) -> None:
    out, told = tmp_path / "completed.jsonl", list[str]()
    [film] = [one for one in found if "Salt" in one.passage["title"]]
    others = [one for one in found if one is not film]
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
