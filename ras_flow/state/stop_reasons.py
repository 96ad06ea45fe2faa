"""Why runs stop gathering knowledge and answer: a table for each system."""

from __future__ import annotations

from typing import NamedTuple


class StopReason(NamedTuple):
    """What one of a system's stop reasons means.

    Attributes:
        meaning: A few words for a person.
        cut_short: The search ended before the facts were found sufficient.
    """

    meaning: str
    cut_short: bool = False


SHARED = {
    "budget": StopReason("the budget was used up", cut_short=True),
    "static": StopReason("answered from the given documents"),
    "error": StopReason("a part failed; best answer so far", cut_short=True),
}
"""What every system may stop for."""

RAS = {
    **SHARED,
    "no_retrieval": StopReason("no search was needed"),
    "sufficient": StopReason("the planner found the graph sufficient"),
    "not_found": StopReason("the planner gave up searching"),
    "max_hops": StopReason("the hop limit was reached", cut_short=True),
    "no_progress": StopReason("the planner made no progress", cut_short=True),
}
"""Why a run of RAS stopped gathering knowledge and answered."""
