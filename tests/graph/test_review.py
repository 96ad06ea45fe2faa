"""People in the loop: where a run waits, what it asks, and what each answer does."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import TypeAdapter

from ras_flow import Context, as_tool
from ras_flow.errors import ConfigurationError
from ras_flow.events import Event
from ras_flow.state.kg import triple_id
from ras_flow.testing import HashEncoder, ScriptedAnswerer, ScriptedPlanner
from tests.graph.test_composition import ParentContext, parent
from tests.graph.test_tool import calls
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, build, read_birthplace, world
from tests.servers.openai_server import OpenAIServer
from tests.servers.scripted import Answer

THREAD: Any = {"configurable": {"thread_id": "t"}}
BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
BEFORE_RETRIEVAL = {"top_k": 1, "pause_before_retrieval": True}
AFTER_MERGE = {"top_k": 1, "pause_after_merge": True}
BEFORE_ANSWER = {"top_k": 1, "pause_before_answer": True}
EVERYWHERE = BEFORE_RETRIEVAL | AFTER_MERGE | BEFORE_ANSWER
GRAPH_EDITS = ["drop_triple", "add_triple", "drop_passage", "model"]
APPROVED: dict[str, Any] = {"edits": []}


def asked(result: dict[str, Any]) -> Any:
    """What a person is asked; None when the run is over."""
    interrupts = result.get("__interrupt__")
    return interrupts[0].value if interrupts else None


def ask(graph: Any, settings: dict[str, Any], **more: Any) -> Any:
    return graph.ainvoke({"question": QUESTION, "settings": settings, **more}, THREAD)


def reply(graph: Any, *edits: Any) -> Any:
    return graph.ainvoke(Command(resume={"edits": list(edits)}), THREAD)


async def to_point(graph: Any, result: dict[str, Any], point: str, hop: int) -> dict[str, Any]:
    """Approve everything up to a point."""
    while (request := asked(result)) and (request["point"], request["hop"]) != (point, hop):
        result = await reply(graph)
    assert request, f"the run never waited at {point}:{hop}"
    return result


async def test_a_run_waits_wherever_it_is_told_to_and_approval_changes_nothing(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    result = await ask(graph, EVERYWHERE)
    seen = []
    while request := asked(result):
        seen.append(
            (request["point"], request["hop"], request["subquery"], len(request["triples"]))
        )
        result = await reply(graph)
    second = "Where was Mira Lund born?"
    assert seen == [
        ("before_retrieval", 0, QUESTION, 0),
        ("after_merge", 0, QUESTION, 2),
        ("before_retrieval", 1, second, 2),
        ("after_merge", 1, second, 4),
        ("before_answer", 2, "", 4),
    ]
    plain = await build(world()).ainvoke({"question": QUESTION}, context=Context(top_k=1))
    for of in (plain, result):
        for use in of["usage"].values():
            use["seconds"] = 0
    assert result == plain


async def test_what_a_person_is_asked(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    result = await to_point(graph, await ask(graph, AFTER_MERGE), "after_merge", 1)
    request = asked(result)
    stored = await graph.aget_state(THREAD)
    assert request == {
        "type": "review",
        "point": "after_merge",
        "hop": 1,
        "question": QUESTION,
        "subquery": "Where was Mira Lund born?",
        "triples": stored.values["triples"],
        "passages": list(stored.values["passages"]),
        "allowed": GRAPH_EDITS,
    }
    assert stored.next == ("review_graph",)


async def test_a_dropped_passage_is_not_found_again(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    result = await ask(graph, AFTER_MERGE | {"top_k": 2})
    about_lund = asked(result)["triples"][BIRTH]["passages"][0]
    await reply(graph, {"op": "drop_passage", "passage": about_lund})
    result = await reply(graph)
    assert result["answer"] == "elsewhere"
    assert about_lund not in result["passages"] and BIRTH not in result["triples"]
    # Another takes its place.
    assert [len(hop["passages"]) for hop in result["hops"]] == [1, 2]
    again = build(world(), checkpointer=saver)
    result = await again.ainvoke({"question": QUESTION, "settings": {"top_k": 2}}, THREAD)
    assert result["answer"] == "Narvik", "a question knows nothing of the one before"


async def test_a_subquery_before_the_answer_sends_the_run_back_to_retrieval(saver: Any) -> None:
    parts = world(["[SUBQ] x", "[SUFFICIENT]"])
    graph = build(parts, checkpointer=saver)
    result = await ask(graph, BEFORE_ANSWER)
    assert asked(result)["allowed"] == [*GRAPH_EDITS, "subquery"]
    result = await reply(graph, {"op": "subquery", "text": "Where was Mira Lund born?"})
    assert asked(result)["hop"] == 2
    result = await reply(graph)
    assert result["answer"] == "Narvik"
    assert parts["retriever"].queries == [QUESTION, "Where was Mira Lund born?"]


@pytest.mark.parametrize("limit", [{"max_hops": 1}, {"max_tokens": 1}])
async def test_no_subquery_is_taken_where_the_limits_leave_no_retrieval(
    limit: dict[str, Any],
) -> None:
    graph = build(world(), checkpointer=InMemorySaver())
    result = await ask(graph, BEFORE_ANSWER | limit)
    assert asked(result)["allowed"] == GRAPH_EDITS
    result = await reply(graph, {"op": "subquery", "text": "Where was Mira Lund born?"})
    assert "subquery" in asked(result)["problem"]
    assert (await reply(graph))["answer"] == "elsewhere"


async def test_given_documents_are_reviewed_too(saver: Any) -> None:
    graph = build(world(["[SUFFICIENT]"]), checkpointer=saver)
    settings = AFTER_MERGE | BEFORE_ANSWER | {"planning": "static"}
    result = await ask(graph, settings, documents=DOCUMENTS)
    assert asked(result)["point"] == "after_merge"
    result = await reply(graph, {"op": "drop_triple", "triple": BIRTH})
    assert (asked(result)["point"], asked(result)["allowed"]) == ("before_answer", GRAPH_EDITS)
    result = await reply(graph)
    assert (result["answer"], result["stop_reason"]) == ("elsewhere", "static")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("yes", '{"edits"'),
        ([], '{"edits"'),
        ({"edit": []}, '{"edits"'),
        ({"edits": None}, "list"),
        ({"edits": [{"op": "subquery", "text": "x"}]}, "subquery"),
        ({"edits": [{"op": "drop_triple", "triple": BIRTH}] * 2}, "Edit 2"),
        ({"edits": [{"op": "model", "role": "planner", "name": "openai:x"}]}, "an object"),
    ],
)
async def test_a_bad_answer_asks_again_and_says_why(saver: Any, bad: Any, reason: str) -> None:
    graph = build(world(), checkpointer=saver)
    result = await to_point(graph, await ask(graph, AFTER_MERGE), "after_merge", 1)
    first = asked(result)
    again = asked(await graph.ainvoke(Command(resume=bad), THREAD))
    assert reason in again.pop("problem")
    assert again == first
    result = await reply(graph, {"op": "drop_triple", "triple": BIRTH})
    assert result["answer"] == "elsewhere"


async def test_an_empty_object_approves(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    result = await ask(graph, BEFORE_ANSWER)
    [waiting] = result["__interrupt__"]
    # LangGraph takes a bare {} for answers to no interrupt at all: the run goes on waiting.
    assert asked(await graph.ainvoke(Command(resume={}), THREAD)) == waiting.value
    result = await graph.ainvoke(Command(resume={waiting.id: {}}), THREAD)
    assert result["answer"] == "Narvik"


async def test_a_model_named_by_a_person_leaves_the_other_settings_as_they_are(saver: Any) -> None:
    parts: Any = world(plans=["[SUBQ] x", SECOND, "[SUFFICIENT]"]) | {"answerer": None}
    graph = build(parts | {"defaults": Context(max_hops=1)}, checkpointer=saver)
    with OpenAIServer(lambda body: Answer(f"by {body['model']}")) as server:
        settings = {"answerer": "openai:one", "base_url": server.url, "max_hops": 5}
        await graph.ainvoke(
            {"question": QUESTION}, THREAD, context=Context(**settings, pause_before_retrieval=True)
        )
        result = await reply(graph, {"op": "model", "role": "answerer", "name": "openai:two"})
        result = await reply(graph)
    assert (len(result["hops"]), result["answer"]) == (2, "by two")


async def test_a_model_that_cannot_be_set_up_is_replaced_by_a_person(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
    with OpenAIServer(lambda body: Answer(f"by {body['model']}")) as server:
        context = Context(
            max_hops=1,
            pause_before_retrieval=True,
            pause_after_merge=True,
            answerer="nobody:x",
            base_url=server.url,
        )
        graph = build(world(), checkpointer=saver)
        await graph.ainvoke({"question": QUESTION}, THREAD, context=context)
        graph = build(world(answerer=None), checkpointer=saver)
        result = await graph.ainvoke(Command(resume=APPROVED), THREAD, context=context)
        assert asked(result)["point"] == "after_merge"
        edit = {"op": "model", "role": "answerer", "name": "openai:two"}
        result = await graph.ainvoke(Command(resume={"edits": [edit]}), THREAD, context=context)
    assert result["answer"] == "by two"


async def test_a_model_named_by_a_person_holds_over_a_context_that_is_passed_again(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
    with OpenAIServer(lambda body: Answer(f"by {body['model']}")) as server:
        context = Context(
            top_k=1, pause_before_answer=True, answerer="openai:one", base_url=server.url
        )
        graph = build(world(answerer=None), checkpointer=saver)
        await graph.ainvoke({"question": QUESTION}, THREAD, context=context)
        for name, reason in {"gpt": "provider:model", "nobody:x": "nobody"}.items():
            edit = {"op": "model", "role": "answerer", "name": name}
            result = await graph.ainvoke(Command(resume={"edits": [edit]}), THREAD, context=context)
            assert reason in asked(result)["problem"]
        edit = {"op": "model", "role": "answerer", "name": "openai:two"}
        result = await graph.ainvoke(Command(resume={"edits": [edit]}), THREAD, context=context)
        assert result["answer"] == "by two"
        graph = build(world([], answerer=None), checkpointer=saver)
        await graph.ainvoke({"question": "Another?"}, THREAD, context=context)
        result = await graph.ainvoke(Command(resume=APPROVED), THREAD, context=context)
        assert result["answer"] == "by one"
        kept = (await graph.aget_state(THREAD)).values["context"]
        assert kept["answerer"] == "openai:one"


async def test_an_edited_graph_is_what_planner_and_answerer_see_and_is_encoded_anew(
    saver: Any,
) -> None:
    parts = world(
        planner=ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=True),
        answerer=ScriptedAnswerer(read_birthplace, takes_soft_tokens=True),
        encoder=HashEncoder(),
    )
    graph = build(parts, checkpointer=saver)
    result = await to_point(graph, await ask(graph, EVERYWHERE), "after_merge", 1)
    harstad = {"subject": "Mira Lund", "predicate": "place of birth", "object": "Harstad"}
    await reply(graph, {"op": "drop_triple", "triple": BIRTH}, {"op": "add_triple", **harstad})
    assert "Harstad" in parts["planner"].requests[-1].graph.nodes
    dropped = triple_id("Mira Lund", "occupation", "engineer")
    result = await reply(graph, {"op": "drop_triple", "triple": dropped})
    assert result["answer"] == "Harstad"
    seen = parts["planner"].requests[-1].chain[-1].triples
    assert [triple["object"] for triple in seen] == ["engineer", "Harstad"]
    nodes = parts["answerer"].requests[0].graph.nodes
    assert "Harstad" in nodes and "Narvik" not in nodes and "engineer" not in nodes


async def test_the_stream_says_once_that_the_run_waits(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    typed: TypeAdapter[Event] = TypeAdapter(Event)

    async def events(given: Any) -> list[Any]:
        found = [event async for event in graph.astream(given, THREAD, stream_mode="custom")]
        assert [typed.validate_python(event, strict=True) for event in found] == found
        return found

    first = await events({"question": QUESTION, "settings": BEFORE_RETRIEVAL})
    assert [event["type"] for event in first] == ["start", "plan", "review"]
    assert first[-1] == asked_of(await graph.aget_state(THREAD))
    [again] = await events(Command(resume="yes"))
    assert again["type"] == "review" and again["problem"]
    on = await events(Command(resume=APPROVED))
    hop = ["passages", "extracted", "graph"]
    assert [event["type"] for event in on] == [*hop, "plan", "review"]
    assert [event["type"] for event in await events(Command(resume=APPROVED))] == [
        *hop,
        "plan",
        "answer",
    ]


def asked_of(snapshot: Any) -> Any:
    return snapshot.tasks[0].interrupts[0].value


async def test_waiting_for_a_person_costs_no_working_time(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0
    monkeypatch.setattr("ras_flow.state.usage.perf_counter", lambda: clock)
    graph = build(world(), checkpointer=saver)
    result = await ask(graph, EVERYWHERE | {"max_seconds": 1.0})
    while asked(result):
        clock += 2
        result = await reply(graph)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")


async def test_a_review_in_a_subgraph_is_answered_through_its_parent(saver: Any) -> None:
    parts = world()
    graph = parent(parts, checkpointer=saver)
    context = ParentContext(tone="calm", ras_flow=AFTER_MERGE)
    dropped = {"edits": [{"op": "drop_triple", "triple": BIRTH}]}
    told: list[Any] = []
    answers = (APPROVED, "yes", dropped)
    for given in ({"question": QUESTION}, *(Command(resume=answer) for answer in answers)):
        result = await graph.ainvoke(given, THREAD, context=context)
        told.append((request := asked(result)) and (request["hop"], "problem" in request))
    assert told == [(0, False), (1, False), (1, True), None]
    assert result["report"] == "calm: elsewhere"
    assert len(parts["planner"].requests) == 3


async def test_a_review_inside_an_agents_tool_is_answered_through_the_agent(saver: Any) -> None:
    tool = as_tool(build(world()), context=Context(top_k=1, pause_before_answer=True))
    agent: Any = create_agent(calls(QUESTION), tools=[tool], checkpointer=saver)
    result = await agent.ainvoke({"messages": [("user", QUESTION)]}, THREAD)
    assert asked(result)["point"] == "before_answer"
    result = await reply(agent, {"op": "drop_triple", "triple": BIRTH})
    assert "Answer: elsewhere" in result["messages"][2].content
    assert result["messages"][-1].content == "In Narvik."


@pytest.mark.parametrize("name", ["pause_before_retrieval", "pause_before_answer"])
@pytest.mark.parametrize("config", [None, THREAD])
async def test_a_run_that_nothing_keeps_is_refused_before_any_work(name: str, config: Any) -> None:
    parts = world()
    with pytest.raises(ConfigurationError, match="checkpointer"):
        await build(parts).ainvoke({"question": QUESTION, "settings": {name: True}}, config)
    assert parts["planner"].requests == []


async def test_a_replay_from_before_a_review_asks_again_and_keeps_both_branches(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    await ask(graph, BEFORE_ANSWER)
    assert (await reply(graph))["answer"] == "Narvik"
    steps = [step async for step in graph.aget_state_history(THREAD)]
    waiting = next(step for step in steps if step.next == ("review_answer",))
    result = await graph.ainvoke(None, waiting.config)
    assert asked(result)["point"] == "before_answer"
    assert (await reply(graph, {"op": "drop_triple", "triple": BIRTH}))["answer"] == "elsewhere"
    answers = [step.values.get("answer") async for step in graph.aget_state_history(THREAD)]
    assert "Narvik" in answers and "elsewhere" in answers
