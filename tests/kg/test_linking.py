"""Which entities a question names, and how facts become pages."""

from __future__ import annotations

import asyncio

import pytest

from ras_flow.errors import IndexMismatchError, InputError
from ras_flow.kg.linking import find, link
from ras_flow.kg.source import GraphSource, open_source
from ras_flow.kg.store import KnowledgeGraph
from tests.indexes.helpers import WordEncoder
from tests.kg.test_store import made, write

LABELS = """\
Q1\tParis\tCity of Light
Q2\tParis
Q3\tFrance
Q4\tAlvar Aalto\tHugo Alvar Henrik Aalto
Q5\tThe Man Who Knew Too Much
Q6\tKnew
Q7\t東京
Q8\tyoga
"""
FACTS = [
    ("Q1", "capital of", "Q3"),
    ("Q1", "lies on", "Q10"),
    ("Q2", "town in", "Q11"),
    ("Q4", "visited", "Q1"),
    ("Q5", "about", "m.0k"),
    ("Q6", "is", '"Moscow"'),
    ("Q7", "in", "Q12"),
    ("Q8", "from", "Q13"),
    ("YOGA", "is", "Q14"),
    ("Q4", "in", "1956"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """A graph with homonyms, aliases and names in each other."""
    folder = tmp_path_factory.mktemp("kg")
    return made(folder, *FACTS, labels=[write(folder / "names.tsv", LABELS)])


@pytest.mark.parametrize(
    ("question", "ids", "by"),
    [
        ("Who directed The Man Who Knew Too Much?", ["Q5"], "name"),
        ("What is Paris's river?", ["Q1"], "name"),
        ("which river does paris lie on", ["Q1"], "name"),
        ("Did Aalto, Hugo Alvar Henrik Aalto, see France?", ["Q4", "Q3"], None),
        ("What did Alvar Alto visit?", ["Q4"], "similar"),
        ("東京はどこですか", ["Q7"], "name"),
        ("Where does yoga come from?", ["Q8"], "name"),
        ("Does Alvar Aalto do yoga?", ["Q4"], "name"),
        ("Is the city of light in Moscow?", ["Q1"], "alias"),
        ("What is m.0k?", [], None),
        ("Which town did Hugo Alvar Aalto see in 1956?", ["Q4"], "name"),
        ("What is YOGA's name?", ["YOGA"], "name"),
        ("Who was it?", [], None),
        ("", [], None),
    ],
)
def test_questions_are_linked(
    graph: KnowledgeGraph, question: str, ids: list[str], by: str | None
) -> None:
    entities = link(question, graph)
    assert [one["id"] for one in entities] == ids
    assert by is None or {one["by"] for one in entities} == {by}
    assert all(one["mention"] in question and 0 < one["score"] <= 1 for one in entities)


def test_names_and_ids_are_found_and_unknown_ones_are_told(graph: KnowledgeGraph) -> None:
    assert [find(name, graph)[0]["id"] for name in ("paris", "m.0k")] == ["Q1", "m.0k"]
    assert [one["name"] for one in find("Paris", graph)] == ["Paris", "Paris (Q2)"]
    for unknown in ("Alvar Alto", '"Moscow"'):
        with pytest.raises(InputError, match="Alvar Aalto" if unknown[0] == "A" else "Moscow"):
            find(unknown, graph)


def test_pages_state_facts_with_their_source(graph: KnowledgeGraph) -> None:
    async def pages() -> None:
        source = open_source(graph.path)
        [entities] = await source.link(["What is the river of Paris?"])
        [found] = await source.subgraphs(["?"], [entities], 1)
        order = sorted(range(len(found)), key=lambda at: found.fact(at)[0])[::-1]
        made = await source.pages(found, order)
        assert [page["title"] for page in made] == ["Paris", "Alvar Aalto"]
        assert made[0]["source"] == f"{graph.name}#Q1" and made[0]["ids"]["France"] == "Q3"
        assert sorted(made[0]["triples"]) == [
            ["Paris", "capital of", "France"],
            ["Paris", "lies on", "Q10"],
        ]

    asyncio.run(pages())


def test_vectors_of_another_encoder_are_refused(graph: KnowledgeGraph) -> None:
    class Theirs(KnowledgeGraph):
        takes_vectors = "model@0123456789ab"  # type: ignore[assignment]

    with pytest.raises(IndexMismatchError, match="other@0"):
        GraphSource(Theirs.open(graph.path), WordEncoder("other@0"))
