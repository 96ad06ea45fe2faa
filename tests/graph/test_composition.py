"""The graph inside larger apps: as a subgraph, as a node's call, and as an agent's tool."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from ras_flow import Context, RasOutput, build_graph
from ras_flow.errors import ConfigurationError, ModelUnavailableError
from ras_flow.parts import PlanRequest, Reply
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.testing import ScriptedModel
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, TRIPLES, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}


class ParentState(TypedDict):
    question: str
    answer: str
    hops: list[Any]
    report: str


@dataclass
class ParentContext:
    tone: str
    ras_flow: Any = None


def parent(parts: dict[str, Any], **compiled: Any) -> Any:
    def report(state: ParentState, runtime: Any) -> dict[str, str]:
        return {"report": f"{runtime.context.tone}: {state['answer']}"}

    builder = StateGraph(ParentState, context_schema=ParentContext)
    builder.add_node("ras", build(parts))
    builder.add_node("report", report)
    builder.add_edge(START, "ras")
    builder.add_edge("ras", "report")
    builder.add_edge("report", END)
    return builder.compile(**compiled)


@pytest.mark.parametrize("settings", [Context(max_hops=1), {"max_hops": 1}])
async def test_as_a_subgraph_with_the_parents_state_and_context(saver: Any, settings: Any) -> None:
    parts = world(defaults=Context(top_k=1))
    context = ParentContext(tone="calm", ras_flow=settings)
    result = await parent(parts, checkpointer=saver).ainvoke(
        {"question": QUESTION}, THREAD, context=context
    )
    assert result["report"] == "calm: elsewhere"
    assert [len(hop["passages"]) for hop in result["hops"]] == [1]
    assert len(parts["planner"].requests) == 1


async def test_a_subgraphs_events_reach_the_parents_stream() -> None:
    stream = parent(world()).astream(
        {"question": QUESTION},
        context=ParentContext(tone="calm"),
        stream_mode="custom",
        subgraphs=True,
    )
    types = [event["type"] async for _, event in stream]
    assert types[0] == "start" and types[-1] == "answer"


async def test_a_second_question_on_a_parents_thread_keeps_nothing_of_the_first(saver: Any) -> None:
    class Keeping(RasOutput):
        question: str

    def keeping(plans: list[str]) -> Any:
        builder = StateGraph(Keeping)
        builder.add_node("ras", build(world(plans)))
        builder.add_edge(START, "ras")
        return builder.compile(checkpointer=saver)

    context = {"ras_flow": Context(top_k=1)}
    await keeping(["[SUBQ] x", SECOND]).ainvoke({"question": QUESTION}, THREAD, context=context)
    other = {"question": "Who designed Harbour Bridge?"}
    result = await keeping(["[SUBQ] x"]).ainvoke(other, THREAD, context=context)
    assert [hop["subquery"] for hop in result["hops"]] == list(other.values())
    assert [triple["object"] for triple in result["triples"].values()] == ["Leo Fahr"]


async def test_a_step_within_a_subgraph_that_keeps_checkpoints_can_be_forked(saver: Any) -> None:
    class Planner:
        identity = "test:planner"
        takes_soft_tokens = False

        async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
            planned.extend(requests)
            plans = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]
            return [Reply(plans[len(request.chain)]) for request in requests]

    planned: list[PlanRequest] = []
    builder = StateGraph(ParentState)
    builder.add_node("ras", build(world(planner=Planner()), checkpointer=True))
    builder.add_edge(START, "ras")
    app = builder.compile(checkpointer=saver)
    for question in ("An earlier question?", QUESTION):
        result = await app.ainvoke({"question": question}, THREAD)
    assert result["answer"] == "Narvik" and len(result["hops"]) == 2
    within: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "ras"}}
    steps = [step async for step in app.aget_state_history(within)]
    before = next(step for step in steps if step.next == ("answer",))
    [born] = [id for id, triple in before.values["triples"].items() if triple["object"] == "Narvik"]
    fork = await app.aupdate_state(before.config, {"triples": {born: None}})
    planned.clear()
    assert (await app.ainvoke(None, fork))["answer"] == "elsewhere"
    assert planned == []


async def test_runs_that_a_node_keeps_on_threads_of_their_own_are_listed(
    saver: Any, tmp_path: Path
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as own:
        ras = build(world(), checkpointer=own)

        async def research(state: ParentState) -> dict[str, str]:
            thread: Any = {"configurable": {"thread_id": uuid4().hex}}
            return {
                "answer": (await ras.ainvoke({"question": state["question"]}, thread))["answer"]
            }

        builder = StateGraph(ParentState)
        builder.add_node("research", research)
        builder.add_edge(START, "research")
        app = builder.compile(checkpointer=saver)
        assert (await app.ainvoke({"question": QUESTION}, THREAD))["answer"] == "Narvik"
    async with open_runs_at(str(tmp_path), builder=build_graph(**world())) as runs:
        [listed] = await runs.recent()
        assert (listed.question, listed.answer) == (QUESTION, "Narvik")


def test_sync_callers_are_asked_too(tmp_path: Path) -> None:
    context = ParentContext("calm", Context(top_k=1, pause_before_answer=True))
    with SqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as saver:
        app = parent(world(), checkpointer=saver)
        result = app.invoke({"question": QUESTION}, THREAD, context=context)
        assert result["__interrupt__"][0].value["point"] == "before_answer"
        result = app.invoke(Command(resume={"edits": []}), THREAD, context=context)
    assert result["report"] == "calm: Narvik"


async def test_invoke_works_beside_an_event_loop_that_is_at_work() -> None:
    assert build(world()).invoke({"question": QUESTION})["answer"] == "Narvik"


async def test_your_own_language_model_can_play_any_role() -> None:
    def say(asked: str) -> str:
        if asked.startswith("Title: "):
            return TRIPLES[asked.partition("\n")[0].removeprefix("Title: ")]
        return "[SUFFICIENT]" if "Narvik" in asked else SECOND

    roles = dict.fromkeys(("planner", "extractor", "answerer"), ScriptedModel(say))
    graph = build(world(**roles))
    result = await graph.ainvoke({"question": QUESTION}, context=Context(loop="paper", top_k=1))
    assert result["stop_reason"] == "sufficient" and len(result["hops"]) == 2
    assert "Narvik" in {triple["object"] for triple in result["triples"].values()}
    assert all(use["calls"] for use in result["usage"].values() if use["role"] != "retriever")


class Asking(BaseRetriever):
    """Searches when a person has approved of it."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        approved = interrupt({"search": query})
        found = [Document(one["text"], metadata={"title": one["title"]}) for one in DOCUMENTS]
        return found if approved else []


