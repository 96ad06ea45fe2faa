"""The graph inside larger apps: as a subgraph, as a node's call, and as an agent's tool."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command, interrupt

from ras_flow import Context, RasOutput, as_tool, build_graph
from ras_flow.errors import ConfigurationError, ModelUnavailableError
from ras_flow.parts import PlanRequest, Reply
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.testing import MappingExtractor, ScriptedAnswerer, ScriptedModel, ScriptedPlanner
from ras_flow.tool import describe
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


async def test_as_a_tool_it_gives_the_answer_its_facts_and_the_whole_result_as_an_artifact() -> (
    None
):
    tool = as_tool(build(world()), context=Context(top_k=1))
    assert "question" in tool.args and tool.description
    call = {"name": tool.name, "args": {"question": QUESTION}, "id": "1", "type": "tool_call"}
    message = await tool.ainvoke(call)
    assert message.content.splitlines() == [
        "Answer: Narvik",
        "- Aurora Bridge | designer | Mira Lund [Aurora Bridge]",
        "- Mira Lund | place of birth | Narvik [Mira Lund]",
    ]
    assert message.artifact["stop_reason"] == "sufficient"
    assert len(message.artifact["hops"]) == 2


async def test_an_async_agents_tool_works_in_the_agents_own_event_loop() -> None:
    class Answerer(ScriptedAnswerer):
        async def answer(self, requests: Any) -> Any:
            loops.append(asyncio.get_running_loop())
            return await super().answer(requests)

    loops: list[asyncio.AbstractEventLoop] = []
    await as_tool(build(world(answerer=Answerer("so")))).ainvoke({"question": QUESTION})
    assert loops == [asyncio.get_running_loop()]


async def test_the_tool_cites_documents_without_a_title_by_their_source() -> None:
    class Files(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document("Mira Lund was born in Narvik.", metadata={"source": "people.txt"})]

    extractor = MappingExtractor({"": "(S> Mira Lund| P> place of birth| O> Narvik)"})
    tool = as_tool(build(world(["[SUBQ] x"], retriever=Files(), extractor=extractor)))
    text = await tool.ainvoke({"question": "Where was Mira Lund born?"})
    assert text.splitlines()[1:] == ["- Mira Lund | place of birth | Narvik [people.txt]"]


async def test_the_tool_says_of_a_fact_that_a_person_added_that_no_passage_states_it(
    saver: Any,
) -> None:
    graph = build(world(["[SUBQ] x"], answerer=ScriptedAnswerer("Oslo")), checkpointer=saver)
    context = Context(top_k=1, max_hops=1, pause_before_answer=True)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=context)
    added = {"op": "add_triple", "subject": "Mira Lund", "predicate": "born in", "object": "Oslo"}
    answer = Command(resume={"edits": [added]})
    result = await graph.ainvoke(answer, THREAD, context=context)
    assert "- Mira Lund | born in | Oslo [no passage]" in describe(result).splitlines()


def calls(*questions: str) -> Any:
    """A chat model that has the tool called with these questions at once, then answers."""

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def messages() -> Iterator[AIMessage]:
        for round in count():
            asked = [
                {"name": "answer_from_documents", "args": {"question": q}, "id": f"{round}.{i}"}
                for i, q in enumerate(questions)
            ]
            yield AIMessage("", tool_calls=asked)
            yield AIMessage("In Narvik.")

    return Model(messages=messages())


async def test_the_tool_says_what_an_answer_is_worth() -> None:
    async def ask(plans: list[str], answer: str) -> list[str]:
        parts = world(plans, answerer=ScriptedAnswerer(answer))
        tool = as_tool(build(parts), context=Context(top_k=1, max_hops=2))
        return str(await tool.ainvoke({"question": QUESTION})).splitlines()

    ended = "The search ended before the facts sufficed: %s."
    assert await ask(["[SUBQ] x", "[SUFFICIENT]"], "") == ["No answer was found."]
    [guess, unsupported] = await ask(["[NO_RETRIEVAL]"], "Oslo")
    assert guess == "Answer: Oslo" and unsupported.startswith("Not supported by the documents.")
    assert await ask(["hm", "hm"], "") == [
        "No answer was found.",
        ended % "the planner made no progress",
    ]
    assert (await ask(["[SUBQ] x", SECOND], "Mira Lund"))[-1] == ended % "the hop limit was reached"


def test_the_tool_works_in_sync_agents_that_keep_what_they_do(tmp_path: Path) -> None:
    path = str(tmp_path / "agent.sqlite")
    extractor = MappingExtractor(TRIPLES)
    context = Context(top_k=1, max_hops=1)
    tool = as_tool(build(world(extractor=extractor)), context=context)
    with SqliteSaver.from_conn_string(path) as saver, SqliteStore.from_conn_string(path) as store:
        store.setup()
        agent = create_agent(calls(QUESTION), tools=[tool], checkpointer=saver, store=store)
        for _ in range(2):
            result = agent.invoke({"messages": [("user", "?")]}, THREAD)
            assert "Answer: " in result["messages"][-2].content
            assert len(result["messages"][-2].artifact["hops"]) == context.max_hops
    assert extractor.calls == [["Aurora Bridge"]]


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


def test_an_interrupt_beside_an_event_loop_ends_the_call(tmp_path: Path) -> None:
    """As a notebook's, which interrupts the thread that waits."""
    cancelled = threading.Event()

    class Slow(ScriptedPlanner):
        async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
            try:
                await asyncio.sleep(0.5)  # As a person's, it comes when the caller waits.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return await super().plan(requests)

    with SqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        app = build(world(planner=Slow([])), checkpointer=saver)

        async def cell() -> Any:
            return app.invoke({"question": QUESTION}, THREAD)

        loop = asyncio.new_event_loop()
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
        loop.close()
        assert cancelled.wait(10)


