"""The part of a knowledge graph that may answer a question, as retrievers and chains take it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ras_flow.errors import InputError
from ras_flow.formats.node_ids import NAMELESS, is_nameless
from ras_flow.formats.triples import Spo


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Triples around the entities of a question.

    Attributes:
        entities: Names, each once; of a node without a name its id.
        ids: What the graph calls the entities, in the same order.
        named: Whether each has a name. All without one share a vector, and are shown as ``·``.
        relations: Names, each once.
        triples: Rows of head, relation and tail, each once, as positions in these.
        topics: Positions of the question's entities, as linked, also of those without triples.
        cut: Number of edges that were left out at a limit.
    """

    entities: list[str]
    ids: list[str]
    named: npt.NDArray[np.bool_]
    relations: list[str]
    triples: npt.NDArray[np.int64]
    topics: npt.NDArray[np.int64]
    cut: int = 0

    @classmethod
    def of(cls, triples: Iterable[Spo], topics: Iterable[str] = ()) -> Subgraph:
        """Make a subgraph of a data set's triples, whose names are their own ids.

        Repeated triples count once; a topic that no triple has is added. Entities and relations
        have the order in which they first occur.
        """
        entities: dict[str, int] = {}
        relations: dict[str, int] = {}
        rows: dict[tuple[int, int, int], None] = {}
        for head, relation, tail in triples:
            at = entities.setdefault(head, len(entities))
            by = relations.setdefault(relation, len(relations))
            rows[at, by, entities.setdefault(tail, len(entities))] = None
        starts = dict.fromkeys(entities.setdefault(name, len(entities)) for name in topics)
        if "" in entities or "" in relations:
            raise InputError("A triple or topic of the subgraph has an empty name: leave it out.")
        ids = list(entities)
        return cls(
            entities=ids,
            ids=list(ids),
            named=np.array([not is_nameless(id) for id in ids], dtype=bool),
            relations=list(relations),
            triples=np.array(list(rows), dtype=np.int64).reshape(-1, 3),
            topics=np.array(list(starts), dtype=np.int64),
        )

    def __len__(self) -> int:
        """Return the number of triples."""
        return len(self.triples)

    def label(self, entity: int) -> str:
        """Return an entity's name as people and models read it: ``·`` for one without a name."""
        return self.entities[entity] if self.named[entity] else NAMELESS

    def fact(self, triple: int) -> Spo:
        """Return a triple's subject, predicate and object, where each name is one entity's."""
        head, relation, tail = self.triples[triple]
        return self.entities[head], self.relations[relation], self.entities[tail]
