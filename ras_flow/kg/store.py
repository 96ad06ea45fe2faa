"""A knowledge graph on disk, mapped into memory."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process, utils

from ras_flow.errors import IndexCorruptError, InputError
from ras_flow.indexes.arrays import open_array
from ras_flow.indexes.manifest import REBUILD, read_generation
from ras_flow.indexes.snapshot import Snapshot
from ras_flow.indexes.texts import Texts
from ras_flow.kg import manifest as stored
from ras_flow.kg.cutting import MOST, Edges, cut_out
from ras_flow.kg.manifest import KgManifest, edge_files
from ras_flow.kg.names import form_hashes
from ras_flow.kg.subgraph import Subgraph

LITERAL, NAMED = 1, 2
"""Flags of nodes. Questions are linked to what is named and no literal."""

_HOMONYMS = 10_000
"""Nodes of one name that are compared; a name that more of them have says nothing."""
_SHOWN = 20
_COMPARED = 100
"""Characters of a name that are compared for misspellings."""
_VECTORS_AT_ONCE = 50_000
_NEAR = 0.4
"""Cosine of the vectors of a question and of an entity that it means, at least."""


class Node(NamedTuple):
    """An entity that was looked for, with a name that no other has.

    Attributes:
        degree: How many facts it is part of; 0 if that is not known.
        score: How well it fits what was looked for, from 0 to 1.
        by: How it was found: ``"name"``, ``"alias"``, ``"similar"`` or ``"vector"``.
    """

    id: str
    name: str
    degree: int = 0
    score: float = 1.0
    by: str = "name"


class Relation(NamedTuple):
    """A kind of relation: its id, its name, which no other has, and how many facts have it."""

    id: str
    name: str
    uses: int


class KnowledgeGraph(Snapshot[KgManifest]):
    """A knowledge graph of :func:`ras_flow.kg.build.build_kg`; see :meth:`open`.

    Its calls block; :class:`ras_flow.kg.source.GraphSource` makes them in threads.
    """

    def _load(self, folder: Path) -> tuple[int, int]:
        self.name = self.path.resolve().name
        self.identity = f"{self.name}@{self.manifest.digest}"
        self._ids, self._names = Texts(folder, stored.IDS), Texts(folder, stored.NAMES)
        self._flags = open_array(folder / stored.FLAGS)
        self._forms = open_array(folder / stored.FORMS)
        self._form_nodes = open_array(folder / stored.FORM_NODES)
        self._edges = [
            Edges(*(open_array(folder / name) for name in edge_files(way))) for way in ("out", "in")
        ]
        rows = json.loads((folder / stored.RELATIONS).read_bytes())
        self.relations = [Relation(*row) for row in rows]
        self.relation_ids = {relation.name: relation.id for relation in self.relations}
        uses = np.array([relation.uses for relation in self.relations], np.float32)
        self._rarity = -uses / max(float(uses.max(initial=1)), 1)
        self._relation_vectors, self._vectors = (
            open_array(folder / name) if name in self.manifest.files else None
            for name in (stored.RELATION_VECTORS, stored.VECTORS)
        )
        return self.manifest.triples, len(self._edges[0].others)

    @staticmethod
    def _read_manifest(path: Path) -> KgManifest:
        more = stored.RELATION_VECTORS, stored.VECTORS
        return read_generation(path, KgManifest, stored.STORED, more)

    @property
    def takes_vectors(self) -> str | None:
        """The identity of the encoder whose vectors questions need; None without vectors."""
        return self.manifest.embedder.identity if self.manifest.embedder else None

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._ids)

    def node(self, id: str) -> Node | None:
        """Return the node with an id."""
        number = self._ids.find(id)
        return None if number is None else self._node(number)

    def _node(self, number: int, score: float = 1.0, by: str = "name") -> Node:
        at = np.array([number])
        return Node(self._ids[number], self._names[number], int(self._degrees(at)[0]), score, by)

    def _degrees(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        out, into = self._edges
        return out.counts(numbers) + into.counts(numbers)

    def named_all(
        self, names: Sequence[str], question: npt.NDArray[np.float32] | None = None
    ) -> list[list[Node]]:
        """Return the entities with each of some names or aliases, the best first.

        Of homonyms that with the most edges is best. With a question's vector it also counts how
        near their relations are to it.
        """
        near = self._near(question)
        return [self._named(name, near) for name in names]

    def _named(self, name: str, near: npt.NDArray[np.float32] | None) -> list[Node]:
        [wanted] = form_hashes([name])
        begin = int(np.searchsorted(self._forms, wanted, "left"))
        end = int(np.searchsorted(self._forms, wanted, "right"))
        found = np.asarray(self._form_nodes[begin : min(end, begin + _HOMONYMS)], np.int64)
        numbers = np.where(found < 0, ~found, found)
        self._check(numbers, len(self))
        nodes: dict[int, Node] = {}
        for at in np.lexsort((-self._degrees(numbers), found < 0))[:_SHOWN].tolist():
            score, by = (0.95, "alias") if found[at] < 0 else (1.0, "name")
            nodes.setdefault(int(numbers[at]), self._node(int(numbers[at]), score, by))
        if near is not None and len(nodes) > 1:
            ranked = sorted(nodes.items(), key=lambda one: -self._fit(one[0], one[1], near))
            nodes = dict(ranked)
        return sorted(nodes.values(), key=lambda node: node.id != name)  # "RED" is not "Red".

    def _fit(self, number: int, node: Node, near: npt.NDArray[np.float32]) -> float:
        """Tell how well a homonym fits: its best three relations' nearness, and its degree."""
        at = np.array([number])
        links = [edges.links_of(at) for edges in self._edges]
        scores = np.sort(near[np.unique(np.concatenate(links))])
        nearness = float(scores[-3:].mean()) if len(scores) else -1.0
        return nearness + node.score + 0.05 * math.log10(1 + node.degree)

    def similar(self, names: Sequence[str], most: int = 3, least: float = 0.6) -> list[list[Node]]:
        """Return the entities whose names are spelled most like each name; all names are read."""
        best: list[list[tuple[float, int]]] = [[] for _ in names]
        for start, texts in self._names.parts() if names else ():
            scores = process.cdist(
                [name[:_COMPARED] for name in names],
                [text[:_COMPARED] for text in texts],
                scorer=fuzz.ratio,
                processor=utils.default_process,
                score_cutoff=100 * least,
                dtype=np.float32,
            )
            scores[:, self._flags[start : start + len(texts)] != NAMED] = 0
            for row, found in zip(scores, best, strict=True):
                places = np.argsort(-row, kind="stable")[:most].tolist()
                found += ((float(row[at]) / 100, start + at) for at in places if row[at])
                found.sort(key=lambda one: (-one[0], one[1]))
                del found[most:]
        return [[self._node(at, score, "similar") for score, at in found] for found in best]

    def nearest(self, question: npt.NDArray[np.float32]) -> list[Node]:
        """Return the entity whose vector is nearest a question's, if entities have vectors."""
        if self._vectors is None:
            return []
        best = (_NEAR, -1)
        for start in range(0, len(self._vectors), _VECTORS_AT_ONCE):
            scores = self._vectors[start : start + _VECTORS_AT_ONCE] @ question
            scores[self._flags[start : start + _VECTORS_AT_ONCE] != NAMED] = -1
            at = int(scores.argmax())
            best = max(best, (float(scores[at]), start + at))
        return [self._node(best[1], best[0], "vector")] if best[1] >= 0 else []

    def subgraph(
        self,
        ids: Sequence[str],
        depth: int = 2,
        most: int = MOST,
        question: npt.NDArray[np.float32] | None = None,
    ) -> Subgraph:
        """Return the facts around entities, at most ``depth`` facts away.

        A question's vector chooses the edges of hubs.
        """
        found = [(id, self._ids.find(id)) for id in dict.fromkeys(ids)]
        if unknown := [id for id, number in found if number is None]:
            raise InputError(
                f"{self.name} has no entity with the id {unknown[0][:200]!r}. The graph may have "
                "changed: ask again."
            )
        topics = np.array([number for _, number in found], np.int64)
        near = self._near(question)
        try:
            rows, cut = cut_out(
                self._edges,
                topics,
                depth,
                most,
                near=self._rarity if near is None else near,
                is_end=lambda numbers: (self._flags[numbers] & LITERAL) > 0,
            )
        except (IndexError, ValueError) as error:
            raise self._damaged() from error
        self._check(rows[:, [0, 2]], len(self))
        self._check(rows[:, 1], len(self.relations))
        nodes, places = np.unique(
            np.concatenate([topics, rows[:, 0], rows[:, 2]]), return_inverse=True
        )
        links, link_places = np.unique(rows[:, 1], return_inverse=True)
        heads, tails = np.split(places[len(topics) :], 2)
        return Subgraph(
            entities=self._names.of(nodes),
            ids=self._ids.of(nodes),
            named=(self._flags[nodes] & NAMED) > 0,
            relations=[self.relations[link].name for link in links.tolist()],
            triples=np.stack([heads, link_places, tails], axis=1).astype(np.int64),
            topics=places[: len(topics)].astype(np.int64),
            cut=cut,
        )

    def _near(self, question: npt.NDArray[np.float32] | None) -> npt.NDArray[np.float32] | None:
        if question is None or self._relation_vectors is None:
            return None
        near: npt.NDArray[np.float32] = self._relation_vectors @ question
        return near

    def _check(self, numbers: npt.NDArray[np.int64], size: int) -> None:
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < size:
            raise self._damaged()

    def _damaged(self) -> IndexCorruptError:
        return IndexCorruptError(f"{self.path} is damaged: it names unknown nodes. {REBUILD}")
