"""What an evaluation reads of the state of somebody else's graph."""

from __future__ import annotations

import pytest

from ras_flow.evaluation.outcome import outcome_of, problem_of, readable
from ras_flow.state.schema import Hop, Plan, Usage, make_passage

PASSAGE = make_passage("Narvik", "Narvik is in Norway.")
RAS = {
    "answer": "Narvik",
    "hops": [Hop(index=0, subquery="?", passages=[PASSAGE["id"]], scores=[1.0], dropped=[])],
    "passages": {PASSAGE["id"]: PASSAGE},
    "plans": [Plan(index=0, hop=0, label="SUBQ", subquery="?", raw="[SUBQ] ?")],
    "stop_reason": "sufficient",
    "triples": {"a": {"subject": "a", "predicate": "b", "object": "c", "passages": []}},
    "usage": {
        "plan:0": Usage(role="planner", calls=1, input_tokens=2, output_tokens=3, seconds=0.5)
    },
}


def test_all_of_a_run_of_ras_is_read() -> None:
    assert readable(RAS) == RAS and problem_of(RAS) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hops", 2),
        ("hops", ["first"]),
        ("passages", ["Narvik is in Norway."]),
        ("plans", "look it up"),
        ("triples", [["a", "b", "c"]]),
        ("stop_reason", 5),
        ("usage", {"total_tokens": 12}),
        ("usage", 12),
        ("answer", None),
        ("answer", ["Narvik"]),
    ],
)
def test_what_only_has_the_name_of_a_channel_is_left_out(name: str, value: object) -> None:
    state = readable({**RAS, name: value})
    assert state == {**RAS, "usage": {}} if name == "usage" else name not in state
    outcome_of(state)


def test_roles_of_its_own_cost_something_too() -> None:
    use = {"role": "judge", "calls": 1, "input_tokens": 2, "output_tokens": 3, "seconds": 0.5}
    assert outcome_of(readable({"usage": {"judge:0": use, "other": 3}})).tokens == 5
