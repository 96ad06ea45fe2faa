"""Replay, edit, fork, and several questions on one thread."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from examples.replay_and_fork import fork_without
from ras_flow import Context, Runs
from ras_flow.errors import ConfigurationError, IndexMissingError, InputError
from ras_flow.state.kg import triple_id
from tests.graph.world import DOCUMENTS, QUESTION, build, world

TOP1 = Context(top_k=1)
THREAD: Any = {"configurable": {"thread_id": "t"}}


async def answered(saver: Any) -> Any:
    graph = build(world(), checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    return build(world([]), checkpointer=saver)


async def history(graph: Any) -> list[Any]:
    return [step async for step in graph.aget_state_history(THREAD)][::-1]


@pytest.mark.every_checkpointer
async def test_every_step_holds_what_was_known_then(saver: Any) -> None:
    steps = await history(await answered(saver))
    seen = [(step.next, len(step.values.get("triples", {}))) for step in steps]
    assert [names[0] if names else "" for names, _ in seen] == [
        *("__start__", "start", "plan", "retrieve", "to_triples", "merge_graph"),
        *("plan", "retrieve", "to_triples", "merge_graph", "plan", "answer", ""),
    ]
    assert [count for _, count in seen] == [0] * 6 + [2] * 4 + [4] * 3


@pytest.mark.every_checkpointer
async def test_a_dropped_triple_changes_the_answer_and_history_keeps_both(saver: Any) -> None:
    graph = await answered(saver)
    before = await history(graph)
    birth = triple_id("Mira Lund", "place of birth", "Narvik")
    forked = await fork_without(graph, THREAD, birth, TOP1)
    assert forked["answer"] == "elsewhere"
    assert birth not in forked["triples"]
    answers = [step.values.get("answer") for step in await history(graph)]
    assert "Narvik" in answers and "elsewhere" in answers
    old = await graph.aget_state(before[-1].config)
    assert birth in old.values["triples"]


@pytest.mark.parametrize("passages", [None, [], ["a person's own note"]])
async def test_an_added_or_edited_triple_is_used(saver: Any, passages: list[str] | None) -> None:
    graph = await answered(saver)
    at_answer = next(step for step in await history(graph) if step.next == ("answer",))
    birth = triple_id("Mira Lund", "place of birth", "Narvik")
    moved = {**at_answer.values["triples"][birth], "object": "Harstad"}
    update = {birth: moved}  # Edited under its id.
    if passages is not None:
        added = {**moved, "passages": passages}
        update = {birth: None, triple_id("Mira Lund", "place of birth", "Harstad"): added}
    fork = await graph.aupdate_state(at_answer.config, {"triples": update})
    result = await graph.ainvoke(None, fork, context=TOP1)
    assert result["answer"] == "Harstad"
    assert {id: result["triples"].get(id) for id in update} == update


@pytest.mark.parametrize(
    ("edit", "found"),
    [({"subquery": "Harbour Bridge"}, "Leo Fahr"), ({"label": "SUFFICIENT", "subquery": ""}, "")],
)
async def test_an_edited_plan_is_followed(saver: Any, edit: dict[str, str], found: str) -> None:
    graph = await answered(saver)
    second = [step for step in await history(graph) if step.next == ("retrieve",)][1]
    plan = {**second.values["plans"][-1], **edit}
    fork = await graph.aupdate_state(second.config, {"plans": [plan]}, as_node="plan")
    result = await graph.ainvoke(None, fork, context=TOP1)
    assert [hop["subquery"] for hop in result["hops"][1:]] == ["Harbour Bridge"] * bool(found)
    objects = {triple["object"] for triple in result["triples"].values()}
    assert objects == {"Mira Lund", "1961"} | ({found} if found else set())
    assert result["answer"] == "elsewhere"


@pytest.mark.every_checkpointer
async def test_a_second_question_on_the_thread_starts_with_an_empty_graph(saver: Any) -> None:
    graph = await answered(saver)
    await graph.aupdate_state(THREAD, {"warnings": ["of the first"]}, as_node="answer")
    parts = world(["[SUBQ] x"])
    graph = build(parts, checkpointer=saver)
    other = {"question": "Who designed Harbour Bridge?"}
    result = await graph.ainvoke(other, THREAD, context=TOP1)
    assert [hop["subquery"] for hop in result["hops"]] == list(other.values())
    assert {triple["object"] for triple in result["triples"].values()} == {"Leo Fahr"}
    assert parts["planner"].requests[0].chain == []
    alone: Any = {"configurable": {"thread_id": "alone"}}
    await build(world(["[SUBQ] x"]), checkpointer=saver).ainvoke(other, alone, context=TOP1)
    second, first = [(await graph.aget_state(thread)).values for thread in (THREAD, alone)]
    assert second.pop("usage").keys() == first.pop("usage").keys()
    assert second == first


async def test_documents_of_one_question_do_not_leak_into_the_next(saver: Any) -> None:
    graph = build(world(["[SUFFICIENT]"]), checkpointer=saver)
    await graph.ainvoke({"question": QUESTION, "documents": DOCUMENTS}, THREAD, context=TOP1)
    parts = world(["[NO_RETRIEVAL]"])
    result = await build(parts, checkpointer=saver).ainvoke({"question": QUESTION}, THREAD)
    assert (result["stop_reason"], result["hops"], result["triples"]) == ("no_retrieval", [], {})
    assert parts["answerer"].requests[0].chain == []


@pytest.mark.every_checkpointer
@pytest.mark.parametrize("update", [{"triples": {"x": None}}, {"warnings": []}])
async def test_an_edit_of_nothing_changes_nothing(saver: Any, update: Any) -> None:
    graph = await answered(saver)
    before = (await graph.aget_state(THREAD)).values
    await graph.aupdate_state(THREAD, update, as_node="answer")
    assert (await graph.aget_state(THREAD)).values == before


@pytest.mark.parametrize("role", ["planner", "extractor", "answerer"])
async def test_a_model_that_cannot_be_set_up_is_told_before_any_is_asked(
    saver: Any, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    parts, missing = world(), Context.from_mapping({"top_k": 1, role: "anthropic:x"})
    graph = build(parts | {role: None}, checkpointer=saver)
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        await graph.ainvoke({"question": QUESTION}, THREAD, context=missing)
    assert not parts["planner"].requests and not parts["retriever"].queries
    result = await build(parts, checkpointer=saver).ainvoke(None, THREAD, context=TOP1)
    assert result["answer"] == "Narvik"


@pytest.mark.parametrize("name", ["index", "encoder", "planner"])
async def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    graph = build(world() | dict.fromkeys(("retriever", "encoder", "planner")))
    settings = {"index": "demo", name: "local:" * (name == "planner") + "x" * 3_000}
    with pytest.raises(ConfigurationError, match=r"The path 'x{200}' cannot be used"):
        await graph.ainvoke({"question": QUESTION}, context=Context.from_mapping(settings))


async def test_an_index_that_is_missing_is_told_before_any_model_is_asked(saver: Any) -> None:
    parts, nowhere = world(), {"top_k": 1, "index": "nowhere", "retriever": "bm25"}
    graph = build(parts | {"retriever": None}, checkpointer=saver)
    with pytest.raises(IndexMissingError, match="no index at nowhere"):
        await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(**nowhere))
    assert not parts["planner"].requests
    result = await build(parts, checkpointer=saver).ainvoke(None, THREAD, context=TOP1)
    assert result["answer"] == "Narvik"
    never = Context(**nowhere, max_hops=1)
    given = {"question": QUESTION, "documents": DOCUMENTS}
    assert (await graph.ainvoke(given, THREAD, context=never))["answer"] == "Narvik"


@pytest.mark.every_checkpointer
async def test_an_update_that_was_refused_hides_no_other_run_and_can_be_undone(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    for thread in ("t", "other"):
        config: Any = {"configurable": {"thread_id": thread}}
        await build(world(), checkpointer=saver).ainvoke(
            {"question": QUESTION}, config, context=TOP1
        )
    with pytest.raises(InputError, match="takes a list"):
        await graph.ainvoke(Command(update={"hops": 7}), THREAD)
    runs = Runs(graph)
    assert {(run.id, run.answer) for run in await runs.recent()} == {("t", ""), ("other", "Narvik")}
    await graph.aupdate_state(THREAD, None, as_node="__copy__")
    again = await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    assert again["answer"] == "Narvik"
    with pytest.raises(InputError, match="takes a list"):
        await graph.ainvoke(Command(update={"hops": 7}), THREAD)
    await runs.delete(["t"])
    assert [run.id for run in await runs.recent()] == ["other"]


@pytest.mark.parametrize("node", ["plan", "retrieve", "to_triples", "merge_graph", "answer"])
async def test_a_state_whose_older_steps_were_pruned_is_refused(node: str) -> None:
    """Each checkpoint holds only what its step changed."""
    saver = InMemorySaver()
    graph = build(world(), checkpointer=saver, interrupt_before=[node])
    await graph.ainvoke({"question": QUESTION}, THREAD)
    if node != "answer":
        await graph.ainvoke(None, THREAD)  # To the second hop.
    kept = saver.storage["t"][""]
    for checkpoint in sorted(kept)[:-1]:
        del kept[checkpoint]
    with pytest.raises(InputError):
        await build(world(), checkpointer=saver).ainvoke(None, THREAD)
    again = await build(world(), checkpointer=saver).ainvoke({"question": QUESTION}, THREAD)
    assert again["answer"] == "Narvik"
