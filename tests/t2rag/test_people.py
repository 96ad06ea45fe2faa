"""Runs of T²RAG that are kept: reviews, edits of slots, forks, resumed runs, parents, size."""

from __future__ import annotations

from io import BytesIO
from typing import Any, TypedDict

import networkx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from ras_flow import Runs, as_tool
from ras_flow.errors import EditError
from ras_flow.runs.export.graphml import to_graphml
from ras_flow.runs.export.rdf import to_turtle
from ras_flow.t2rag.settings import T2Context
from ras_flow.testing import ScriptedModel
from tests.graph import world as ras
from tests.runs.stories import before, branch, events, told
from tests.t2rag.world import CLUES, QUESTION, ROUNDS, build, read, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = T2Context(**ROUNDS)
FORK = [{"op": "fill", "slot": "director_a", "value": "Eva Lund"}]


def asked(result: Any) -> Any:
    interrupts = result.get("__interrupt__")
    return interrupts[0].value if interrupts else None


def reply(graph: Any, *edits: Any) -> Any:
    return graph.ainvoke(Command(resume={"edits": list(edits)}), THREAD)


@pytest.fixture
async def kept() -> tuple[Runs, dict[str, Any]]:
    """Runs with one whole run "a", and the parts that made it."""
    parts = world()
    runs = Runs(build(parts, checkpointer=InMemorySaver()))
    await events(runs.start({"question": QUESTION}, SETTINGS, run_id="a"))
    return runs, parts


async def test_a_person_reviews_clues_rounds_and_answer() -> None:
    graph = build(world(), checkpointer=InMemorySaver())
    pauses = {
        "pause_before_retrieval": True,
        "pause_after_merge": True,
        "pause_before_answer": True,
    }
    result = await graph.ainvoke({"question": QUESTION, "settings": ROUNDS | pauses}, THREAD)
    seen = []
    while request := asked(result):
        seen.append((request["point"], request["hop"], len(request["fills"])))
        if request["point"] == "before_retrieval":
            assert request["subquery"].count("\n") == 1
        result = await reply(graph)
    assert seen == [
        ("before_retrieval", 0, 0),
        ("after_merge", 0, 2),
        ("after_merge", 1, 4),
        ("before_answer", 2, 4),
    ]
    assert result["answer"] == "Northern Light"


async def test_an_edit_that_makes_no_sense_is_asked_for_again() -> None:
    parts = world()
    graph = build(parts, checkpointer=InMemorySaver())
    paused = ROUNDS | {"pause_after_merge": True}
    result = await graph.ainvoke({"question": QUESTION, "settings": paused}, THREAD)
    for edit in (
        {"op": "fill", "slot": "?composer", "value": "Eva Lund"},
        {"op": "fill", "slot": "?director_a", "value": "?director_a"},
        {"op": "fill", "slot": "?director_a", "value": " "},
        {"op": "choose", "slot": "?director_a", "value": "Eva Lund"},
        {"op": "unfill", "slot": "?birth_a"},
        {"op": "add_clue", "subject": "?", "predicate": "?", "object": "?"},
        {"op": "drop_clue", "clue": "none"},
        {"op": "subquery", "text": "Who?"},
    ):
        result = await reply(graph, edit)
        assert "problem" in asked(result), edit
    assert (
        "?director_b"
        in asked(await reply(graph, {"op": "fill", "slot": "x", "value": "y"}))["problem"]
    )
    await reply(graph, *FORK)
    assert parts["triple_retriever"].queries[-1] == ["Eva Lund born in", "Per Holm born in"]


async def test_a_fork_that_fills_a_slot_searches_with_the_value(kept: Any) -> None:
    runs, parts = kept
    document = await runs.document("a")
    whole = told(document)
    assert whole == [
        *("question", "start", "decompose:0", "retrieve:0", "resolve:0"),
        *("retrieve:1", "resolve:1", "answer"),
    ]
    old = branch(document, 1)
    first = next(s["checkpoint"] for s in document["steps"].values() if s["next"] == ["resolve"])
    told_of = await events(runs.fork("a", first, FORK))
    assert parts["triple_retriever"].queries[-1] == ["Eva Lund born in", "Per Holm born in"]
    assert told_of[-1]["answer"] == "Salt Road"
    document = await runs.document("a")
    assert branch(document, 1) == old and branch(document, 2)["forked_from"]


async def test_what_was_found_under_another_value_no_longer_holds(kept: Any) -> None:
    runs, parts = kept
    searches = len(parts["triple_retriever"].queries)
    last = before(await runs.document("a"), "answer")
    told_of = await events(runs.fork("a", last, FORK))
    assert parts["triple_retriever"].queries[searches:] == [["Eva Lund born in"]]
    fills = [one for event in told_of if event["type"] == "fills" for one in event["fills"]]
    assert [(one["slot"], one["value"], one["chosen"]) for one in fills] == [
        ("?birth_a", "1950", True)
    ]
    assert told_of[-1]["answer"] == "Salt Road"
    # Chosen again, the first value brings back what was found under it, without a search.
    last = before(await runs.document("a"), "answer", 2)
    chosen = [{"op": "choose", "slot": "?director_a", "value": "aino laine"}]
    told_of = await events(runs.fork("a", last, chosen))
    assert [event["type"] for event in told_of] == ["forked", "answer"]
    assert told_of[-1]["answer"] == "Northern Light"


