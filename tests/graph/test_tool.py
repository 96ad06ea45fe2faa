"""As a tool of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command
from pydantic import ValidationError

from ras_flow import Context, as_tool, build_graph
from ras_flow.errors import ConfigurationError
from ras_flow.testing import MappingExtractor, ScriptedAnswerer
from ras_flow.tool import describe
from tests.graph.world import QUESTION, SECOND, TRIPLES, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}


@dataclass
class ParentContext:
    tone: str
    ras_flow: Any = None


async def test_as_a_tool_it_gives_the_answer_its_facts_and_the_whole_result_as_an_artifact() -> (
    None
):
    tool = as_tool(build(world()), context={"top_k": 1})
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


async def test_a_fact_that_a_person_added_is_said_to_be_stated_by_no_passage(saver: Any) -> None:
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
    assert await ask(["[SUBQ] x", "[SUFFICIENT]"], "unknown") == [
        "Answer: The documents do not say.",
        'The run found no answer. The model wrote "unknown".',
    ]
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
    with pytest.raises(ValidationError, match=said):
        await as_tool(build(world())).ainvoke({"question": question})


def test_a_graph_that_is_not_compiled_is_refused() -> None:
    for graph in ("", build_graph()):
        with pytest.raises(ConfigurationError, match="compile"):
            as_tool(graph)


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
