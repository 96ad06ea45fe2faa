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


class LeftOut(NamedTuple):
    """The ids of passages that a search found and left out: shown before, or far below the best."""

    known: set[str]
    weak: set[str]


class Shown(NamedTuple):
    """Passages that a run has shown: something was noted of them, or nothing.

    ``most`` is how many new ones a search takes where the settings do not say, and ``min_score``
    the share of the best one's score that the others need.
    """

    noted: frozenset[str] = frozenset()
    unnoted: frozenset[str] = frozenset()
    most: int | None = None
    min_score: float = 0.0

    def without(
        self, ranked: Sequence[ScoredPassage], most: int
    ) -> tuple[list[ScoredPassage], LeftOut]:
        """Return the best new passages, and those left out.

        One of which nothing was noted may come again where no new one ranks before it: what was
        overlooked would be lost otherwise.
        """
        again: list[ScoredPassage] = []
        new: dict[str, ScoredPassage] = {}
        known: set[str] = set()
        for scored in ranked:
            id = scored.passage["id"]
            if len(new) == most:
                break
            if id in self.unnoted and not new and not again:
                again.append(scored)
            elif id in self.noted or id in self.unnoted:
                known.add(id)
            else:
                new.setdefault(id, scored)
        wanted = [*again, *new.values()]
        weak: set[str] = set()
        # Scores that are not positive, such as negated distances, have no shares.
        if self.min_score and wanted and (best := wanted[0].score) > 0:
            weak = {one.passage["id"] for one in wanted if one.score < best * self.min_score}
        return [one for one in wanted if one.passage["id"] not in weak], LeftOut(known, weak)


async def shown(state: RasState, context: Context, parts: PartsSource) -> Shown:
    """Return what a search leaves out: in the paper's own loop all, where it is made once more."""
    if not state["hops"]:
        return Shown()
    found = frozenset(id for hop in state["hops"] for id in hop["passages"])
    reading = await parts.get_reading(context)
    min_score = reading.min_score if context.min_score is None else context.min_score
    one_call = parts.loop(context) == "one_call"
    if not (one_call or searches_first(await parts.get_planner(context), context)):
        again = times_searched(state, planned_subquery(state))
        return Shown(found if again else frozenset(), min_score=min_score)
    noted = stated_in(state["triples"])
    most = min(LATER_PASSAGES, reading.top_k) if one_call else None
    return Shown(found & noted, found - noted, most, min_score)
