"""Passages whose title a query names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ras_flow.documents import SourceDocument
from ras_flow.indexes import BM25Retriever, CorpusIndex
from ras_flow.indexes.titles import named_first
from ras_flow.parts import Retriever, ScoredPassage
from ras_flow.state.schema import Passage, passage_id
from tests.indexes.helpers import titles

PEOPLE = [(f"Person {number}", "When was the director born?") for number in range(9)]
OTHERS = [(f"Place {number}", f"The town has {number} mills.") for number in range(90)]
FILM = ("The Ritz (film)", "A comedy that Richard Lester made in 1976 after a play. " * 5)
RIVER = ("川", "人口は多い。人口、人口の。")
CAPITAL = ("東京", "日本の首都。" + "大きな町である。" * 9)
QUESTION = "When was the director of The Ritz (film) born?"


def documents(*pairs: tuple[str, str]) -> list[SourceDocument]:
    return [
        SourceDocument(source=str(number), title=title, text=text)
        for number, (title, text) in enumerate(pairs)
    ]


async def both(folder: Path, *pairs: tuple[str, str]) -> list[Retriever]:
    """The same passages in memory and on disk."""
    await CorpusIndex.build(folder, documents(*pairs), encoder=None)
    memory = BM25Retriever.from_documents([{"title": title, "text": text} for title, text in pairs])
    return [memory, CorpusIndex.open(folder).retriever("bm25")]


async def test_the_page_that_a_question_names_comes_before_those_that_share_its_words(
    tmp_path: Path,
) -> None:
    for retriever in await both(tmp_path / "index", *PEOPLE, FILM, *OTHERS, RIVER, CAPITAL):
        for question in (QUESTION, QUESTION.replace(" (film)", "")):
            assert (await titles(retriever, question))[0] == "The Ritz (film)"
        assert (await titles(retriever, "東京の人口"))[0] == "東京"


async def test_the_end_of_a_long_page_comes_before_pages_that_mention_it(tmp_path: Path) -> None:
    born = "Lina Vorsk was born in Bergen and wrote operas, songs and music for films. "
    work = "Her operas were given in every town, and some are still sung at fairs. "
    died = "In her last years she lived quietly. She died in Tromsø after a long illness. "
    page = ("Lina Vorsk", born * 7 + work * 7 + died * 7)
    songs = [(f"Song {n}", "A song of Lina Vorsk, who did not like it.") for n in range(3)]
    for retriever in await both(tmp_path / "index", page, *songs, *OTHERS):
        [found] = await retriever.retrieve(["Of what illness did Lina Vorsk die?"], 2)
        assert "Tromsø" in "".join(one.passage["text"] for one in found)


def scored(*pairs: tuple[str, float]) -> list[ScoredPassage]:
    return [
        ScoredPassage(Passage(id=passage_id(title, str(at)), title=title, text=str(at)), score)
        for at, (title, score) in enumerate(pairs)
    ]


def order(found: Sequence[ScoredPassage]) -> list[tuple[str, float]]:
    return [(one.passage["title"], one.score) for one in found]


def test_what_is_added_is_the_rarity_of_the_titles_words() -> None:
    found = scored(
        *(("", 9), ("(film)", 8), ("Ada Byron", 7), ("Ada", 6)),
        *(("Ada", 5), ("Ada (ship)", 4), ("Ada " * 60, 3)),
    )
    named = named_first(found, ["who", "is", "ada"], lambda terms: 10.0 * len(terms))
    assert order(named) == [
        *(("Ada", 16), ("Ada (ship)", 14), ("Ada", 10), ("", 9)),
        *(("(film)", 8), ("Ada Byron", 7), ("Ada " * 60, 3)),
    ]
    assert order(named_first(scored(("Ada", 8)), ["ada"], lambda _: 5.0)) == [("Ada", 13)]


def test_each_heading_above_a_passage_counts_most_for_the_best_passage_under_it() -> None:
    pump, other = "Handbook › Pumps › PX-9", "Handbook › Pumps › PX-5"
    found = scored((other, 5), (pump, 4), ("Handbook › PX-9", 1))
    named = named_first(found, ["handbook", "px", "9"], lambda terms: 10.0)
    assert order(named) == [(pump, 19), (other, 15), ("Handbook › PX-9", 11)]


@given(
    st.lists(st.tuples(st.text("ab (Ω東", max_size=6), st.floats(0.5, 9)), max_size=12).map(
        lambda pairs: sorted(pairs, key=lambda pair: -pair[1])
    ),
    st.lists(st.sampled_from(["a", "b", "ab", "ω", "東"]), max_size=4),
)
def test_nothing_is_lost_or_lowered(pairs: list[tuple[str, float]], query: list[str]) -> None:
    found = scored(*pairs)
    named = named_first(found, query, lambda terms: float(len(terms)))
    before = {passage["id"]: score for passage, score in found}
    after = {passage["id"]: score for passage, score in named}
    assert before.keys() == after.keys()
    assert all(after[id] >= before[id] for id in before)
    assert [score for _, score in named] == sorted(after.values(), reverse=True)
    if not query:
        assert named == found
