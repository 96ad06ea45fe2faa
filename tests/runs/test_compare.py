"""Two ways to an answer, held against each other."""

from __future__ import annotations

import pytest

from ras_flow.runs.compare import compare
from ras_flow.state.kg import triple_id
from tests.runs.documents import ADA, ADA_BORN, BORN, DESIGNER, SUBQUERY, Writer, first_answer

ADA_SUBQUERY = "Where was Ada Lund born?"


def forked() -> Writer:
    """A run that answers Narvik; in branch 2 a person put another designer in, so: Bergen."""
    writer = Writer()
    first = writer.ask().plan("[SUBQ] x", subquery=writer.question)
    first.hop(writer.question, {"Aurora Bridge": [DESIGNER]})
    second = first.fork().edit(drop=DESIGNER).edit(add=ADA)
    second.settings["planner"] = "openai:other"
    first.plan(f"[SUBQ] {SUBQUERY}", subquery=SUBQUERY)
    first.hop(SUBQUERY, {"Mira Lund": [BORN]}).plan("[SUFFICIENT]", label="SUFFICIENT")
    first.answer("Narvik")
    second.plan(f"[SUBQ] {ADA_SUBQUERY}", subquery=ADA_SUBQUERY)
    second.hop(ADA_SUBQUERY, {"Ada Lund": [ADA_BORN]}).answer("Bergen", "max_hops")
    return writer


def ids(*facts: tuple[str, str, str]) -> list[str]:
    return [triple_id(*fact) for fact in facts]


def test_two_branches_of_a_run_tell_where_they_part_and_what_decided() -> None:
    document = forked().document()
    found = compare(document, 1, document, 2)
    step = found["parting"]["step"]
    assert (
        step is not None
        and found["parting"]["checkpoint"] == document["branches"][0]["steps"][step]
    )
    assert document["steps"][document["branches"][0]["steps"][step]]["node"] == "merge_graph"
    # The new triple has no passage and belongs to the last hop: the first has just lost one.
    assert (found["parting"]["hop"], found["parting"]["what"]) == (0, "triples")
    assert (found["a"]["answer"], found["b"]["answer"], found["same_answer"]) == (
        "Narvik",
        "Bergen",
        False,
    )
    assert (found["a"]["stop_reason"], found["b"]["stop_reason"]) == ("sufficient", "max_hops")
    assert found["settings"] == [{"name": "planner", "a": None, "b": "openai:other"}]
    assert found["triples"] == {
        "only_a": ids(DESIGNER, BORN),
        "only_b": ids(ADA, ADA_BORN),
        "both": [],
    }
    assert [(d["cited_by"], d["triple"]) for d in found["deciding"]] == [
        *(("a", id) for id in ids(DESIGNER, BORN)),
        *(("b", id) for id in ids(ADA, ADA_BORN)),
    ]
    assert found["facts"][triple_id(*ADA)] == ADA
    assert sorted(found["titles"].values()) == ["Ada Lund", "Aurora Bridge", "Mira Lund"]


def test_hops_and_plans_are_paired() -> None:
    document = forked().document()
    found = compare(document, 1, document, 2)
    assert [hop["same_subquery"] for hop in found["hops"]] == [True, False]
    assert [len(hop["passages"]["both"]) for hop in found["hops"]] == [1, 0]
    assert found["hops"][1]["a"] is not None and found["hops"][1]["a"]["subquery"] == SUBQUERY
    assert [(p["hop"], p["same"], p["b"] is None) for p in found["plans"]] == [
        (0, True, False),
        (1, False, False),
        (2, False, True),
    ]


def test_spelling_alone_is_no_difference() -> None:
    a, b = Writer("a"), Writer("b")
    first_answer(a)
    first_answer(b).answer("narvik.")
    found = compare(a.document(), 1, b.document(), 1)
    assert found["same_answer"]
    assert found["parting"] == {"step": None, "checkpoint": None, "hop": None, "what": None}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("question", (None, "question")),
        ("unusable plan", (1, "plan")),
        ("passages", (1, "passages")),
        ("triples", (1, "triples")),
        ("fewer hops", (1, "plan")),
        ("answer", (None, "answer")),
    ],
)
def test_the_first_difference_of_two_runs_is_named(
    change: str, expected: tuple[int | None, str]
) -> None:
    one = Writer("a")
    first_answer(one)
    other = Writer("b", "Who?") if change == "question" else Writer("b")
    story = other.ask().plan("[SUBQ] x", subquery=one.question)
    story.hop(one.question, {"Aurora Bridge": [DESIGNER, ("Aurora Bridge", "year", "1961")]})
    if change == "unusable plan":
        story.plan("er", label=None)
    if change != "fewer hops":
        story.plan(f"So: [SUBQ] {SUBQUERY}", subquery="where was MIRA LUND born")
        found = {"Mira Lund": [BORN]}
        if change != "triples":
            found["Mira Lund"].append(("Mira Lund", "occupation", "engineer"))
        if change == "passages":
            found["Ada Lund"] = []
        story.hop(SUBQUERY, found)
    story.plan("[SUFFICIENT]", label="SUFFICIENT").answer("Oslo")
    parting = compare(one.document(), 1, other.document(), 1)["parting"]
    assert (parting["hop"], parting["what"]) == expected


def test_where_the_answers_are_alike_no_triple_decided() -> None:
    writer = Writer()
    first = writer.ask().hop(writer.question, {"Aurora Bridge": [DESIGNER]})
    second = first.fork().edit(drop=DESIGNER).hop(SUBQUERY, {"Mira Lund": [BORN]})
    first.hop(SUBQUERY, {"Mira Lund": [BORN]}).answer("Narvik")
    second.answer("narvik.")
    document = writer.document()
    cited = {citation["triple"] for citation in document["branches"][0]["citations"]}
    assert triple_id(*DESIGNER) in cited
    assert compare(document, 1, document, 2)["deciding"] == []
