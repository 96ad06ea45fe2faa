"""A knowledge graph as runs use it: asynchronous, and with the vectors of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ras_flow.errors import IndexMismatchError
from ras_flow.indexes.engines.config import is_engine
from ras_flow.kg.linking import find, link
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.state.schema import Entity, Passage, passage_id

if TYPE_CHECKING:
    from ras_flow.kg.linking import Graph


class GraphSource:
    """A :class:`ras_flow.parts.KnowledgeSource` over a graph; its work is done in threads."""

    def __init__(self, graph: Graph, encoder: SentenceEncoder | None = None) -> None:
        """Take a graph, and the encoder of its vectors.

        Without one, homonyms and the edges of hubs are chosen by their numbers alone.
        """
        wanted = graph.takes_vectors
        if encoder and wanted and not same_encoder(encoder.identity, wanted):
            raise IndexMismatchError(
                f"The vectors of {graph.name} are those of {wanted}, not of {encoder.identity}. "
                "Use that encoder, or build the graph again."
            )
        self.graph = graph
        self.identity = graph.identity
        self._encoder = encoder if wanted else None

    async def _vectors(self, texts: Sequence[str]) -> Sequence[npt.NDArray[np.float32] | None]:
        if self._encoder is None:
            return [None] * len(texts)
        return list(await self._encoder.encode(texts))

    async def link(self, questions: Sequence[str]) -> list[list[Entity]]:
        """Find the entities that questions mention."""
        pairs = list(zip(questions, await self._vectors(questions), strict=True))
        return await asyncio.to_thread(lambda: [link(one, self.graph, by) for one, by in pairs])

    async def find(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities that a person names; see :class:`ras_flow.parts.KnowledgeSource`."""
        found = await asyncio.to_thread(lambda: [find(name, self.graph) for name in names])
        return [entity for some in found for entity in some]

    async def subgraphs(
        self, questions: Sequence[str], entities: Sequence[Sequence[Entity]], depth: int
    ) -> list[Subgraph]:
        """Return the facts around entities; see :class:`ras_flow.parts.KnowledgeSource`."""
        ids = [[one["id"] for one in some] for some in entities]
        asked = list(zip(ids, await self._vectors(questions), strict=True))
        cut = self.graph.subgraph
        return await asyncio.to_thread(lambda: [cut(a, depth, question=by) for a, by in asked])

    async def pages(self, subgraph: Subgraph, chosen: Sequence[int]) -> list[Passage]:
        """Write facts as passages; see :class:`ras_flow.parts.KnowledgeSource`."""
        facts: dict[int, list[int]] = {}
        for at in dict.fromkeys(chosen):
            facts.setdefault(int(subgraph.triples[at, 0]), []).append(at)
        return [self._page(subgraph, head, rows) for head, rows in facts.items()]

    def _page(self, subgraph: Subgraph, head: int, rows: Sequence[int]) -> Passage:
        """Write the facts of one subject; ``ids`` has the names in it that are not their ids."""
        triples = [list(subgraph.fact(at)) for at in rows]
        text = "\n".join(map(" | ".join, triples))
        ids = {name: self.graph.relation_ids.get(name, name) for _, name, _ in triples}
        for node in subgraph.triples[rows][:, [0, 2]].ravel().tolist():
            ids[subgraph.entities[node]] = subgraph.ids[node]
        title, source = subgraph.label(head), f"{self.graph.name}#{subgraph.ids[head]}"
        return Passage(
            id=passage_id(title, f"{source}\n{text}"),
            title=title,
            text=text,
            source=source,
            triples=triples,
            ids={name: key for name, key in ids.items() if key != name},
        )


def open_source(
    path: Path | str, encoder: Callable[[], SentenceEncoder] | None = None
) -> GraphSource:
    """Open a graph's folder, or the TOML file that names a server or store with one.

    ``encoder`` makes the encoder of the graph's vectors, if it has any.
    """
    from ras_flow.kg.engines import open_engine  # noqa: PLC0415
    from ras_flow.kg.store import KnowledgeGraph  # noqa: PLC0415

    graph: Graph = open_engine(path) if is_engine(path) else KnowledgeGraph.open(path)
    return GraphSource(graph, encoder() if encoder and graph.takes_vectors else None)
