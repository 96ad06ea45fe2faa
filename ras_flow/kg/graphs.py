"""What linking and sources need of a knowledge graph, wherever it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ras_flow.kg.subgraph import Subgraph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Node(NamedTuple):
    """An entity that was looked for.

    Attributes:
        id: Its id.
        name: Its name, which no other node has.
        degree: How many facts it is part of; 0 if that is not known.
        score: How well it fits what was looked for, from 0 to 1.
        by: How it was found: ``"name"``, ``"alias"``, ``"similar"`` or ``"vector"``.
    """

    id: str
    name: str
    degree: int = 0
    score: float = 1.0
    by: str = "name"


class Graph(Protocol):
    """A knowledge graph; its calls block."""

    name: str
    identity: str
    """The name, and the version of the content."""

    @property
    def relation_ids(self) -> Mapping[str, str]:
        """The ids of relations by their names, as far as they are known."""
        ...

    @property
    def takes_vectors(self) -> str | None:
        """The identity of the encoder whose vectors of questions it uses, if any."""
        ...

    def node(self, id: str) -> Node | None:
        """Return the node with an id."""
        ...

    def named_all(
        self, names: Sequence[str], question: npt.NDArray[np.float32] | None = None
    ) -> list[list[Node]]:
        """Return the entities with each of some names or aliases, the best first."""
        ...

    def similar(self, names: Sequence[str], most: int = 3, least: float = 0.6) -> list[list[Node]]:
        """Return the entities whose names are spelled most like each of some names."""
        ...

    def nearest(self, question: npt.NDArray[np.float32], least: float = 0.4) -> list[Node]:
        """Return the entity whose vector is nearest a question's."""
        ...

    def subgraph(
        self,
        ids: Sequence[str],
        depth: int = 2,
        most: int = 20_000,
        question: npt.NDArray[np.float32] | None = None,
    ) -> Subgraph:
        """Return the facts around entities."""
        ...
