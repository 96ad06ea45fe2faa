"""Do generated subqueries find what a person's would: the next gold passage, among the first k."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.plan import parse_plan
from ras_flow.parts.protocols import Retriever
from ras_flow.training.data.records import Record

NextPassage = dict[str, float | None]
"""How often the next gold passage is found.

``plans`` after the first hop that should ask for a page whose title is known; of these,
``by_target`` find it by their target's subquery, ``by_model`` by what the model wrote (a plan
without subquery finds nothing), and ``relative`` is the one as a share of the other.
"""


async def find_next(
    records: Sequence[Record], texts: Sequence[str], retriever: Retriever, *, k: int = 5
) -> NextPassage:
    """Search for the next gold passage of each plan."""
    rows = [row for row, one in enumerate(records) if one["chain"] and "page" in one]
    pages = [normalize_name(records[row]["page"]) for row in rows]
    own = [records[row]["target"]["subquery"] for row in rows]
    plans = [parse_plan(texts[row]) for row in rows]
    made = [plan.subquery if plan.label == "SUBQ" else "" for plan in plans]
    queries = list(dict.fromkeys(query for query in [*own, *made] if query))
    found = await retriever.retrieve(queries, k)
    titles = {
        query: {normalize_name(one.passage["title"]) for one in some}
        for query, some in zip(queries, found, strict=True)
    }
    ours, theirs = (
        sum(page in titles.get(query, ()) for page, query in zip(pages, asked, strict=True))
        for asked in (made, own)
    )
    relative = round(ours / theirs, 4) if theirs else None
    return {"plans": len(rows), "by_target": theirs, "by_model": ours, "relative": relative}
