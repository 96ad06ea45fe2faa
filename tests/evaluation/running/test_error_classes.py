"""Why an answer is wrong: each class from the evidence that makes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ras_flow.evaluation.clues import ClueEvidence
from ras_flow.evaluation.error_classes import Evidence, classify
from ras_flow.evaluation.question import Question, Support
from ras_flow.state.schema import Passage, Triple

BRIDGE = Passage(
    id="p1", title="Aurora Bridge", text="The Aurora Bridge was designed by Mira Lund."
)
LUND = Passage(id="p2", title="Mira Lund", text="Mira Lund, an engineer, was born in Narvik.")
OTHER = Passage(id="p3", title="Leo Fahr", text="Leo Fahr was born in Bodø.")
PAINTED = Passage(id="p4", title="Aurora Bridge", text="It was painted red in 1990.")


def triple(subject: str, predicate: str, object: str, passage: str) -> Triple:
    return Triple(subject=subject, predicate=predicate, object=object, passages=[passage])


DESIGNER = triple("Aurora Bridge", "designed by", "Mira Lund", "p1")
BORN = triple("Mira Lund", "born in", "Narvik", "p2")
JOB = triple("Mira Lund", "occupation", "engineer", "p2")

QUESTION = Question(
    id="q",
    question="Where was the designer of the Aurora Bridge born?",
    answers=("Narvik",),
    support=(
        Support("Aurora Bridge", "The Aurora Bridge was designed by Mira Lund."),
        Support("Mira Lund", "", "Where was Mira Lund born?"),
    ),
)
FULL = Evidence(
    searches=(QUESTION.question, "Where was Mira Lund born?"),
    passages=(BRIDGE, LUND),
    triples={"a": DESIGNER, "b": BORN},
    stop_reason="sufficient",
)
ASKED = replace(FULL, passages=(BRIDGE,))
ONE_HOP = replace(FULL, searches=(QUESTION.question,), passages=(BRIDGE,))


@pytest.mark.parametrize(
    ("kind", "evidence", "why"),
    [
        ("answerer_wrong", FULL, ""),
        ("answerer_wrong", replace(FULL, triples=None), "in view"),
        ("not_read", replace(FULL, read={"a": DESIGNER}), "'Narvik' is in the graph, but was not"),
        ("answerer_wrong", replace(FULL, read={"b": BORN}), ""),
        ("answerer_wrong", replace(FULL, triples={}, texts=(BRIDGE, LUND)), "read as text"),
        ("answerer_wrong", replace(FULL, read={"a": DESIGNER}, texts=(LUND,)), "that was read"),
        ("extraction_missed", replace(FULL, triples={}, texts=(LUND,)), "Aurora Bridge"),
        ("failed", replace(FULL, error="timed out"), "timed out"),
        ("from_memory", Evidence(may_search=False), ""),
        ("from_memory", Evidence(may_search=False, triples={}), ""),
        ("answerer_wrong", Evidence(may_search=False, triples=FULL.triples), "is in the graph"),
        ("retrieval_missed", Evidence(may_search=False, triples={"a": DESIGNER}), "Nothing found"),
        ("stopped_early", ONE_HOP, "Never asked for: Mira Lund. Stopped as sufficient"),
        ("stopped_early", Evidence(stop_reason="no_retrieval"), "no_retrieval"),
        ("wandered", replace(ONE_HOP, stop_reason="max_hops", cut_short=True), "by max_hops"),
        ("retrieval_missed", replace(FULL, passages=(BRIDGE, OTHER)), "Not found: Mira Lund."),
        ("retrieval_missed", replace(ONE_HOP, plans=False), "Not found: Mira Lund."),
        ("retrieval_missed", replace(ONE_HOP, stop_reason="static"), "given documents"),
        ("extraction_missed", replace(FULL, triples={"a": DESIGNER}), "No triple from: Mira Lund"),
        ("extraction_missed", replace(FULL, triples={"a": DESIGNER, "c": JOB}), "'Narvik' is in"),
        ("resolution_wrong", replace(FULL, clues=ClueEvidence(wrong=["Bodø"])), "names Bodø"),
        ("resolution_wrong", replace(FULL, clues=ClueEvidence(open=["Mira | born"])), "Left open"),
        ("decomposition_wrong", replace(ONE_HOP, clues=ClueEvidence(open=["x"])), "Mira Lund"),
        ("ungrounded", replace(FULL, clues=ClueEvidence(ungrounded=["Narvik"])), "states Narvik"),
        ("retrieval_missed", replace(ASKED, clues=ClueEvidence(open=["x"])), "Mira Lund"),
        ("answerer_wrong", replace(FULL, clues=ClueEvidence()), ""),
        # A gold sentence that stands in another passage of its document is missing.
        ("retrieval_missed", replace(FULL, passages=(PAINTED, LUND)), "Not found: Aurora Bridge."),
    ],
)
def test_the_first_thing_that_went_wrong_names_the_error(
    kind: str, evidence: Evidence, why: str
) -> None:
    finding = classify(QUESTION, evidence)
    assert finding.kind == kind
    assert why in finding.why


@pytest.mark.parametrize(
    ("support", "search", "kind"),
    [
        (Support("Mira Lund"), "Who was born in Narvik?", "stopped_early"),
        (Support("Mira Lund"), "Who is Mira Lund?", "retrieval_missed"),
        (Support("", LUND["text"], "Where was she born?"), "Who is Leo Fahr?", "stopped_early"),
        (
            Support("", LUND["text"], "Where was she born?"),
            "Where was she born",
            "retrieval_missed",
        ),
        (Support("", LUND["text"]), "Who is Leo Fahr?", "retrieval_missed"),
    ],
)
def test_a_search_asks_by_title_or_by_subquery_and_any_search_for_a_bare_text(
    support: Support, search: str, kind: str
) -> None:
    evidence = replace(FULL, searches=(search,), passages=(OTHER,))
    assert classify(replace(QUESTION, support=(support,)), evidence).kind == kind


def test_gold_facts_decide_what_extraction_missed() -> None:
    support = (
        Support("Aurora Bridge", facts=(("Aurora Bridge", "designer", "Mira Lund"),)),
        Support("Mira Lund", facts=(("Mira Lund", "place of birth", "Narvik"),)),
    )
    question = replace(QUESTION, support=support)
    missed = classify(question, replace(FULL, triples={"a": DESIGNER, "c": JOB}))
    assert missed.kind == "extraction_missed"
    assert "Mira Lund | place of birth | Narvik" in missed.why
    assert classify(question, FULL).kind == "answerer_wrong"
    unread = classify(question, replace(FULL, read={"b": BORN}))
    assert unread.kind == "not_read"
    assert "Aurora Bridge | designer | Mira Lund" in unread.why
    given = replace(FULL, passages=(), may_search=False)
    assert classify(question, given).kind == "answerer_wrong"
    missed = classify(question, replace(given, triples={"a": DESIGNER, "c": JOB}))
    assert missed.kind == "retrieval_missed"
    assert "Mira Lund | place of birth | Narvik" in missed.why


@pytest.mark.parametrize(
    ("answers", "evidence", "kind"),
    [
        (("Narvik",), FULL, "answerer_wrong"),
        (("Narvik",), replace(FULL, triples=None), "answerer_wrong"),
        (("Narvik",), replace(FULL, read={"b": BORN}), "answerer_wrong"),
        (("Narvik",), replace(FULL, read={"a": DESIGNER}), "not_read"),
        (("Narvik",), replace(FULL, triples={"a": DESIGNER}), "extraction_missed"),
        (("Narvik",), replace(FULL, triples={}, passages=(BRIDGE,)), "stopped_early"),
        (
            ("Narvik",),
            replace(FULL, triples={}, passages=(BRIDGE,), stop_reason="max_hops"),
            "retrieval_missed",
        ),
        (("yes",), FULL, "undecided"),
        ((f"It was in Narvik that {'she and ' * 9}he were born.",), FULL, "undecided"),
    ],
)
def test_without_support_the_gold_answer_is_looked_for(
    answers: tuple[str, ...], evidence: Evidence, kind: str
) -> None:
    assert classify(replace(QUESTION, support=(), answers=answers), evidence).kind == kind
