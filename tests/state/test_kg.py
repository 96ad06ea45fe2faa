from __future__ import annotations

import copy
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.state.kg import QueryKG, by_hop, merge_triples, to_new_triples, triple_id
from ras_flow.state.schema import Extracted, Hop, Triple

CHAIN = [
    Extracted(
        passage="p1",
        triples=[
            ["Pick Motor Company", "location", "stamford"],
            ["the pick motor company", "Industry", "cars"],
        ],
    ),
    Extracted(
        passage="p2",
        triples=[["Stamford", "river", "Welland"], ["Pick Motor Company", "Location", "Stamford"]],
    ),
]


def ids(*triples: tuple[str, str, str]) -> list[str]:
    return [triple_id(*triple) for triple in triples]


def test_triple_id_is_stable_and_joins_spellings():
    expected = hashlib.sha256("pelé\0born in\0três corações".encode()).hexdigest()[:12]
    assert triple_id("Pelé", "born in", "Três Corações") == expected
    assert triple_id("the pelé", "Born in", "“Três corações”") == expected
    assert triple_id("laser", "power", "25 mW") != triple_id("laser", "power", "25 MW")
    assert triple_id("a", "b", "c d") != triple_id("a", "b c", "d")
    assert triple_id("x", "height", "3.5") != triple_id("x", "height", "35")


def test_to_new_triples_notes_all_passages():
    found = to_new_triples(CHAIN)
    location, industry, river = found.values()
    assert list(found) == ids(
        ("Pick Motor Company", "location", "Stamford"),
        ("Pick Motor Company", "industry", "cars"),
        ("Stamford", "river", "Welland"),
    )
    assert location == Triple(
        subject="Pick Motor Company", predicate="location", object="stamford", passages=["p1", "p2"]
    )
    assert river["passages"] == ["p2"]


def test_to_new_triples_leaves_out_empty_fields():
    extracted = [Extracted(passage="p", triples=[["a", " ", "c"], ["a", "b", "\u200b"]])]
    assert to_new_triples(extracted) == {}


def test_merge_adds_updates_and_removes():
    known = to_new_triples(CHAIN[:1])
    before = copy.deepcopy(known)
    update = {**to_new_triples(CHAIN[1:]), list(known)[1]: None, "unknown": None}
    merged = merge_triples(known, update)
    assert known == before
    assert list(merged) == ids(
        ("pick motor company", "location", "stamford"), ("stamford", "river", "welland")
    )
    assert merged[next(iter(merged))] == Triple(
        subject="Pick Motor Company", predicate="location", object="stamford", passages=["p1", "p2"]
    )


@pytest.mark.parametrize("object", ["Oslo", "Aachen", "Zwolle"])
def test_a_triple_that_is_edited_under_its_id_says_what_it_was_edited_to(object: str):
    known = to_new_triples(CHAIN)
    id = next(iter(known))
    edit = {id: Triple(**{**known[id], "object": object, "passages": []})}
    merged = merge_triples(known, edit)
    assert merged == {**known, **edit} and list(merged) == list(known)
    assert merge_triples(merged, edit) == merged


NAME = st.sampled_from(["Paris", "paris", "PARIS", "the Paris", "Oslo", "oslo", "Île", "île"])
EXTRACTED = st.lists(
    st.builds(
        Extracted,
        passage=st.sampled_from(["p1", "p2", "p3"]),
        triples=st.lists(st.lists(NAME, min_size=3, max_size=3), max_size=4),
    ),
    max_size=3,
)
GRAPH = st.builds(to_new_triples, EXTRACTED)


@given(GRAPH, GRAPH)
def test_merge_is_idempotent(graph, update):
    once = merge_triples(graph, update)
    assert merge_triples(once, update) == once
    assert merge_triples(update, update) == update == merge_triples({}, update)


@given(GRAPH, GRAPH, GRAPH)
def test_merge_does_not_depend_on_grouping(a, b, c):
    one_by_one = merge_triples(merge_triples(a, b), c)
    together = merge_triples(a, merge_triples(b, c))
    assert one_by_one == together
    assert list(one_by_one) == list(together)


def test_view_joins_spellings_across_triples_and_leaves_each_as_it_is():
    kg = QueryKG.from_triples(to_new_triples(CHAIN))
    assert kg.entities == {
        "pick motor company": "Pick Motor Company",
        "stamford": "stamford",
        "cars": "cars",
        "welland": "Welland",
    }
    [_, industry, _] = kg.triples.values()
    assert (industry["subject"], industry["predicate"]) == ("the pick motor company", "Industry")
    assert kg.edges[triple_id("Stamford", "river", "Welland")] == ("stamford", "welland")


def test_a_hop_has_the_triples_of_all_its_passages():
    graph = to_new_triples(CHAIN)
    location, industry, river = graph

    def hop(index: int, *passages: str) -> Hop:
        return Hop(index=index, subquery="?", passages=list(passages), scores=[])

    assert by_hop(graph, [hop(0, "p1"), hop(1, "p2"), hop(2, "p9")]) == [
        [location, industry],
        [location, river],
        [],
    ]
    assert by_hop(graph, [hop(0, "p1"), hop(1, "p1"), hop(2, "p2")]) == [
        [location, industry],
        [location, industry],
        [location, river],
    ]
    assert by_hop(graph, []) == []


@pytest.mark.parametrize("passages", [[], ["a person's own note"]])
def test_a_triple_that_no_hop_found_belongs_to_the_last_hop(passages: list[str]):
    added = Triple(subject="a", predicate="b", object="c", passages=passages)
    assert by_hop({"x": added}, []) == []
    hops = [Hop(index=i, subquery="?", passages=["p1"], scores=[]) for i in range(2)]
    assert by_hop({"x": added}, hops) == [[], ["x"]]
