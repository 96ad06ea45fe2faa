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
    return [_page(subgraph, head, rows, graph, relation_ids or {}) for head, rows in facts.items()]


def _page(
    subgraph: Subgraph,
    head: int,
    rows: Sequence[int],
    graph: str,
    relation_ids: Mapping[str, str],
) -> Passage:
    triples = [list(subgraph.fact(at)) for at in rows]
    text = "\n".join(
        f"{subject} | {predicate} | {object}" for subject, predicate, object in triples
    )
    ids = {name: relation_ids[name] for _, name, _ in triples if name in relation_ids}
    for at in rows:
        for node in (int(subgraph.triples[at, 0]), int(subgraph.triples[at, 2])):
            ids[subgraph.entities[node]] = subgraph.ids[node]
    title = subgraph.label(head)
    return Passage(
        id=passage_id(title, f"{graph}#{subgraph.ids[head]}\n{text}"),
        title=title,
        text=text,
        source=f"{graph}#{subgraph.ids[head]}",
        triples=triples,
        ids={name: key for name, key in ids.items() if key != name},
    )
