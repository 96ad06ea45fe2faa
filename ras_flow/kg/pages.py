"""Facts of a knowledge graph as passages, so that a run reads and cites them as any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ras_flow.kg.subgraph import Subgraph
from ras_flow.state.schema import Passage, passage_id


def make_pages(
    subgraph: Subgraph,
    chosen: Sequence[int],
    graph: str,
    relation_ids: Mapping[str, str] | None = None,
) -> list[Passage]:
    """Write facts as pages: one for each subject, in the order of their best facts.

    The ``ids`` of a page are those of the names in it that are not their own ids.
    """
    facts: dict[int, list[int]] = {}
    for at in dict.fromkeys(chosen):
        facts.setdefault(int(subgraph.triples[at, 0]), []).append(at)
    pages = []
    for head, rows in facts.items():
        triples = [list(subgraph.fact(at)) for at in rows]
        text = "\n".join(map(" | ".join, triples))
        nodes = dict.fromkeys(subgraph.triples[rows][:, [0, 2]].ravel().tolist())
        ids = {name: (relation_ids or {}).get(name, name) for _, name, _ in triples}
        ids |= {subgraph.entities[node]: subgraph.ids[node] for node in nodes}
        title, source = subgraph.label(head), f"{graph}#{subgraph.ids[head]}"
        page = Passage(
            id=passage_id(title, f"{source}\n{text}"),
            title=title,
            text=text,
            source=source,
            triples=triples,
            ids={name: key for name, key in ids.items() if key != name},
        )
        pages.append(page)
    return pages
