"""Do generated subqueries find what a person's would: the next gold passage, among the first k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.plan import parse_plan
from ras_flow.parts.protocols import Retriever
from ras_flow.training.data.records import Record


@dataclass(frozen=True)
class NextPassage:
    """How often the next gold passage is found.

    Attributes:
        plans: Plans after the first hop that should ask for a page whose title is known.
        by_target: Of these, how many find it by the subquery of their target.
        by_model: How many find it by what the model wrote; a plan without subquery finds nothing.
    """

    plans: int
    by_target: int
    by_model: int

    @property
    def relative(self) -> float | None:
        """What the model's subqueries find, as a share of what the targets' find."""
        return self.by_model / self.by_target if self.by_target else None

    def as_record(self) -> dict[str, float | None]:
        """Return it as JSON-like data."""
        share = None if self.relative is None else round(self.relative, 4)
        return {
            "plans": self.plans,
            "by_target": self.by_target,
            "by_model": self.by_model,
            "relative": share,
        }


async def find_next(
    records: Sequence[Record], texts: Sequence[str], retriever: Retriever, *, k: int = 5
) -> NextPassage:
    """Search for the next gold passage of each plan."""
    rows = [row for row, one in enumerate(records) if one["chain"] and "page" in one]
    asking = [records[row] for row in rows]
    own = [record["target"]["subquery"] for record in asking]
    plans = [parse_plan(texts[row]) for row in rows]
    made = [plan.subquery if plan.label == "SUBQ" else "" for plan in plans]
    queries = list(dict.fromkeys(query for query in [*own, *made] if query))
    found = await retriever.retrieve(queries, k)
    titles = {
        query: {normalize_name(one.passage["title"]) for one in some}
        for query, some in zip(queries, found, strict=True)
    }

    def hits(asked: Sequence[str]) -> int:
        return sum(
            normalize_name(record["page"]) in titles.get(query, ())
            for record, query in zip(asking, asked, strict=True)
        )

    return NextPassage(len(asking), hits(own), hits(made))
