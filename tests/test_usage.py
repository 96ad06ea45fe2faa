"""What steps cost: counted while they run, and added up."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ras_flow.state.schema import Usage
from ras_flow.state.usage import Cost, add_up, usage_by_role


@dataclass(frozen=True)
class Tokens:
    input_tokens: int
    output_tokens: int


def usage(role: str, calls: int, read: int, written: int, seconds: float) -> Usage:
    return Usage(role=role, calls=calls, input_tokens=read, output_tokens=written, seconds=seconds)


def test_a_step_costs_its_calls_their_tokens_and_the_time_since_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([100.0, 100.25, 101.5004])
    monkeypatch.setattr("ras_flow.state.usage.perf_counter", lambda: next(times))
    cost = Cost("planner", "plan:0")
    assert cost.usage() == {"plan:0": usage("planner", 0, 0, 0, 0.25)}
    cost.add(Tokens(100, 10))
    cost.add(Tokens(30, 2), calls=3)
    assert cost.usage() == {"plan:0": usage("planner", 4, 130, 12, 1.5)}


def test_costs_are_added_up_over_all_and_by_role() -> None:
    uses = [
        usage("planner", 1, 100, 10, 0.1),
        usage("extractor", 5, 400, 60, 2.0),
        usage("planner", 2, 300, 20, 0.2),
    ]
    total = {"calls": 8, "input_tokens": 800, "output_tokens": 90, "seconds": 2.3}
    assert add_up(uses) == total
    assert usage_by_role(uses) == {
        "planner": usage("planner", 3, 400, 30, pytest.approx(0.3)),
        "extractor": uses[1],
    }
    assert uses[0] == usage("planner", 1, 100, 10, 0.1), "what was counted stays as it was"
    assert add_up([]) == dict.fromkeys(total, 0)
