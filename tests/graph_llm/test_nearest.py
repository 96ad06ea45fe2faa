"""nearest_triples: of each hop, those most similar to its subquery, and no more than asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.graph_llm.attributes import nearest_triples
from ras_flow.state.kg import by_hop
from ras_flow.state.schema import Hop, Triple
from ras_flow.testing import HashEncoder


class SharedWords(HashEncoder):
    """Texts are as similar as they share words."""

    identity = "testing:shared-words"

    def __init__(self) -> None:
        super().__init__(dimension=512)

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace("?", "").split():
                row[crc32(word.encode()) % self.dimension] = 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


def hop(index: int, subquery: str, *passages: str) -> Hop:
    return Hop(index=index, subquery=subquery, passages=list(passages), scores=[])


def triple(subject: str, predicate: str, object: str, *passages: str) -> Triple:
    return Triple(subject=subject, predicate=predicate, object=object, passages=list(passages))


GRAPH = {
    "year": triple("Aurora Bridge", "year", "1961", "p"),
    "designer": triple("Aurora Bridge", "designer", "Mira Lund", "p"),
    "colour": triple("pillars", "colour", "green", "p"),
    "job": triple("Mira Lund", "occupation", "engineer", "q"),
    "birth": triple("Mira Lund", "born in", "Narvik", "q", "p"),
}


def nearest(hops: list[Hop], most: int, graph: dict[str, Triple] = GRAPH) -> list[str]:
    return list(asyncio.run(nearest_triples(graph, hops, SharedWords(), most)))


def test_those_stay_that_are_nearest_to_their_own_subquery_in_the_order_of_the_graph() -> None:
    hops = [hop(0, "the designer of the Aurora Bridge", "p"), hop(1, "Mira Lund born in", "q")]
    assert nearest(hops, 1) == ["designer", "birth"]
    assert nearest(hops, 2) == ["year", "designer", "job", "birth"]


def test_a_hop_with_few_triples_keeps_them_all_and_embeds_nothing() -> None:
    class Never(HashEncoder):
        async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            raise AssertionError(texts)

    hops = [hop(0, "colour?", "p"), hop(1, "job?", "q")]
    assert asyncio.run(nearest_triples(GRAPH, hops, Never(), 4)) == GRAPH


@given(
    st.lists(st.sets(st.sampled_from("abc")), max_size=8),
    st.lists(st.lists(st.sampled_from("abc"), unique=True), max_size=3),
    st.integers(1, 4),
)
def test_each_hop_keeps_as_many_as_may_stay(
    stated_by: list[set[str]], retrieved: list[list[str]], most: int
) -> None:
    graph = {
        str(n): triple(f"s{n % 3}", f"p{n % 2}", f"o{n}", *sorted(passages))
        for n, passages in enumerate(stated_by)
    }
    hops = [hop(n, f"s{n} p{n}?", *passages) for n, passages in enumerate(retrieved)]
    kept = asyncio.run(nearest_triples(graph, hops, SharedWords(), most))
    assert list(kept) == [id for id in graph if id in kept]
    assert all(kept[id] is graph[id] for id in kept)
    found = by_hop(graph, hops)
    for ids in found:
        assert len(kept.keys() & set(ids)) >= min(most, len(ids))
    assert len(kept) <= sum(min(most, len(ids)) for ids in found) or all(
        len(ids) <= most for ids in found
    )