async def test_clues_and_passages_are_taken_out_with_what_rests_on_them(kept: Any) -> None:
    runs, parts = kept
    document = await runs.document("a")
    state = (await runs.get("a")).state
    passage = next(id for id, one in state["passages"].items() if one["title"] == "Aino Laine")
    clue = next(id for id, one in state["clues"].items() if one["object"] == "?birth_b")  # type: ignore[typeddict-item]
    edits = [
        {"op": "drop_passage", "passage": passage},
        {"op": "drop_clue", "clue": clue},
        {"op": "add_clue", "subject": "Eva Lund", "predicate": "born in", "object": "?"},
    ]
    await events(runs.fork("a", before(document, "answer"), edits))
    assert parts["triple_retriever"].queries[-1] == ["Aino Laine born in", "Eva Lund born in"]
    after: Any = (await runs.get("a")).state
    values = {one["value"] for one in after["fills"].values()}
    assert "1942" not in values and "1950" in values and "1931" not in values
    half = [{**FORK[0], "value": "half \ud83d"}]
    for node, wrong in (("decompose", FORK), ("answer", half)):
        with pytest.raises(EditError):
            await events(runs.fork("a", before(document, node), wrong))


async def test_an_answer_that_came_with_the_last_slots_holds_until_an_edit() -> None:
    def reply(view: str) -> str:
        if view.startswith("Question: "):
            return CLUES
        return f"{read(view)}\nanswer = Northern Light" if "\nc1: " in view else "asked anew"

    model = ScriptedModel(reply)
    parts = world(planner=model, resolver=model, answerer=model)
    runs = Runs(build(parts, checkpointer=InMemorySaver()))
    told_of = await events(runs.start({"question": QUESTION}, SETTINGS, run_id="a"))
    # The first round's answer is none: clues were open.
    assert told_of[-1]["answer"] == "Northern Light" and len(model.prompts) == 3
    last = before(await runs.document("a"), "answer")
    assert (await events(runs.fork("a", last, [])))[-1]["answer"] == "Northern Light"
    edit = [{"op": "fill", "slot": "?birth_a", "value": "1999"}]
    assert (await events(runs.fork("a", last, edit)))[-1]["answer"] == "asked anew"
    assert len(model.prompts) == 4


async def test_exports_write_open_slots_as_variables(kept: Any) -> None:
    runs, _ = kept
    one = T2Context(**ROUNDS, max_hops=1)
    await events(runs.start({"question": QUESTION}, one, run_id="short"))
    document = await runs.document("short")
    drawn = networkx.read_graphml(BytesIO(to_graphml(document).encode()))
    nodes = drawn.nodes(data=True)
    variables = {node["label"]: at for at, node in nodes if node.get("variable")}
    assert set(variables) == {"?birth_a", "?birth_b"}
    asked = {nodes[at]["label"] for at, to in drawn.edges() if to in variables.values()}
    assert asked == {"Aino Laine", "Per Holm"}
    assert 'rdfs:label "?birth_a"' in to_turtle(document)
    assert branch(await runs.document("a"), 1)["open"] == []


class ParentState(TypedDict):
    question: str
    answer: str
    clues: dict[str, Any]


async def test_as_a_subgraph_and_as_a_tool() -> None:
    builder = StateGraph(ParentState)
    paused = T2Context(**ROUNDS, pause_after_merge=True)
    builder.add_node("t2rag", build(world(defaults=paused)))
    builder.add_node("ras", ras.build(ras.world()))
    builder.add_edge(START, "t2rag")
    builder.add_edge("t2rag", "ras")
    builder.add_edge("ras", END)
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    await graph.ainvoke(ParentState(question=QUESTION, answer="", clues={}), THREAD)
    refused = await reply(graph, {"op": "fill", "slot": "?composer", "value": "Eva Lund"})
    assert "?director_b" in asked(refused)["problem"]
    await reply(graph, *FORK)
    answers = []
    async for step in graph.astream(Command(resume={"edits": []}), THREAD):
        answers += [update["answer"] for update in step.values()]
    assert answers == ["Salt Road", "Narvik"]
    assert len((await graph.aget_state(THREAD)).values["clues"]) == 4
    tool = as_tool(build(world(defaults=SETTINGS), checkpointer=InMemorySaver()))
    call = {"name": tool.name, "args": {"question": QUESTION}, "id": "1", "type": "tool_call"}
    message = await tool.ainvoke(call)
    assert "Answer: Northern Light" in message.content and len(message.artifact["fills"]) == 4
