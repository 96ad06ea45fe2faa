"""ReG from the question to a cited answer."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ras_flow.errors import InputError
from ras_flow.formats.answer import UNKNOWN_ANSWER
from ras_flow.graph import build_graph
from ras_flow.reg.graph import build_reg
from ras_flow.reg.settings import RegContext
from ras_flow.settings.context import Context
from ras_flow.testing import ListRetriever, ScriptedAnswerer, ScriptedModel, ScriptedPlanner
from tests.reg.world import SmallGraph, Words, iri

ASKED = "Which championship did the team with the mascot Lou Seal win?"


async def ask(
    answerer: Any = None, question: str = ASKED, **settings: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run ReG once; return its output and its events."""
    defaults = RegContext(**({} if answerer else {"answerer": "chain-ends"}), **settings)
    built = build_reg(
        knowledge=SmallGraph(), fact_retriever=Words(), answerer=answerer, defaults=defaults
    )
    events: list[dict[str, Any]] = []
    output: dict[str, Any] = {}
    given = {"question": question}
    async for mode, value in built.compile().astream(given, stream_mode=["custom", "values"]):
        if mode == "custom":
            events.append(value)
        else:
            output = value
    return output, events


async def test_an_answer_is_the_set_that_the_best_chain_leads_to() -> None:
    output, events = await ask()
    wanted = {"2010 World Series", "2012 World Series", "2014 World Series"}
    assert set(output["answers"]) == wanted
    assert output["answer"] == "; ".join(output["answers"])
    assert output["stop_reason"] == "retrieved"
    assert output["supported"]
    assert {"Lou Seal"} < {citation["subject"] for citation in output["citations"]}
    assert {citation["source"] for citation in output["citations"]} == {"small"}
    assert [entity["id"] for entity in output["entities"]] == [iri("Lou Seal")]
    assert [event["type"] for event in events] == [
        *("start", "entities", "passages", "extracted", "graph", "chains", "answer"),
    ]
    [[chain], *_] = events[5]["groups"]
    assert chain.startswith("Lou Seal → [mascot of team] → San Francisco Giants → [won")
    assert [event["answers"] for event in events[-1:]] == [output["answers"]]
    triple = next(iter(output["triples"].values()))
    assert triple["ids"] == [iri(triple[part]) for part in ("subject", "predicate", "object")]


async def test_a_model_reads_chains_and_its_lines_are_the_answers() -> None:
    model = ScriptedModel(lambda asked: "ans: 2010 world series\nans: 1989 World Series")
    output, _ = await ask(model, chain_length=2, kg_triples=5)
    [prompt] = model.prompts
    assert "Lou Seal → [mascot of team] → San Francisco Giants" in prompt[-1]["content"]
    assert prompt[-1]["content"].endswith(f"Question: {ASKED}")
    assert output["answers"] == ["2010 World Series", "1989 World Series"]
    assert any("1989" in warning for warning in output["warnings"])
    assert output["usage"]["answer"]["calls"] == 1


async def test_triples_are_read_in_place_of_chains_where_asked() -> None:
    model = ScriptedModel("ans: Oracle Park")
    await ask(model, history="triples")
    asked = model.prompts[0][-1]["content"]
    assert "→" not in asked and "(S> Lou Seal| P> mascot of team|" in asked


async def test_a_reply_without_an_answer_is_asked_for_once_more() -> None:
    model = ScriptedModel("I think that it is\nOracle Park")
    output, _ = await ask(model)
    assert len(model.prompts) == 2 and "ans:" in model.prompts[1][-1]["content"][-90:]
    assert output["answers"] == ["Oracle Park"]


async def test_where_nothing_is_found_twice_as_much_is_searched() -> None:
    model = ScriptedModel(lambda asked: "ans: 2000" if "2000" in asked else "ans: not available")
    output, events = await ask(model, "When was what Lou Seal plays in opened?", kg_triples=1)
    assert (output["answer"], output["answers"]) == (UNKNOWN_ANSWER, [])
    output, events = await ask(
        model, "When was what Lou Seal plays in opened?", kg_triples=1, kg_rounds=2
    )
    assert output["answers"] == ["2000"]
    assert [len(hop["triple_scores"]) for hop in output["hops"]] == [1, 2]
    assert len([event for event in events if event["type"] == "answer"]) == 1


