"""Paths of relations as a path retriever learns them: at each step, one among those at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.kg.retrievers.batch import Texts, number, relation_text
from ras_flow.kg.retrievers.path import HOPS, STOP, Codes, options_at, step, topics_of
from ras_flow.kg.subgraph import Subgraph
from ras_flow.training.retriever.data import Example


@dataclass(frozen=True)
class PathItem:
    """A question's paths: at each step, the rows of a table to choose from, and the right one."""

    question: int
    relations: npt.NDArray[np.int64]
    steps: list[list[tuple[Codes, int]]]

    @property
    def size(self) -> int:
        """How much there is to compute."""
        return sum(len(options) for path in self.steps for options, _ in path)


def make_path_items(examples: Sequence[Example], texts: Texts) -> list[PathItem]:
    """Turn examples into paths, without those that an example's subgraph lacks."""
    items = []
    for example in examples:
        graph = example.graph
        relations = [number(relation_text(name), texts) for name in graph.relations]
        places = {name: at for at, name in enumerate(graph.relations)}
        paths = [_steps(graph, places, path) for path in example.record["paths"]]
        items.append(
            PathItem(
                number(example.record["question"], texts),
                np.array(relations, dtype=np.int64),
                [path for path in paths if path],
            )
        )
    return items


def _steps(
    graph: Subgraph, places: dict[str, int], path: Sequence[tuple[str, bool]]
) -> list[tuple[Codes, int]]:
    near, made = topics_of(graph), []
    codes = [1 + 2 * places[name] + inverse if name in places else -1 for name, inverse in path]
    for code in [*codes[:HOPS], *([STOP] if len(codes) <= HOPS else [])]:
        options = options_at(graph, near)
        at = int(np.searchsorted(options, code))
        if at == len(options) or options[at] != code:
            return []
        made.append((options, at))
        if code != STOP:
            near = step(graph, near, code)[1]
    return made


def stack_paths(items: Sequence[PathItem], vectors: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Put paths together, as the keyword arguments of a :class:`.path.PathModel`."""
    import torch  # noqa: PLC0415

    kinds, places = np.unique(
        np.concatenate([item.relations for item in items]), return_inverse=True
    )
    starts = np.cumsum([0, *(len(item.relations) for item in items)])
    rows = [(at, path) for at, item in enumerate(items) for path in item.steps]
    most = max((len(options) for _, path in rows for options, _ in path), default=1)
    options = np.full((len(rows), HOPS + 1, most), -1)
    targets = np.full((len(rows), HOPS + 1), -1)
    for row, (at, path) in enumerate(rows):
        own = places[starts[at] : starts[at + 1]]
        for hop, (some, target) in enumerate(path):
            kind, inverse = np.divmod(some - 1, 2)
            moved = np.where(some == STOP, STOP, 1 + 2 * own[np.maximum(kind, 0)] + inverse)
            options[row, hop, : len(some)] = moved
            targets[row, hop] = target
    asked = [items[at].question for at, _ in rows]
    weights = [1 / len(items[at].steps) / len(items) for at, _ in rows]
    batch = {
        "questions": vectors[np.array(asked, dtype=np.int64)],
        "relations": vectors[kinds],
        "options": options,
        "targets": targets,
        "weights": np.array(weights, dtype=np.float32),
    }
    return {name: torch.from_numpy(value) for name, value in batch.items()}
