"""extractor="none": planner and answerer read the passages' text."""

from __future__ import annotations

from typing import Any

from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.formats.history import format_history
from ras_flow.parts import AnswerRequest
from ras_flow.runs import Runs
from ras_flow.testing import ScriptedAnswerer
from ras_flow.tool import describe
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, ScriptedPlanner, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
NONE = Context(extractor="none", top_k=1)


def read_text(request: AnswerRequest) -> str:
    history = format_history(request.question, request.chain).text
    return "Narvik" if "She was born in Narvik." in history else "elsewhere"


def parts(**changes: Any) -> dict[str, Any]:
    return world(extractor=None, answerer=ScriptedAnswerer(read_text)) | changes


async def test_a_two_hop_question_is_answered_from_passages(saver: Any) -> None:
    planner = ScriptedPlanner(["[SUBQ] x", SECOND])
    store = InMemoryStore()
    graph = build(parts(planner=planner), checkpointer=saver, store=store)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=NONE)
    assert result["answer"] == "Narvik"
    assert result["triples"] == {}
    assert [u["calls"] for u in result["usage"].values() if u["role"] == "extractor"] == [0, 0]
    cited = result["citations"]
    assert [(one["triple"], one["title"]) for one in cited] == [
        ("", "Aurora Bridge"),
        ("", "Mira Lund"),
    ]
    seen = [[p["title"] for link in r.chain for p in link.passages] for r in planner.requests]
    assert seen == [[], ["Aurora Bridge"], ["Aurora Bridge", "Mira Lund"]]
    stored = await graph.aget_state(THREAD)
    assert {key: stored.values[key] for key in result} == result
    assert store.search(("ras_flow",)) == [], "nothing was extracted: nothing is kept"
    assert describe(result).splitlines() == [
        "Answer: Narvik",
        "- The Aurora Bridge was designed by Mira Lund in 1961. [Aurora Bridge]",
        "- She was born in Narvik. [Mira Lund]",
    ]
    document = await Runs(graph).document("t")
    assert document["branches"][-1]["citations"] == cited


async def test_given_documents_are_read_as_text() -> None:
    given = [{"title": "Mira Lund", "text": DOCUMENTS[1]["text"]}]
    context = Context(extractor="none", planning="static")
    result = await build(parts()).ainvoke(
        {"question": QUESTION, "documents": given}, context=context
    )
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "static")
    assert result["citations"][0]["passages"] == list(result["passages"])
