"""Concurrent runs' calls of a Graph LLM are made together, their graphs encoded together too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm import gnn
from ras_flow.graph_llm.checkpoint import save_graph_llm
from ras_flow.graph_llm.roles import GraphAnswerer, GraphPlanner
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.llms import waiting
from ras_flow.parts import AnswerRequest, PlanRequest
from tests.graph_llm.tiny import APART, BRIDGE, HALF, LOOP, build, chain, graph
from tests.llms.test_joining import Busy

HOPS = [BRIDGE, LOOP, APART, HALF]
REQUESTS = [PlanRequest("Why?", chain(*hops), graph(*hops)) for hops in HOPS]


@pytest.fixture(scope="module")
def source(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> SharedGraphLLM:
    made = tmp_path_factory.mktemp("joined") / "tiny-graph-llm"
    save_graph_llm(build(llama), made)
    return SharedGraphLLM(made)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the graphs of each call of the graph encoder."""
    sizes: list[int] = []
    plain = gnn.GraphEncoder.forward

    def counted(self: Any, graphs: Sequence[Any]) -> Any:
        sizes.append(len(graphs))
        return plain(self, graphs)

    monkeypatch.setattr(gnn.GraphEncoder, "forward", counted)
    return sizes


async def start(*calls: Any) -> list[asyncio.Task[Any]]:
    tasks, before = [asyncio.create_task(call) for call in calls], waiting._taken
    while waiting._taken < before + len(tasks):
        await asyncio.sleep(0.01)
    return tasks


async def test_runs_that_plan_at_once_share_a_batch_and_get_their_own_plans(
    source: SharedGraphLLM, encoded: list[int]
) -> None:
    planner = GraphPlanner(source)
    alone = [(await planner.plan([request]))[0] for request in REQUESTS]
    assert encoded == [1, 1, 1, 1]
    assert len({reply.text for reply in alone}) > 1, "plans must differ to compare"
    encoded.clear()
    async with Busy():
        planning = await start(*(planner.plan([request]) for request in REQUESTS))
        asked = [AnswerRequest("Why?", max_new_tokens=3)]
        [answer] = await start(GraphAnswerer(source).answer(asked))
    assert [(await run)[0] for run in planning] == alone
    assert (await answer)[0].output_tokens == 3
    assert sorted(encoded) == [1, 4], "the answer has another limit"


async def test_a_graph_that_cannot_be_read_fails_its_own_run_alone(
    source: SharedGraphLLM,
) -> None:
    planner = GraphPlanner(source)
    [expected] = await planner.plan(REQUESTS[:1])
    wrong = PlanRequest("Why?", chain(*LOOP), await asyncio.to_thread(wide))
    async with Busy():
        good, bad = await start(planner.plan(REQUESTS[:1]), planner.plan([wrong]))
    assert await good == [expected]
    with pytest.raises(ConfigurationError):
        await bad


def wide() -> Any:
    return graph(*LOOP, dimension=9)
