"""Where the loop ends: limits, given documents, lost models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.errors import AuthenticationError, InputError, ModelUnavailableError
from ras_flow.parts import Extraction, Reply
from ras_flow.state.schema import Passage
from ras_flow.testing import ListRetriever, MappingExtractor, ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, build, read_birthplace, world

THREAD: Any = {"configurable": {"thread_id": "t"}}


TOP1 = Context(top_k=1)


async def test_the_planner_is_not_asked_after_the_last_hop() -> None:
    parts = world([f"[SUBQ] fact number {i}" for i in range(9)])
    result = await build(parts).ainvoke({"question": QUESTION}, context=Context(max_hops=3))
    assert result["stop_reason"] == "max_hops"
    assert len(result["hops"]) == len(parts["planner"].requests) == 3


async def test_no_hops_means_no_planner_and_no_retrieval() -> None:
    parts = world()
    result = await build(parts).ainvoke({"question": QUESTION}, context=Context(max_hops=0))
    assert result["stop_reason"] == "max_hops"
    assert parts["planner"].requests == [] and parts["retriever"].queries == []


@pytest.mark.parametrize("more, hops", [(0, 0), (1, 1)])
async def test_a_token_budget_counts_input_and_output(more: int, hops: int) -> None:
    first_plan = len(QUESTION.split()) + len("[SUBQ] x".split())
    context = Context(top_k=1, max_tokens=first_plan + more)
    result = await build(world()).ainvoke({"question": QUESTION}, context=context)
    assert (result["stop_reason"], result["answer"]) == ("budget", "elsewhere")
    assert len(result["hops"]) == hops


async def test_a_time_budget_ends_the_run_with_the_graph_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 0.0
    monkeypatch.setattr("ras_flow.state.usage.perf_counter", lambda: clock)

    class SlowRetriever(ListRetriever):
        async def retrieve(self, queries: Any, k: int) -> Any:
            nonlocal clock
            clock += 20
            return await super().retrieve(queries, k)

    context = Context(top_k=2, max_seconds=15)
    parts = world(retriever=SlowRetriever(DOCUMENTS))
    result = await build(parts).ainvoke({"question": QUESTION}, context=context)
    assert result["stop_reason"] == "budget"
    assert len(result["hops"]) == 1 and result["triples"]


async def test_given_documents_are_the_first_context() -> None:
    parts = world([SECOND])
    result = await build(parts).ainvoke(
        {"question": QUESTION, "documents": [DOCUMENTS[0], DOCUMENTS[0]]}, context=TOP1
    )
    assert result["answer"] == "Narvik"
    assert parts["retriever"].queries == ["Where was Mira Lund born?"]
    assert len(result["hops"][0]["passages"]) == 1
    assert parts["planner"].requests[0].chain[0].subquery == QUESTION


async def test_documents_that_leave_no_hop_to_plan_need_no_planner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    context = Context(max_hops=1, planner="openai:nobody")
    result = await build(world(planner=None, retriever=None)).ainvoke(
        {"question": QUESTION, "documents": DOCUMENTS[:3]}, context=context
    )
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "max_hops")


async def test_the_question_itself_is_searched_after_documents_that_say_nothing(saver: Any) -> None:
    parts = world([f"[SUBQ] {QUESTION}", SECOND])
    result = await build(parts, checkpointer=saver).ainvoke(
        {"question": QUESTION, "documents": DOCUMENTS[3:]}, THREAD, context=Context(top_k=1)
    )
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")
    assert parts["retriever"].queries == [QUESTION, "Where was Mira Lund born?"]


async def test_static_inference_needs_no_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    parts = world(planner=None, answerer=ScriptedAnswerer(read_birthplace, takes_soft_tokens=True))
    context = Context(planning="static", planner="openai:nobody")
    result = await build(parts).ainvoke(
        {"question": QUESTION, "documents": DOCUMENTS[:3]}, context=context
    )
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "static")
    assert parts["retriever"].queries == [] and parts["answerer"].requests[0].graph.nodes


async def test_static_inference_without_documents_is_refused() -> None:
    with pytest.raises(InputError, match="documents"):
        await build(world()).ainvoke({"question": QUESTION}, context=Context(planning="static"))


class Unreachable(ScriptedPlanner):
    """Fails at one of its calls."""

    def __init__(self, plans: list[str], *, at: int, error: Exception) -> None:
        super().__init__(plans)
        self._at, self._error = at, error

    async def plan(self, requests: Any) -> list[Reply]:
        if len(self.requests) == self._at:
            raise self._error
        return await super().plan(requests)


async def test_a_planner_lost_midway_ends_with_what_is_known() -> None:
    lost = ModelUnavailableError("planner.example does not answer; try later.")
    parts = world(planner=Unreachable(["[SUBQ] x", SECOND], at=2, error=lost))
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "error")
    assert result["warnings"] == [str(lost)]


async def test_a_planner_lost_at_the_start_fails_and_can_be_resumed(saver: Any) -> None:
    lost = ModelUnavailableError("planner.example does not answer; try later.")
    graph = build(world(planner=Unreachable([], at=0, error=lost)), checkpointer=saver)
    with pytest.raises(ModelUnavailableError):
        await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    again = build(world(), checkpointer=saver)
    result = await again.ainvoke(None, THREAD, context=TOP1)
    assert result["answer"] == "Narvik"


async def test_a_refused_key_fails_at_once() -> None:
    refused = AuthenticationError("planner.example refused the key; set ANTHROPIC_API_KEY.")
    parts = world(planner=Unreachable(["[SUBQ] x"], at=1, error=refused))
    with pytest.raises(AuthenticationError):
        await build(parts).ainvoke({"question": QUESTION}, context=TOP1)


async def test_nothing_is_extracted_for_a_run_that_has_failed() -> None:
    class Refused(MappingExtractor):
        async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
            if not self.calls:
                self.calls.append([])
                raise AuthenticationError("extractor.example refused the key.")
            await asyncio.sleep(0.01)
            return await super().extract(passages)

    extractor = Refused({}, batch_size=1)
    with pytest.raises(AuthenticationError):
        await build(world(extractor=extractor)).ainvoke(
            {"question": QUESTION, "documents": DOCUMENTS}
        )
    await asyncio.sleep(0.05)
    assert extractor.calls == [[]]
