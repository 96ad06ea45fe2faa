"""The loop: plan labels lead where the paper says, limits end it, and nothing is lost."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.parts import (
    AnswerRequest,
    Extraction,
    PlanRequest,
    Reading,
    Reply,
    ScoredPassage,
)
from ras_flow.state.schema import Passage, make_passage
from ras_flow.state.usage import usage_by_role
from ras_flow.testing import ListRetriever, MappingExtractor, ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import DOCUMENTS, QUESTION, SECOND, TRIPLES, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}


TOP1 = Context(top_k=1)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_two_hops_to_a_cited_answer(
    saver: Any, durability: Any, caplog: pytest.LogCaptureFixture
) -> None:
    parts = world()
    graph = build(parts, checkpointer=saver)
    with caplog.at_level(logging.WARNING):
        result = await graph.ainvoke(
            {"question": QUESTION}, THREAD, context=TOP1, durability=durability
        )
    assert result["answer"] == "Narvik"
    assert result["stop_reason"] == "sufficient"
    assert [hop["subquery"] for hop in result["hops"]] == [QUESTION, "Where was Mira Lund born?"]
    cited = [result["triples"][citation["triple"]] for citation in result["citations"]]
    assert [triple["object"] for triple in cited] == ["Mira Lund", "Narvik"]
    titles = [
        result["passages"][id]["title"]
        for citation in result["citations"]
        for id in citation["passages"]
    ]
    assert titles == ["Aurora Bridge", "Mira Lund"]
    stored = await graph.aget_state(THREAD)
    assert {key: stored.values[key] for key in result} == result
    assert "serializ" not in caplog.text.lower()
    assert "unregistered" not in caplog.text.lower()


async def test_the_first_subquery_is_the_question_and_chain_grows() -> None:
    parts = world()
    await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    first, second, third = parts["planner"].requests
    assert first.chain == []
    assert second.graph is None, "nothing is embedded for models without soft tokens"
    assert parts["retriever"].queries == [QUESTION, "Where was Mira Lund born?"]
    assert [link.subquery for link in third.chain] == parts["retriever"].queries
    assert [triple["predicate"] for triple in second.chain[0].triples] == ["designer", "year"]
    subjects = {triple["subject"] for triple in third.chain[1].triples}
    assert subjects == {"Mira Lund", "MIRA LUND"}, "a fact is shown in its passage's words"


async def test_no_retrieval_answers_at_once() -> None:
    parts = world(["[NO_RETRIEVAL]"], answerer=ScriptedAnswerer("four"))
    result = await build(parts).ainvoke({"question": "What is two and two?"})
    assert (result["answer"], result["stop_reason"]) == ("four", "no_retrieval")
    assert result["hops"] == [] and parts["retriever"].queries == []
    assert parts["answerer"].requests[0].chain == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("The information is insufficient.", "no label"),
        ("[SUBQ]", "no subquery"),
        ("[SUBQ] [SUFFICIENT]", "several"),
    ],
)
async def test_an_unusable_plan_is_asked_again_with_the_reason(bad: str, reason: str) -> None:
    parts = world(["[SUBQ] x", bad, SECOND])
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    assert result["answer"] == "Narvik"
    again = parts["planner"].requests[2]
    assert again.problem is not None and reason in again.problem
    assert parts["planner"].requests[3].problem is None


@pytest.mark.parametrize("bad", ["no idea", "[SUBQ] ?!\u2060"])
async def test_two_unusable_plans_end_the_search(bad: str) -> None:
    parts = world(["[SUBQ] x", bad, bad])
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    assert result["stop_reason"] == "no_progress"
    assert result["answer"] == "elsewhere"
    assert len(parts["planner"].requests) == 3
    assert parts["retriever"].queries == [QUESTION]


async def test_a_subquery_asked_again_finds_the_rest_of_a_page_and_asked_once_more_ends() -> None:
    page = ["Mira Lund was an engineer, and did build bridges.", "She died in Bodø."]
    documents = [{"title": "Mira Lund", "text": text} for text in page]
    question = "Where did Mira Lund die?"
    parts = world(["[SUBQ] x", f"[SUBQ] {question}", f"[SUBQ] {question.lower()}"])
    parts["retriever"] = ListRetriever([*documents, *DOCUMENTS])
    context = Context(top_k=1, extractor="none", max_hops=9)
    result = await build(parts | {"extractor": None}).ainvoke(
        {"question": question}, context=context
    )
    texts = [result["passages"][id]["text"] for hop in result["hops"] for id in hop["passages"]]
    assert texts == page
    assert [hop.get("known") for hop in result["hops"]] == [None, 1]
    assert result["stop_reason"] == "no_progress" and len(parts["planner"].requests) == 3


@pytest.mark.parametrize(
    ("reading", "settings", "scores"),
    [
        (0.0, {}, [10, 5, 4]),
        (0.5, {}, [10, 5]),
        (0.5, {"min_score": 0}, [10, 5, 4]),
        (0.0, {"min_score": 0.9}, [10]),
    ],
)
async def test_a_later_search_leaves_out_passages_far_below_its_best(
    reading: float, settings: dict[str, Any], scores: list[float]
) -> None:
    class Far:
        identity = "far"

        async def retrieve(self, queries: list[str], k: int) -> list[list[ScoredPassage]]:
            found = (make_passage(one["title"], one["text"]) for one in DOCUMENTS)
            given = (10.0, 6.0, 4.0, -1.0) if queries == [QUESTION] else (4.0, 10.0, 5.0, -1.0)
            scored = [ScoredPassage(*one) for one in zip(found, given, strict=True)]
            return [sorted(scored, key=lambda one: -one.score)[:k] for _ in queries]

    parts = world(retriever=Far())
    parts["answerer"].reading = Reading(min_score=reading)
    context = Context(top_k=3, **settings)
    result = await build(parts).ainvoke({"question": QUESTION}, context=context)
    assert [hop["scores"] for hop in result["hops"]] == [[10, 6, 4], scores]
    assert [hop.get("weak", 0) for hop in result["hops"]] == [0, 3 - len(scores)]
    assert result["answer"] == "Narvik"


async def test_sufficient_before_anything_was_retrieved_is_not_usable() -> None:
    parts = world(["[SUFFICIENT]", "[SUBQ] x", SECOND])
    result = await build(parts).ainvoke({"question": QUESTION}, context=TOP1)
    assert result["answer"] == "Narvik"
    assert "[SUFFICIENT]" in (parts["planner"].requests[1].problem or "")


async def test_a_first_subq_needs_no_subquery() -> None:
    result = await build(world(["[SUBQ]", SECOND])).ainvoke({"question": QUESTION}, context=TOP1)
    assert result["hops"][0]["subquery"] == QUESTION
    assert result["answer"] == "Narvik"


async def test_usage_counts_tokens_and_calls_by_role() -> None:
    class Counting(MappingExtractor):
        async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
            made = await super().extract(passages)
            return [replace(one, input_tokens=7, output_tokens=3) for one in made]

    result = await build(world(extractor=Counting(TRIPLES))).ainvoke(
        {"question": QUESTION}, context=TOP1
    )
    spent = usage_by_role(result["usage"].values())
    calls = {role: use["calls"] for role, use in spent.items()}
    assert calls == {"planner": 3, "retriever": 0, "extractor": 2, "answerer": 1}
    assert spent["planner"]["input_tokens"] == 3 * len(QUESTION.split())
    assert (spent["extractor"]["input_tokens"], spent["extractor"]["output_tokens"]) == (14, 6)


async def test_events_tell_what_each_step_found() -> None:
    stream = build(world()).astream({"question": QUESTION}, context=TOP1, stream_mode="custom")
    events = [event async for event in stream]
    hop = ["plan", "passages", "extracted", "graph"]
    assert [event["type"] for event in events] == ["start", *hop, *hop, "plan", "answer"]
    _, _, _, _, _, plan, passages, extracted, grown, _, answer = events
    second = {"hop": 1, "subquery": "Where was Mira Lund born?"}
    counts = {"passages": 1, "cached": 0, "triples": 2, "dropped": 0, "reasons": {}}
    assert plan == {"type": "plan", "label": "SUBQ", "raw": SECOND, **second}
    assert extracted == {"type": "extracted", "hop": 1, **counts}
    assert answer.items() >= {"answer": "Narvik", "stop_reason": "sufficient"}.items()
    [found] = passages["passages"]
    assert found.keys() == {"id", "name", "title", "text", "score"}
    assert (grown["entities"], grown["triples"], len(grown["new"])) == (5, 4, 2)
    assert grown["new"][1].keys() == {"id", "subject", "predicate", "object", "passages"}


@pytest.mark.parametrize(
    ("default", "given", "stop_reason", "hops"),
    [
        (Context(max_hops=1), Context(max_hops=5), "sufficient", 2),
        (Context(planning="static"), Context(planning="iterative"), "sufficient", 2),
        (Context(max_hops=1), None, "max_hops", 1),
    ],
)
async def test_a_context_holds_over_the_graphs_defaults_even_where_it_says_what_is_standard(
    saver: Any, default: Context, given: Context | None, stop_reason: str, hops: int
) -> None:
    graph = build(world(defaults=default), checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=given)
    assert (result.get("stop_reason"), len(result["hops"])) == (stop_reason, hops)


@pytest.mark.parametrize("own", ["", "Answer in French."])
async def test_a_task_reaches_the_answerer_and_your_own_instruction_both(own: str) -> None:
    parts = world(["[NO_RETRIEVAL]"])
    await build(parts).ainvoke(
        {"question": QUESTION}, context=Context(instruction=own, task="explain")
    )
    [answering], [planning] = parts["answerer"].requests, parts["planner"].requests
    assert answering.max_new_tokens == 300
    assert (own or "[Long Form]") in answering.instruction
    assert planning.instruction == own


async def test_a_passage_found_again_is_not_extracted_again_but_joins_both_hops() -> None:
    parts = world(["[SUBQ] x", "[SUBQ] Who designed the Aurora Bridge in 1961?"])
    await build(parts).ainvoke({"question": "Aurora Bridge?"}, context=TOP1)
    assert parts["extractor"].calls == [["Aurora Bridge"]]
    assert [len(link.triples) for link in parts["planner"].requests[2].chain] == [2, 2]


async def test_triples_are_kept_in_the_store_for_other_runs_of_the_same_extractor() -> None:
    class Other(MappingExtractor):
        identity = "testing:other"

    store = InMemoryStore()
    first, second, other = world(), world(), world(extractor=Other(TRIPLES))
    one, two, _ = [
        await build(parts, store=store).ainvoke({"question": QUESTION}, context=TOP1)
        for parts in (first, second, other)
    ]
    assert [parts["extractor"].calls for parts in (first, second)] == [
        [["Aurora Bridge"], ["Mira Lund"]],
        [],
    ]
    assert other["extractor"].calls == first["extractor"].calls
    assert two["triples"] == one["triples"]


async def test_an_answer_that_was_cut_off_is_reported() -> None:
    class Rambling(ScriptedAnswerer):
        async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
            return [replace(reply, truncated=True) for reply in await super().answer(requests)]

    parts = world(["[NO_RETRIEVAL]"], answerer=Rambling("It is the"))
    result = await build(parts).ainvoke({"question": QUESTION})
    assert result["answer"] == "It is the" and "limit of new tokens" in result["warnings"][0]


async def test_lost_history_is_reported() -> None:
    class Forgetful(ScriptedPlanner):
        async def plan(self, requests: list[PlanRequest]) -> list[Reply]:  # type: ignore[override]
            return [Reply(r.text, lost_triples=3) for r in await super().plan(requests)]

    told: list[str] = []
    parts = world(planner=Forgetful(["[SUBQ] x", SECOND]), answerer=ScriptedAnswerer(""))
    modes: Any = ["custom", "values"]
    async for mode, result in build(parts).astream(
        {"question": QUESTION}, context=TOP1, stream_mode=modes
    ):
        if mode == "custom" and result["type"] == "warning":
            told.append(result["message"])
    assert "3 triple(s)" in told[0] and "wrote nothing" in told[-1]
    assert (result["answer"], result["warnings"]) == ("", [told[0], told[-1]]), "each once"
