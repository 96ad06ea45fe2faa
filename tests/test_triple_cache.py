"""Triples by passage and extractor, in a store that others may write to as well."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.components import Extraction
from ras_flow.triple_cache import TripleCache

FOUND = Extraction([("Mira Lund", "place of birth", "Narvik")], ["(S> broken"], None, 40, 9)


async def test_what_was_put_is_found_by_the_same_extractor_at_no_cost() -> None:
    store = InMemoryStore()
    await TripleCache(store, "a").put({"p1": FOUND, "p2": Extraction([])})
    kept = await TripleCache(store, "a").get(["p2", "p1", "p3"])
    assert kept == {"p1": Extraction(FOUND.triples), "p2": Extraction([])}
    assert await TripleCache(store, "b").get(["p1"]) == {}


async def test_failures_are_not_kept() -> None:
    store = InMemoryStore()
    await TripleCache(store, "a").put({"p1": Extraction([], error="the server was away")})
    assert await TripleCache(store, "a").get(["p1"]) == {}


async def test_without_a_store_nothing_is_kept() -> None:
    cache = TripleCache(None, "a")
    await cache.put({"p1": FOUND})
    assert await cache.get(["p1"]) == {}


@pytest.mark.parametrize(
    "value",
    [{}, {"triples": None}, {"triples": "abc"}, {"triples": [["a", "b"]]}, {"triples": [[1, 2, 3]]}]
    + [{"triples": ["abc"]}, {"triples": {"a": "b"}}, {"other": 1}],
)
async def test_what_is_no_list_of_triples_counts_as_unknown(value: dict[str, Any]) -> None:
    store = InMemoryStore()
    cache = TripleCache(store, "a")
    await cache.put({"p1": FOUND, "p2": FOUND})
    [item, _] = store.search(("ras_flow", "triples"))
    store.put(item.namespace, item.key, value)
    assert list(await cache.get(["p1", "p2"])) == [id for id in ("p1", "p2") if id != item.key]