async def test_a_langchain_retriever_may_wait_for_a_person(saver: Any) -> None:
    graph = build(world(retriever=Asking()), checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD)
    for _ in range(2):
        assert "search" in result["__interrupt__"][0].value
        result = await graph.ainvoke(Command(resume=True), THREAD)
    assert result["answer"] == "Narvik"


async def test_a_chat_model_that_is_given_has_the_limits_of_the_graphs_settings() -> None:
    slow = FakeListChatModel(responses=["[SUFFICIENT]"], sleep=0.2)
    for timeout, ends in ((0.05, True), (5.0, False)):
        defaults = Context(model_timeout=timeout, max_retries=0, loop="paper")
        graph = build({**world(answerer=slow), "defaults": defaults})
        with pytest.raises(ModelUnavailableError) if ends else nullcontext():
            await graph.ainvoke({"question": QUESTION})


@pytest.mark.parametrize(
    ("role", "method", "lacks"),
    [
        ("planner", "plan", "takes_soft_tokens"),
        ("extractor", "extract", "batch_size"),
        ("encoder", "encode", "dimension"),
    ],
)
def test_an_object_that_can_play_only_half_its_role_is_told_what_it_lacks(
    role: str, method: str, lacks: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"lacks .*`{lacks}`"):
        build({role: SimpleNamespace(**{method: print})})
