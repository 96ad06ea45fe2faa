"""answer_passages: the answerer reads the best passages of each hop beside the triples."""

from __future__ import annotations

from typing import Any

import pytest

from ras_flow import Context
from ras_flow.parts import AnswerRequest, Reading
from ras_flow.testing import ListRetriever, ScriptedAnswerer
from tests.graph.world import DOCUMENTS, QUESTION, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
FJORD = "Ofotfjord"
"""Said by a passage of the second hop and by no triple."""


def read_fjord(request: AnswerRequest) -> str:
    """Answer from the passages alone."""
    texts = [passage["text"] for link in request.chain for passage in link.passages]
    return FJORD if any(FJORD in text for text in texts) else "elsewhere"


def titles(request: Any) -> list[list[str]]:
    return [[passage["title"] for passage in link.passages] for link in request.chain]


def parts(**changes: Any) -> dict[str, Any]:
    return world(answerer=ScriptedAnswerer(read_fjord), **changes)


async def test_the_answerer_reads_the_first_passages_of_each_hop(saver: Any) -> None:
    asked = parts()
    graph = build(asked, checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(top_k=2, answer_passages=1))
    stored = (await graph.aget_state(THREAD)).values
    found = [[stored["passages"][id]["title"] for id in hop["passages"]] for hop in stored["hops"]]
    assert all(len(hop) == 2 for hop in found)
    [request] = asked["answerer"].requests
    assert titles(request) == [hop[:1] for hop in found]
    assert all(link.triples for link in request.chain), "triples are read as ever"
    assert all(titles(one) == [[] for _ in one.chain] for one in asked["planner"].requests)


async def test_a_finished_run_is_answered_again_with_passages(saver: Any) -> None:
    asked = parts(retriever=ListRetriever(DOCUMENTS[2:3]))
    graph = build(asked, checkpointer=saver)
    first = await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(top_k=1))
    assert first["answer"] == "elsewhere"
    history = [state async for state in graph.aget_state_history(THREAD)]
    before_answer = next(state for state in history if state.next == ("answer",))
    wider = {"context": {"top_k": 1, "answer_passages": 1}}
    fork = await graph.aupdate_state(before_answer.config, wider)
    again = await graph.ainvoke(None, fork)
    assert again["answer"] == FJORD
    [citation] = again["citations"]
    assert citation["triple"] == "", "no triple has the answer"
    assert [again["passages"][id]["title"] for id in citation["passages"]] == ["Narvik"]
    assert len(asked["planner"].requests) == 3, "nothing is planned again"


@pytest.mark.parametrize(("settings", "read"), [({}, 2), ({"answer_passages": 0}, 0)])
async def test_the_answerer_says_how_many_it_reads_unless_the_run_does(
    saver: Any, settings: dict[str, Any], read: int
) -> None:
    asked = parts(retriever=ListRetriever(DOCUMENTS[1:3]))
    asked["planner"].reading = Reading(answer_passages=1)
    asked["answerer"].reading = Reading(answer_passages=2)
    graph = build(asked, checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(**settings))
    [request] = asked["answerer"].requests
    assert [len(hop) for hop in titles(request)] == [read, read]
    assert bool(result["citations"]) == bool(read), "what is read can be cited"
    assert all(titles(one) == [[] for _ in one.chain] for one in asked["planner"].requests)
