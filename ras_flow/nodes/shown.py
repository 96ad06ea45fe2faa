"""Which passages a run has shown already: some searches want new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ras_flow.parts.protocols import searches_first
from ras_flow.parts.records import ScoredPassage
from ras_flow.parts.source import PartsSource
from ras_flow.routing import planned_subquery, times_searched
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.kg import stated_in

LATER_PASSAGES = 3
"""New passages for each subquery after the question, with one call a hop."""


class Shown(NamedTuple):
    """Passages that a run has shown: something was noted of them, or nothing.

    ``most`` is how many new ones a search takes where the settings do not say.
    """

    noted: frozenset[str] = frozenset()
    unnoted: frozenset[str] = frozenset()
    most: int | None = None

    def without(
        self, ranked: Sequence[ScoredPassage], most: int
    ) -> tuple[list[ScoredPassage], set[str]]:
        """Return the best new passages, and the ids of those left out.

        One of which nothing was noted may come again where no new one ranks before it: what was
        overlooked would be lost otherwise.
        """
        again: list[ScoredPassage] = []
        new: dict[str, ScoredPassage] = {}
        left_out: set[str] = set()
        for scored in ranked:
            id = scored.passage["id"]
            if len(new) == most:
                break
            if id in self.unnoted and not new and not again:
                again.append(scored)
            elif id in self.noted or id in self.unnoted:
                left_out.add(id)
            else:
                new.setdefault(id, scored)
        return [*again, *new.values()], left_out


async def shown(state: RasState, context: Context, parts: PartsSource) -> Shown:
    """Return what a search leaves out: in the paper's own loop all, where it is made once more."""
    found = frozenset(id for hop in state["hops"] for id in hop["passages"])
    one_call = parts.loop(context) == "one_call"
    if not (one_call or searches_first(await parts.get_planner(context), context)):
        return Shown(found) if times_searched(state, planned_subquery(state)) else Shown()
    noted = stated_in(state["triples"])
    most = LATER_PASSAGES if one_call and state["hops"] else None
    return Shown(found & noted, found - noted, most)
