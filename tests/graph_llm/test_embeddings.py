"""Texts are embedded once: a hop costs what is new in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ras_flow import Context
from ras_flow.graph_llm import attributes
from ras_flow.graph_llm.attributes import EmbeddingCache
from ras_flow.testing import HashEncoder, ScriptedPlanner
from tests.graph.world import QUESTION, SECOND, build, world


class CountingEncoder(HashEncoder):
    def __init__(self, identity: str = "counting", dimension: int = 8) -> None:
        super().__init__(dimension)
        self.identity = identity
        self.calls: list[list[str]] = []

    async def encode(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        return await super().encode(texts)


async def test_the_next_hop_embeds_only_what_is_new(monkeypatch: Any) -> None:
    monkeypatch.setattr(attributes, "EMBEDDINGS", EmbeddingCache())
    encoder = CountingEncoder()
    planner = ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=True)
    graph = build(world(planner=planner, encoder=encoder))
    await graph.ainvoke({"question": QUESTION}, context=Context(top_k=1))
    asked = SECOND.removeprefix("[SUBQ] ")
    assert encoder.calls == [
        ["Aurora Bridge", "Mira Lund", "1961", "designer", "year", QUESTION],
        ["engineer", "Narvik", "occupation", "place of birth", asked],
    ]
    seen = planner.requests[-1].graph
    assert seen is not None and seen.encoder == "counting"
    np.testing.assert_array_equal(seen.node_attr, await HashEncoder().encode(seen.nodes))
    queries = await HashEncoder().encode([QUESTION, asked])
    np.testing.assert_array_equal(seen.query_attr, queries)


async def test_those_used_longest_ago_are_forgotten() -> None:
    cache, encoder = EmbeddingCache(2), CountingEncoder()
    for texts in (["a", "b"], ["a"], ["c"], ["a"], ["b"]):
        await cache.encode(encoder, texts)
    assert encoder.calls == [["a", "b"], ["c"], ["b"]]
    assert (await cache.encode(encoder, [])).shape == (0, 8) and len(encoder.calls) == 3
    many = await cache.encode(encoder, list("defgh"))
    np.testing.assert_array_equal(many, await HashEncoder().encode(list("defgh")))
    await cache.encode(encoder, list("fgh"))
    assert encoder.calls[3:] == [list("defgh"), ["f"]]
