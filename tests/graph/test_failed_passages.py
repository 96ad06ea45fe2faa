"""A passage whose extraction failed: a later hop that finds it again reads it."""

from __future__ import annotations

from typing import Any

import pytest

from ras_flow import Context
from ras_flow.errors import AuthenticationError, ModelUnavailableError
from ras_flow.parts import Extraction
from ras_flow.runs import Runs
from ras_flow.runs.why import explain
from ras_flow.state.kg import by_hop
from ras_flow.testing import MappingExtractor
from tests.graph.world import QUESTION, TRIPLES, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
TOP2 = Context(top_k=2)
"""Both hops find the same two passages."""
FIRST = ["Mira Lund", "1961"]
"""The objects of what the other passage states."""


class Flaky(MappingExtractor):
    """Makes nothing of "Mira Lund" in its first calls."""

    def __init__(self, failures: int, *, partly: bool = False) -> None:
        super().__init__(TRIPLES)
        self._failures, self._partly = failures, partly

    async def extract(self, passages: Any) -> list[Extraction]:
        made = await super().extract(passages)
        failing = len(self.calls) <= self._failures
        return [
            Extraction(good.triples[:1] if self._partly else [], error="timed out")
            if failing and passage["title"] == "Mira Lund"
            else good
            for passage, good in zip(passages, made, strict=True)
        ]


def passage(state: Any, title: str) -> Any:
    return next(id for id, known in state["passages"].items() if known["title"] == title)


def objects(state: Any) -> list[list[str]]:
    """The objects of each hop's triples."""
    found = by_hop(state["triples"], state["hops"])
    return [[state["triples"][id]["object"] for id in ids] for ids in found]


async def test_a_later_hop_reads_it_and_its_triples_are_that_hops(saver: Any) -> None:
    parts = world(extractor=Flaky(1))
    graph = build(parts, checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP2)
    assert result["answer"] == "Narvik"
    assert parts["extractor"].calls == [["Aurora Bridge", "Mira Lund"], ["Mira Lund"]]
    assert objects(result) == [FIRST, [*FIRST, "engineer", "Narvik"]]
    lost = passage(result, "Mira Lund")
    assert [hop.get("failed") for hop in result["hops"]] == [[lost], None]
    assert result["warnings"] == ["No triples from passage 'Mira Lund': timed out"]
    stored = await graph.aget_state(THREAD)
    assert stored.values["hops"] == result["hops"]
    document = await Runs(graph).document("t")
    [branch] = document["branches"]
    grounds = explain(document)["triples"].values()
    found = {(at["object"], source["hop"]) for at in grounds for source in at["sources"]}
    assert found == {("Mira Lund", 0), ("Narvik", 1)}
    assert [len(ids) for ids in branch["hop_triples"]] == [2, 4]


async def test_it_is_tried_at_each_hop_until_it_succeeds_once() -> None:
    plans = ["[SUBQ] x", "[SUBQ] Mira Lund?", "[SUBQ] Mira?", "[SUBQ] Who is Mira Lund?"]
    parts = world(plans, extractor=Flaky(2))
    result = await build(parts).ainvoke({"question": QUESTION}, context=Context(top_k=4))
    titles = [[name for name in call if name == "Mira Lund"] for call in parts["extractor"].calls]
    assert titles == [["Mira Lund"]] * 3
    assert [len(hop["passages"]) for hop in result["hops"]] == [4] * 4
    assert [len(hop.get("failed", [])) for hop in result["hops"]] == [1, 1, 0, 0]


async def test_a_run_that_stopped_and_is_resumed_reads_it_too(saver: Any) -> None:
    class Refused(Flaky):
        async def extract(self, passages: Any) -> list[Extraction]:
            if self.calls:
                raise AuthenticationError("The key was refused.")
            return await super().extract(passages)

    graph = build(world(extractor=Refused(1)), checkpointer=saver)
    with pytest.raises(AuthenticationError):
        await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP2)
    assert (await graph.aget_state(THREAD)).next == ("to_triples",)
    parts = world([], extractor=Flaky(0))
    result = await build(parts, checkpointer=saver).ainvoke(None, THREAD, context=TOP2)
    assert parts["extractor"].calls == [["Mira Lund"]]
    assert (result["answer"], objects(result)[0]) == ("Narvik", FIRST)


async def test_an_extractor_that_is_out_of_reach_for_a_batch_costs_that_batch_alone(
    saver: Any,
) -> None:
    class Away(MappingExtractor):
        async def extract(self, passages: Any) -> list[Extraction]:
            if passages[0]["title"] == "Mira Lund" and ["Mira Lund"] not in self.calls:
                self.calls.append(["Mira Lund"])
                raise ModelUnavailableError("extractor.example does not answer.")
            return await super().extract(passages)

    graph = build(world(extractor=Away(TRIPLES, batch_size=1)), checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP2)
    assert (result["answer"], objects(result)) == (
        "Narvik",
        [FIRST, [*FIRST, "engineer", "Narvik"]],
    )
    assert result["warnings"] == [
        "No triples from passage 'Mira Lund': extractor.example does not answer."
    ]


async def test_a_replay_of_its_own_hop_forgets_that_it_failed(saver: Any) -> None:
    graph = build(world(["[SUBQ] x"], extractor=Flaky(1)), checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP2)
    assert result["answer"] == "elsewhere"
    # At the end, as a person might, and not only on a checkpoint that knows of no failure.
    again = await graph.aupdate_state(THREAD, {"warnings": []}, as_node="retrieve")
    result = await graph.ainvoke(None, again, context=TOP2)
    assert (result["answer"], result["hops"][0]["failed"]) == ("Narvik", [])


async def test_one_that_was_read_in_part_counts_as_read() -> None:
    parts = world(extractor=Flaky(1, partly=True))
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP2)
    assert len(parts["extractor"].calls) == 1
    assert ["failed" in hop for hop in result["hops"]] == [False, False]
    assert objects(result)[0] == [*FIRST, "engineer"]
