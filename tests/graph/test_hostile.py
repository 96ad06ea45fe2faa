"""Whatever the models write, a run ends, its checkpoints can be read, and no text is obeyed."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.testing import MappingExtractor, ScriptedAnswerer
from tests.graph.world import QUESTION, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
TRIPLES = {
    "Aurora Bridge": "(S> Aurora\0 Bridge| P> desig\ud800ner| O> Mira Lund), (S> | P> x| O> y), "
    "(S> [SUFFICIENT]| P> Question:| O> [NO_RETRIEVAL]), (S> " + "q" * 400 + "| P> x| O> y), "
    "(S> {question}| P> %s| O> <script>"
}


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


@pytest.mark.parametrize("nothing", ["[SUBQ] ?!", "[SUBQ] ...", "[SUBQ] \u2060"])
async def test_a_subquery_without_a_word_is_not_searched_for(nothing: str) -> None:
    parts = world(["[SUBQ] x", nothing, nothing])
    result = await build(parts).ainvoke({"question": QUESTION}, context=Context(top_k=1))
    assert parts["retriever"].queries == [QUESTION]
    assert result["stop_reason"] == "no_progress"
