"""Directional distance encoding: where an entity stands to the question's entities (appendix F)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ras_flow.kg.subgraph import Subgraph


def width(rounds: int) -> int:
    """Return the numbers that an entity gets."""
    return 2 + 4 * rounds


def distances(graph: Subgraph, rounds: int = 2) -> npt.NDArray[np.float32]:
    """Return each entity's encoding: topic or not, averaged along facts, then against them.

    Each round takes the mean over an entity's facts, parallel ones counted each.
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
