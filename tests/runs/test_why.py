"""What an answer rests on, and what it would be without."""

from __future__ import annotations

import json
from typing import Any

from ras_flow import Context, Runs
from ras_flow.parts import AnswerRequest
from ras_flow.parts.chosen import Parts
from ras_flow.runs.document import RunDocument
from ras_flow.runs.why import explain
from ras_flow.runs.without import Without, answers_without
from ras_flow.state.kg import triple_id
from ras_flow.testing import HashEncoder, ScriptedAnswerer
from tests.graph.world import QUESTION, build, read_birthplace, world
from tests.runs.documents import ADA, ADA_BORN, BORN, DESIGNER, SUBQUERY, Writer, first_answer
from tests.runs.stories import events, runs_with


def test_an_answer_is_traced_to_sentence_and_subquery() -> None:
    writer = Writer()
    first_answer(writer)
    found = explain(writer.document())
    assert found["supported"]
    assert list(found["triples"]) == [triple_id(*DESIGNER), triple_id(*BORN)]
    born = found["triples"][triple_id(*BORN)]
    assert (born["subject"], born["predicate"], born["object"]) == BORN
    assert not born["edited"]
    [source] = born["sources"]
    assert source["sentence"] == "She was born in Narvik."
    assert (source["title"], source["hop"], source["subquery"]) == ("Mira Lund", 1, SUBQUERY)
    assert source["score"] == 1.5
    json.dumps(found)


async def test_a_triple_that_a_person_added_in_a_review_is_edited(memory: Any) -> None:
    runs = runs_with(memory)
    waits = Context(top_k=1, pause_before_answer=True)
    await events(runs.start({"question": QUESTION}, waits, run_id="a"))
    fact = dict(zip(("subject", "predicate", "object"), ADA, strict=True))
    edit: Any = {"op": "add_triple", **fact}
    await events(runs.resume("a", [edit]))
    document = await runs.document("a")
    document["branches"][0]["citations"][0]["triple"] = triple_id(*ADA)
    assert explain(document)["triples"][triple_id(*ADA)]["edited"]


def test_passages_that_are_cited_without_a_triple_are_named() -> None:
    writer = Writer(question=SUBQUERY)
    writer.ask().hop(SUBQUERY, {"Mira Lund": []}).answer("Narvik")
    document = writer.document()
    document["branches"][0]["citations"][0]["passages"].append("p404")
    found = explain(document)
    [source] = found["passages"]
    assert (source["title"], source["subquery"]) == ("Mira Lund", SUBQUERY)
    assert source["sentence"] == "She was born in Narvik." and found["triples"] == {}


def test_a_branch_sees_its_own_graph_alone() -> None:
    writer = Writer()
    first = writer.ask().hop(QUESTION, {"Old Bridges": [DESIGNER]})
    second = first.fork().edit(drop=DESIGNER).edit(add=ADA)
    first.hop(SUBQUERY, {"Mira Lund": [BORN]}).answer("Narvik")
    second.hop("Where was Ada Lund born?", {"Ada Lund": [ADA_BORN]}).answer("Bergen")
    document = writer.document()
    found = explain(document, 2)
    assert set(found["triples"]) == {triple_id(*ADA), triple_id(*ADA_BORN)}
    assert found["triples"][triple_id(*ADA)]["edited"]
    assert found["triples"][triple_id(*ADA)]["sources"] == []
    assert set(explain(document, 1)["triples"]) == {triple_id(*DESIGNER), triple_id(*BORN)}


async def asked(document: RunDocument, answerer: ScriptedAnswerer, limit: int = 8) -> list[Without]:
    parts = Parts.of(answerer=answerer, encoder=HashEncoder())
    return [found async for found in answers_without(document, 1, parts=parts, limit=limit)]


def narvik() -> RunDocument:
    writer = Writer()
    first_answer(writer)
    return writer.document()


async def test_the_triple_that_carries_the_answer_is_found() -> None:
    answerer = ScriptedAnswerer(read_birthplace)
    assert await asked(narvik(), answerer) == [
        {"triple": None, "answer": "Narvik", "changed": False},
        {"triple": triple_id(*DESIGNER), "answer": "Narvik", "changed": False},
        {"triple": triple_id(*BORN), "answer": "elsewhere", "changed": True},
    ]
    given = [sum(len(link.triples) for link in r.chain) for r in answerer.requests]
    assert given == [4, 3, 3]


async def test_an_answerer_that_no_longer_answers_the_same_is_held_against_itself() -> None:
    found = await asked(narvik(), ScriptedAnswerer("Tromsø"))
    assert [item["changed"] for item in found] == [True, False, False]


async def test_no_more_calls_are_made_than_allowed() -> None:
    answerer = ScriptedAnswerer("Narvik")
    assert len(await asked(narvik(), answerer, limit=1)) == 2
    assert len(answerer.requests) == 2


async def test_the_encoded_graph_lacks_the_triple_too() -> None:
    answerer = ScriptedAnswerer("Narvik", takes_soft_tokens=True)
    await asked(narvik(), answerer)
    assert [len(r.graph.edges) for r in answerer.requests if r.graph] == [4, 3, 3]


async def test_the_answerer_is_asked_what_the_run_asked_it(memory: object) -> None:
    """The first question, with the whole graph, is the run's own."""
    answerer = ScriptedAnswerer(read_birthplace)
    runs = Runs(build(world(answerer=answerer), checkpointer=memory))
    context = Context(top_k=2, instruction="Be brief.")
    [_ async for _ in runs.start({"question": QUESTION}, context, run_id="a")]
    document = await runs.document("a")
    steps = len(await runs.history("a"))
    found = await asked(document, answerer)
    first: AnswerRequest = answerer.requests[0]
    assert answerer.requests[1] == first and first.instruction == "Be brief."
    assert [item["changed"] for item in found] == [False, False, True]
    assert len(await runs.history("a")) == steps, "a checkpoint was written"
