"""What flipped between two systems, and where their runs parted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ras_flow.evaluation.compare import compare, parted
from ras_flow.evaluation.outcome import Outcome, SearchedHop
from ras_flow.evaluation.rows import Row
from tests.evaluation.running.test_report import use


def row(id: str, score: float, system: str = "ras", **outcome: object) -> Row:
    made = Outcome(
        answer="a",
        hops=(SearchedHop("Q?", ("p1",), ("One",)), SearchedHop("R?", ("p2",), ("Two",))),
        triples=3,
        stop_reason="sufficient",
        usage={"extractor": use("extractor", 1, 1)},
    )
    return Row(
        benchmark="b",
        system=system,
        id=id,
        question="Q?",
        answers=("x",),
        outcome=replace(made, **outcome),  # type: ignore[arg-type]
        scores={"f1": score},
        error_class="" if score >= 0.5 else "retrieval_missed",
    )


def test_flips_are_those_that_only_one_has_right() -> None:
    first = [row("1", 1), row("2", 0.6), row("3", 0), row("4", 1), row("5", 1)]
    second = [row("4", 1), row("3", 1), row("2", 0.4), row("1", 0.5)]
    [found] = compare(first, second)
    assert found.questions == 4
    assert [flip.first.id for flip in found.lost] == ["2"]
    assert [flip.first.id for flip in found.gained] == ["3"]
    assert found.lost[0].wrong.score == 0.4 and found.gained[0].wrong.score == 0
    assert found.difference is not None
    assert found.difference.mean == pytest.approx((1 + 0.6 + 0 + 1 - 0.5 - 0.4 - 1 - 1) / 4)


def test_systems_are_matched_by_name_unless_there_is_one_each() -> None:
    first = [row("1", 1, "ras"), row("1", 0, "react")]
    second = [row("1", 0, "ras"), row("1", 0, "ircot")]
    assert [(one.first, one.second) for one in compare(first, second)] == [("ras", "ras")]
    assert [(one.first, one.second) for one in compare(first[:1], second[1:])] == [("ras", "ircot")]
    assert compare(first[:1], [replace(second[0], benchmark="other")]) == []


HOPS = row("1", 1).outcome.hops


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, "the same searches and passages, another answer"),
        ({"triples": 2}, "3 triples, or 2"),
        ({"triples": 0, "usage": {}}, "the same searches and passages, another answer"),
        (
            {"hops": HOPS[:1], "stop_reason": "max_hops"},
            "ends after hop 2 (sufficient), or after 1 (max_hops)",
        ),
        ({"hops": (HOPS[0], SearchedHop("S?"))}, "hop 2 searches 'R?', or 'S?'"),
        (
            {"hops": (SearchedHop("q", ("p3",), ("Three",)), HOPS[1])},
            "hop 1 finds 'One', or 'Three'",
        ),
        (
            {"hops": (SearchedHop("q?", ("p9",), ("One",)), HOPS[1])},
            "hop 1 finds 'One (p1)', or 'One (p9)'",
        ),
        ({"error": "timed out", "hops": ()}, "one failed: timed out"),
    ],
)
def test_the_first_difference_of_two_runs_is_named(change: dict[str, object], why: str) -> None:
    assert parted(row("1", 1), row("1", 0, **change)) == why