async def test_a_question_without_an_entity_is_not_guessed_at() -> None:
    output, _ = await ask(question="Why is the sky blue?")
    assert (output["stop_reason"], output["answer"]) == ("no_entity", UNKNOWN_ANSWER)
    assert output["warnings"] and not output["usage"]["answer"]["calls"]
    output, _ = await ask(question="Which championship did they win?", entities=("Lou Seal",))
    assert len(output["answers"]) == 3
    with pytest.raises(InputError, match="Similar names: Lou Seal"):
        await ask(entities=("Lou Seel",))


async def test_a_person_replaces_the_entities_and_drops_a_fact() -> None:
    defaults = RegContext(answerer="chain-ends", pause_after_link=True, pause_after_merge=True)
    built = build_reg(knowledge=SmallGraph(), fact_retriever=Words(), defaults=defaults)
    graph = built.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": uuid4().hex}}

    async def answer(*edits: Any) -> dict[str, Any]:
        return await graph.ainvoke(Command(resume={"edits": list(edits)}), config)

    await graph.ainvoke({"question": "Which championship did the Giants win?"}, config)
    asked = await answer({"op": "entities", "names": ["San Francisco Giants"]})
    assert [one["by"] for one in asked["entities"]] == ["given"]
    asked = await answer()
    [review] = asked["__interrupt__"]
    assert review.value["point"] == "after_merge"
    won = [id for id, fact in asked["triples"].items() if fact["object"].startswith("2012")]
    ended = await answer({"op": "drop_triple", "triple": won[0]})
    assert set(ended["answers"]) == {"2010 World Series", "2014 World Series"}


async def test_documents_are_refused() -> None:
    built = build_reg(knowledge=SmallGraph(), fact_retriever=Words())
    with pytest.raises(InputError, match="documents"):
        await built.compile().ainvoke({"question": ASKED, "documents": [{"text": "x"}]})


@pytest.mark.parametrize("extractor", ["none", None])
async def test_ras_reads_and_cites_facts_of_a_graph_beside_its_passages(
    extractor: str | None,
) -> None:
    model = ScriptedModel("(S> Giants| P> colours| O> black and orange)")
    built = build_graph(
        planner=ScriptedPlanner(["[SUBQ] x"]),
        retriever=ListRetriever([{"title": "Giants", "text": "The mascot's team is black."}]),
        extractor=None if extractor else model,
        answerer=ScriptedAnswerer("2014 World Series"),
        knowledge=SmallGraph(),
        fact_retriever=Words(),
        defaults=Context(extractor=extractor or "local:default", top_k=1, kg_triples=4),
    )
    output = await built.compile().ainvoke({"question": ASKED})
    [hop] = output["hops"]
    assert [output["passages"][id].get("source") for id in hop["passages"]] == [
        *(None, "small", "small")
    ]
    assert len(hop["triple_scores"]) == 4
    assert len(model.prompts) == (extractor is None)
    assert "small" in {citation["source"] for citation in output["citations"]}


async def test_an_answerer_of_ras_may_read_chains_in_place_of_triples() -> None:
    stated = "(S> Giants| P> has mascot| O> Lou Seal), (S> Giants| P> won| O> the Cup)"
    model = ScriptedModel("the Cup")
    built = build_graph(
        planner=ScriptedPlanner(["[SUBQ] x"]),
        retriever=ListRetriever([{"title": "Giants", "text": "The team of Lou Seal won the Cup."}]),
        extractor=ScriptedModel(stated),
        answerer=model,
        defaults=Context(history="chains"),
    )
    output = await built.compile().ainvoke({"question": "What did the team of Lou Seal win?"})
    asked = model.prompts[0][-1]["content"]
    assert "Lou Seal ← [has mascot] ← Giants → [won] → the Cup" in asked
    assert asked.startswith("[SUBQ] ") and "S>" not in asked
    assert output["supported"]


async def test_a_model_that_reads_a_hop_in_one_call_need_not_note_facts_of_a_graph() -> None:
    model = ScriptedModel("[ANSWER] 2010 World Series [1]")
    roles: Any = dict.fromkeys(("planner", "extractor", "answerer"), model)
    built = build_graph(
        **roles,
        knowledge=SmallGraph(),
        fact_retriever=Words(),
        defaults=Context(kg_triples=4),
    )
    output = await built.compile().ainvoke({"question": ASKED})
    assert output["answer"] == "2010 World Series" and len(model.prompts) == 1
    assert "Lou Seal | mascot of team | San Francisco Giants" in model.prompts[0][-1]["content"]
    assert len(output["triples"]) == 4 and output["supported"]
    assert {citation["source"] for citation in output["citations"]} == {"small"}
