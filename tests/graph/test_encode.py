"""encode: built for models that take soft tokens, never in the state, the same on resume."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ras_flow import Context
from ras_flow.testing import HashEncoder, ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import QUESTION, SECOND, build, read_birthplace, world

TOP1 = Context(top_k=1)
THREAD: Any = {"configurable": {"thread_id": "t"}}


def soft(plans: list[str] | None = None) -> dict[str, Any]:
    return world(
        planner=ScriptedPlanner(
            ["[SUBQ] x", SECOND] if plans is None else plans, takes_soft_tokens=True
        ),
        answerer=ScriptedAnswerer(read_birthplace, takes_soft_tokens=True),
    )


@pytest.mark.parametrize(
    ("soft_planner", "context"), [(False, TOP1), (True, Context(top_k=1, max_hops=1))]
)
async def test_where_no_model_will_read_the_graph_it_is_not_encoded(
    soft_planner: bool, context: Context
) -> None:
    planner = ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=soft_planner)
    graph = build(world(planner=planner))
    steps = graph.astream({"question": QUESTION}, context=context, stream_mode="updates")
    assert "encode" not in {name async for step in steps for name in step}


async def test_soft_token_models_get_the_attributed_graph() -> None:
    parts = soft()
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    assert [result["usage"][f"encode:{hop}"]["role"] for hop in (0, 1)] == ["encoder"] * 2
    assert parts["planner"].requests[0].graph.nodes == []
    graph = parts["answerer"].requests[0].graph
    assert graph.nodes == ["Aurora Bridge", "Mira Lund", "1961", "engineer", "Narvik"]
    assert graph.edges == ["designer", "year", "occupation", "place of birth"]
    assert graph.edge_index.tolist() == [[0, 0, 1, 1], [1, 2, 3, 4]]
    assert graph.hops == [[0, 1], [2, 3]]
    expected = await HashEncoder().encode(graph.nodes)
    np.testing.assert_array_equal(graph.node_attr, expected)
    assert graph.edge_attr.shape == (4, 8)


async def test_streams_carry_no_embeddings_and_each_text_is_embedded_once() -> None:
    class Counting(HashEncoder):
        identity = "testing:counting"
        texts: list[str] = []

        async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            self.texts.extend(texts)
            return await super().encode(texts)

    parts = soft() | {"encoder": Counting()}
    told = []
    modes: Any = ["values", "updates", "debug", "custom"]
    async for part in build(parts).astream({"question": QUESTION}, context=TOP1, stream_mode=modes):
        json.dumps(part)
        told.append(part)
    assert len(set(Counting.texts)) == len(Counting.texts) > 0
    encoded = [event for mode, event in told if mode == "custom" and event["type"] == "encoded"]
    assert encoded == [
        {"type": "encoded", "hop": 0, "nodes": 3, "edges": 2},
        {"type": "encoded", "hop": 1, "nodes": 5, "edges": 4},
    ]


async def test_checkpoints_hold_no_embeddings_and_a_resumed_run_has_the_same(saver: Any) -> None:
    parts = soft()
    graph = build(parts, checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    before = parts["answerer"].requests[0].graph
    history = [step async for step in graph.aget_state_history(THREAD)]
    assert all("encoding" not in step.values for step in history)
    at_answer = next(step for step in history if step.next == ("answer",))
    other = soft()
    result = await build(other, checkpointer=saver).ainvoke(None, at_answer.config, context=TOP1)
    assert result["answer"] == "Narvik"
    np.testing.assert_array_equal(other["answerer"].requests[0].graph.node_attr, before.node_attr)


async def test_an_empty_graph_has_arrays_without_rows() -> None:
    parts = soft()
    parts["extractor"]._triples = {}
    await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    graph = parts["answerer"].requests[0].graph
    assert graph.node_attr.shape == (0, 8) and graph.edge_attr.shape == (0, 8)
    assert graph.edge_index.shape == (2, 0) and graph.hops == [[], []]
