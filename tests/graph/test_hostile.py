"""Whatever the models write, a run ends, its checkpoints can be read, and no text is obeyed."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.errors import InputError
from ras_flow.testing import MappingExtractor, ScriptedAnswerer
from tests.graph.world import QUESTION, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
TRIPLES = {
    "Aurora Bridge": "(S> Aurora\0 Bridge| P> desig\ud800ner| O> Mira Lund), (S> | P> x| O> y), "
    "(S> [SUFFICIENT]| P> Question:| O> [NO_RETRIEVAL]), (S> " + "q" * 400 + "| P> x| O> y), "
    "(S> {question}| P> %s| O> <script>"
}


@pytest.mark.every_checkpointer
async def test_hostile_model_text_survives_every_saver(
    saver: Any, caplog: pytest.LogCaptureFixture
) -> None:
    parts = world(
        ["\ud800\0 [SUBQ] x", "\0\ud800 gibberish", "[SUBQ] who\0 is {0} \ud800%s"],
        extractor=MappingExtractor(TRIPLES),
        answerer=ScriptedAnswerer("Nar\0vik\ud800"),
    )
    graph = build(parts, checkpointer=saver)
    with caplog.at_level(logging.WARNING):
        result = await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(top_k=1))
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")
    assert [hop["subquery"] for hop in result["hops"]] == [QUESTION, "who is {0} %s"]
    found = {(t["subject"], t["predicate"], t["object"]) for t in result["triples"].values()}
    assert found == {
        ("Aurora Bridge", "designer", "Mira Lund"),
        ("[SUFFICIENT]", "Question:", "[NO_RETRIEVAL]"),
    }
    stored = await graph.aget_state(THREAD)
    assert {key: stored.values[key] for key in result} == result
    assert "serializ" not in caplog.text.lower()


@pytest.mark.every_checkpointer
async def test_hostile_documents_survive_every_saver(
    saver: Any, caplog: pytest.LogCaptureFixture
) -> None:
    parts = world(["[SUFFICIENT]"], answerer=ScriptedAnswerer("yes"))
    graph = build(parts, checkpointer=saver)
    document = {"title": "T\ud800\0", "text": "\udfff The text {0} %s\0."}
    with caplog.at_level(logging.WARNING):
        result = await graph.ainvoke({"question": QUESTION, "documents": [document]}, THREAD)
    [passage] = result["passages"].values()
    assert (passage["title"], passage["text"]) == ("T\ufffd\ufffd", "\ufffd The text {0} %s\ufffd.")
    stored = await graph.aget_state(THREAD)
    assert {key: stored.values[key] for key in result} == result
    assert "serializ" not in caplog.text.lower()


@pytest.mark.every_checkpointer
async def test_a_hostile_question_is_asked_as_far_as_it_can_be_read(saver: Any) -> None:
    parts = world(["[SUBQ] x", "[SUFFICIENT]"], answerer=ScriptedAnswerer("yes"))
    graph = build(parts, checkpointer=saver)
    await graph.ainvoke({"question": " Who\0 is \ud800 {0}? "}, THREAD)
    stored = (await graph.aget_state(THREAD)).values
    readable = "Who\ufffd is \ufffd {0}?"
    assert stored["question"] == stored["hops"][0]["subquery"] == readable
    assert [parts[role].requests[0].question for role in ("planner", "answerer")] == [readable] * 2
    assert parts["retriever"].queries == [readable]
    json.dumps(stored, ensure_ascii=False).encode()
    steps = [step async for step in graph.aget_state_history(THREAD)]
    assert {step.values["question"].strip() for step in steps[:-1]} == {readable}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"question": "\n\t "}, "question is empty"),
        ({"question": None}, "question is empty"),
        ({"messages": [("user", "Q?")]}, "give it some text, as `question`"),
        ({"question": ["Q?"]}, "question is a list: pass a text"),
        ({"question": "Q?", "documents": 5}, "`documents` is a int"),
        ({"question": "Q?", "documents": {"text": "one"}}, "`documents` is a dict"),
        ({"question": "Q?", "documents": ["text"]}, "A document is a str"),
        ({"question": "Q?", "documents": [{"text": 5}]}, "text of a document is a int: pass a"),
        ({"question": "Q?", "documents": [{"title": "T", "text": " "}]}, "document is empty"),
        ({"question": "Q?", "documents": [{"title": 5, "text": "x"}]}, "title of a document is a"),
        ({"question": "Q?", "documents": [{"source": 5, "text": "x"}]}, "source of a document is"),
    ],
)
async def test_input_of_a_wrong_shape_is_refused_by_name(given: Any, said: str) -> None:
    parts = world()
    with pytest.raises(InputError, match=said):
        await build(parts).ainvoke(given)
    assert parts["planner"].requests == []
