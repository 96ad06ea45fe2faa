"""Questions on subgraphs as numbers, alone or many together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.formats.node_ids import last_part
from ras_flow.kg.subgraph import Subgraph

_MARKS = re.compile(r"[_./]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_READ = 500
"""Characters of a name that an encoder reads."""

Texts = dict[str, int]
"""What is to be embedded, by number."""


def number(text: str, texts: Texts) -> int:
    """Return a text's number, a new one if need be."""
    return texts.setdefault(text, len(texts))


def relation_text(relation: str) -> str:
    """Write "people.person.place_of_birth", or an IRI's last part, as words."""
    relation = last_part(relation) if "://" in relation else relation
    return " ".join(_HUMP.sub(" ", _MARKS.sub(" ", relation[-_READ:])).split()) or relation


def entity_text(name: str) -> str:
    """Write "ludwig_ii_of_bavaria" as words."""
    return " ".join(name[:_READ].replace("_", " ").split()) or name


def place_width(rounds: int) -> int:
    """Return the length of an entity's distance encoding."""
    return 2 + 4 * rounds


def distances(graph: Subgraph, rounds: int = 2) -> npt.NDArray[np.float32]:
    """Return each entity's directional distance encoding (appendix F).

    Whether an entity is a topic is spread: each round averages over neighbours, once for each fact.
    The rounds along facts come first, then those against them.
    """
    start = np.zeros((len(graph.entities), 2))
    start[:, 1] = 1
    start[graph.topics] = (1, 0)
    heads, _, tails = graph.triples.T
    parts = [start]
    for source, target in ((heads, tails), (tails, heads)):
        count = np.maximum(np.bincount(target, minlength=len(start)), 1)[:, None]
        state = start
        for _ in range(rounds):
            columns = [
                np.bincount(target, weights=state[source, at], minlength=len(start))
                for at in (0, 1)
            ]
            state = np.stack(columns, axis=1) / count
            parts.append(state)
    return np.concatenate(parts, axis=1).astype(np.float32)


@dataclass(frozen=True)
class Placed:
    """A subgraph as numbers; texts are rows of a table, -1 for an entity without a name.

    ``places`` has the distance encoding of each entity.
    """

    entities: npt.NDArray[np.int64]
    relations: npt.NDArray[np.int64]
    places: npt.NDArray[np.float32]
    triples: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Item:
    """A question on a subgraph; ``labels`` say which of its triples to find."""

    question: int
    graph: Placed
    labels: npt.NDArray[np.float32] | None = None

    @property
    def size(self) -> int:
        """How much there is to compute."""
        return len(self.graph.triples)


def place(graph: Subgraph, texts: Texts, rounds: int, *, named: bool) -> Placed:
    """Turn a subgraph into numbers; without ``named`` no entity's name is embedded."""
    return Placed(
        np.array(
            [
                number(entity_text(name), texts) if named and has_name else -1
                for name, has_name in zip(graph.entities, graph.named.tolist(), strict=True)
            ],
            dtype=np.int64,
        ),
        np.array([number(relation_text(name), texts) for name in graph.relations], dtype=np.int64),
        distances(graph, rounds),
        graph.triples,
    )


def stack(items: Sequence[Item], vectors: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Put questions together, as the keyword arguments of a model.

    ``texts`` has each entity's vector once and ``nodes`` says whose it is: 0 for one without a
    name, else one more than its row. ``of`` and ``node_of`` give the question of each triple and
    node.
    """
    import torch  # noqa: PLC0415

    graphs = [item.graph for item in items]
    of_node = np.repeat(np.arange(len(items)), [len(graph.entities) for graph in graphs])
    of = np.repeat(np.arange(len(items)), [len(graph.triples) for graph in graphs])
    first_node = np.cumsum([0, *(len(graph.entities) for graph in graphs)])
    first_kind = np.cumsum([0, *(len(graph.relations) for graph in graphs)])
    rows, nodes = _distinct([graph.entities for graph in graphs])
    kinds, relations = _distinct([graph.relations for graph in graphs])
    heads, links, tails = np.concatenate([graph.triples for graph in graphs]).T
    without = int(len(rows) > 0 and rows[0] == -1)
    given = {
        "questions": vectors[[item.question for item in items]],
        "texts": vectors[rows[without:]],
        "nodes": nodes + 1 - without,
        "relations": vectors[kinds],
        "places": np.concatenate([graph.places for graph in graphs]),
        "heads": heads + first_node[of],
        "kinds": relations[links + first_kind[of]],
        "tails": tails + first_node[of],
        "of": of,
        "node_of": of_node,
    }
    batch: dict[str, Any] = {
        "given": {
            name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in given.items()
        }
    }
    labels = [item.labels for item in items if item.labels is not None]
    if labels:
        batch["labels"] = torch.from_numpy(np.concatenate(labels))
    return batch


def _distinct(
    parts: Sequence[npt.NDArray[np.int64]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.unique(np.concatenate(parts), return_inverse=True)
