"""Algorithm 2 of T²RAG: deepened lists find what a comparison of all propositions finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ras_flow.state.kg import triple_of
from ras_flow.state.schema import make_passage
from ras_flow.triples.ranking import Hit, rank

Case = tuple[list[list[str]], list[list[float]], list[set[str]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Passages of each proposition, each query's scores of all, and what each query skips."""
    ids = st.sampled_from("abcdefg")
    stated = draw(st.lists(st.lists(ids, min_size=1, max_size=3, unique=True), max_size=12))
    queries = draw(st.integers(0, 3))
    score = st.sampled_from([-0.5, 0.0, 0.2, 0.4, 0.4, 0.7, 0.9])
    row = st.lists(score, min_size=len(stated), max_size=len(stated))
    rows = draw(st.lists(row, min_size=queries, max_size=queries))
    skips = draw(st.lists(st.sets(ids, max_size=3), min_size=queries, max_size=queries))
    return stated, rows, skips


@given(cases(), st.integers(1, 8), st.integers(1, 14))
def test_any_depth_gives_the_full_ranking(case: Case, k: int, depth: int) -> None:
    stated, rows, skips = case

    def search(queries: list[int], most: int) -> list[list[Hit]]:
        ordered = [sorted(((s, at) for at, s in enumerate(rows[q])), key=_first) for q in queries]
        return [hits[:most] for hits in ordered]

    everything = sorted(
        (-score, query, at)
        for query, row in enumerate(rows)
        for at, score in enumerate(row)
        if score > 0 and set(stated[at]) - skips[query]
    )
    passages: list[str] = []
    best: dict[int, tuple[float, int]] = {}
    for negative, query, at in everything:
        if len(passages) < k:
            best.setdefault(at, (-negative, query))
            new = [id for id in stated[at] if id not in skips[query] and id not in passages]
            passages += new[: k - len(passages)]

    triples = [triple_of((str(at), "is", "x"), ids) for at, ids in enumerate(stated)]
    found = rank(search, triples, lambda id: make_passage(id, id), skips, k, depth)
    assert [(int(one.triple["subject"]), one.score, one.query) for one in found.triples] == [
        (at, *how) for at, how in best.items()
    ]
    assert [one.passage["title"] for one in found.passages] == passages
    assert {id for one in found.triples for id in one.triple["passages"]} == set(passages)


def _first(hit: Hit) -> tuple[float, int]:
    return -hit[0], hit[1]
