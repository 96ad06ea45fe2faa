"""One call a hop: what is kept of it when a run is killed, edited, or looked at."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ras_flow.errors import ModelUnavailableError
from ras_flow.runs import Runs
from ras_flow.runs.why import explain
from ras_flow.state.kg import triple_id
from tests.graph.one_call import (
    SECOND,
    THREAD,
    TOP1,
    after,
    asked,
    compiled,
    usual,
)
from tests.graph.world import QUESTION
from tests.runs.stories import branch, events


async def test_a_killed_hop_is_not_paid_for_again(saver: Any) -> None:
    graph, model, _ = compiled(checkpointer=saver)
    await graph.ainvoke(
        {"question": QUESTION}, THREAD, context=TOP1, interrupt_after=["to_triples"]
    )
    result = await graph.ainvoke(None, THREAD, interrupt_before=["retrieve"])
    assert len(model.prompts) == 1
    result = await graph.ainvoke(None, THREAD)
    assert result["answer"] == "Narvik" and len(model.prompts) == 2


async def test_a_failed_call_fails_the_run_which_goes_on_where_it_was(saver: Any) -> None:
    broken = True

    def reply(text: str) -> str:
        if broken and SECOND in text:
            raise ModelUnavailableError("down")
        return usual(text)

    graph, model, _ = compiled(reply, checkpointer=saver)
    with pytest.raises(ModelUnavailableError):
        await graph.ainvoke({"question": QUESTION}, THREAD, context=TOP1)
    broken = False
    assert (await graph.ainvoke(None, THREAD))["answer"] == "Narvik"


DESIGNED = triple_id("Aurora Bridge", "designed by", "Mira Lund")
BORN = triple_id("Mira Lund", "born in", "Narvik")
OSLO = {"op": "add_triple", "subject": "Mira Lund", "predicate": "born in", "object": "Oslo"}


@pytest.mark.parametrize(
    ("step", "edit", "answer"),
    [
        ("merge_graph:0", {"op": "drop_triple", "triple": DESIGNED}, "asked anew"),
        ("merge_graph:1", {"op": "drop_triple", "triple": BORN}, "asked anew"),
        ("plan:2", {"op": "drop_triple", "triple": BORN}, "asked anew"),
        ("merge_graph:0", OSLO, "Oslo"),
    ],
)
async def test_an_edited_graph_has_the_next_step_asked_anew(
    saver: Any, step: str, edit: Any, answer: str
) -> None:
    def reply(text: str) -> str:
        if (
            re.search(r"^\d \[", text.rpartition("Search: ")[2], re.MULTILINE)
            and "again" not in text
        ):
            return usual(text)
        return "[ANSWER] Oslo" if "Oslo" in text else "[ANSWER] asked anew"

    graph, model, _ = compiled(reply, checkpointer=saver)
    runs = Runs(graph)
    await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    await events(runs.fork("a", after(await runs.document("a"), step), [edit]))
    document = await runs.document("a")
    assert [branch(document, number)["answer"] for number in (1, 2)] == ["Narvik", answer]
    assert len(model.prompts) == 3


async def test_an_edited_plan_is_followed(saver: Any) -> None:
    graph, model, retriever = compiled(checkpointer=saver)
    runs = Runs(graph)
    await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    edit: Any = {"op": "subquery", "text": "Where is Narvik?"}
    await events(runs.fork("a", after(await runs.document("a"), "plan:1"), [edit]))
    assert "Where is Narvik?" in retriever.queries and "Where is Narvik?" in asked(model)[2]


async def test_why_shows_the_sentence_under_each_cited_fact(saver: Any) -> None:
    runs = Runs(compiled(checkpointer=saver)[0])
    await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    why = explain(await runs.document("a"))
    sentences = [
        source["sentence"] for fact in why["triples"].values() for source in fact["sources"]
    ]
    assert sentences == [
        "The Aurora Bridge was designed by Mira Lund in 1961.",
        "She was born in Narvik.",
    ]