@pytest.mark.parametrize(
    ("question", "said"),
    [(" ", "The question is empty"), ("?" * 20_001, "at most 20000 are taken")],
)
async def test_an_unusable_question_is_told_to_the_agent_and_does_not_end_it(
    saver: Any, question: str, said: str
) -> None:
    agent = create_agent(calls(question), tools=[as_tool(build(world()))], checkpointer=saver)
    result = await agent.ainvoke({"messages": [("user", "?")]}, THREAD)
    assert said in result["messages"][2].content
    assert result["messages"][-1].content == "In Narvik."


async def test_a_tool_of_a_graph_that_keeps_its_runs_needs_no_thread(saver: Any) -> None:
    plans = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]
    graph = build(world(plans * 2), checkpointer=saver)
    agent = create_agent(calls(QUESTION), tools=[as_tool(graph)])
    result = await agent.ainvoke({"messages": [("user", "?")]})
    assert result["messages"][2].content.startswith("Answer: Narvik")
    assert (await as_tool(graph).ainvoke({"question": QUESTION})).startswith("Answer: Narvik")
    threads = {kept.config["configurable"]["thread_id"] async for kept in saver.alist(None)}
    assert len(threads) == 2


async def test_an_agent_with_a_memory_asks_several_questions_at_once_and_again(saver: Any) -> None:
    parts = world(answerer=ScriptedAnswerer(lambda request: request.question))
    agent = create_agent(
        calls(QUESTION, "Who was born in Narvik?"),
        tools=[as_tool(build(parts), context=Context(top_k=1, max_hops=0))],
        checkpointer=saver,
    )
    for _ in range(2):
        result = await agent.ainvoke({"messages": [("user", "?")]}, THREAD)
        first, second, last = result["messages"][-3:]
        assert first.content.startswith(f"Answer: {QUESTION}")
        assert second.content.startswith("Answer: Who was born in Narvik?")
        assert last.content == "In Narvik."


async def test_the_tool_follows_its_own_context_then_the_agents() -> None:
    for own, hops in ((None, 2), (Context(max_hops=1), 1)):
        agent = create_agent(
            calls(QUESTION),
            tools=[as_tool(build(world(["[SUBQ] x", SECOND, "[SUBQ] y"])), context=own)],
            context_schema=ParentContext,
        )
        context = ParentContext(tone="calm", ras_flow=Context(max_hops=2))
        result = await agent.ainvoke({"messages": [("user", "?")]}, context=context)
        assert len(result["messages"][2].artifact["hops"]) == hops


async def test_an_agents_limit_of_its_own_steps_does_not_end_a_search(saver: Any) -> None:
    def agent(**compiled: Any) -> Any:
        tool = as_tool(build(world()), context=Context(top_k=1))
        return create_agent(calls(QUESTION), tools=[tool], **compiled)

    asked: Any = {"messages": [("user", "?")]}
    few: Any = {"recursion_limit": 5}
    kept = await agent(checkpointer=saver).ainvoke(asked, THREAD | few)
    for result in (kept, agent().invoke(asked, few)):
        assert "Answer: Narvik" in result["messages"][2].content


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
