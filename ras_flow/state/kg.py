"""The question's own knowledge graph G_Q: keyed triples, their merge, and a view to read them.

All functions are pure; the graph itself lives in the state as ``dict[triple id, Triple]``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from ras_flow.formats.normalize import best_surface, normalize_name
from ras_flow.formats.triples import clean_field
from ras_flow.state.schema import Extracted, Hop, Triple


@lru_cache(maxsize=16_384)
def triple_id(subject: str, predicate: str, object: str) -> str:
    """Return the key of a triple: 12 hex digits of a SHA-256 of its normalised parts.

    Args:
        subject: The subject, in any spelling.
        predicate: The predicate.
        object: The object.

    Returns:
        The same id for all spellings that :func:`normalize_name` joins, on every machine.
    """
    key = "\0".join(map(normalize_name, (subject, predicate, object)))
    return sha256(key.encode()).hexdigest()[:12]


def to_new_triples(extracted: Sequence[Extracted]) -> dict[str, Triple]:
    """Key what extractors found and note where it was found.

    Args:
        extracted: The triples of each passage, as (subject, predicate, object).

    Returns:
        Triples by id, in the order found, fields cleaned, each with all its passages. Triples
        with a field that has nothing visible in it are left out.
    """
    found: dict[str, Triple] = {}
    for passage in extracted:
        for parts in passage["triples"]:
            subject, predicate, object = map(clean_field, parts)
            if not all(map(normalize_name, (subject, predicate, object))):
                continue
            triple = Triple(
                subject=subject,
                predicate=predicate,
                object=object,
                passages=[passage["passage"]],
            )
            _add(found, triple_id(subject, predicate, object), triple)
    return found


def merge_triples(
    current: Mapping[str, Triple], update: Mapping[str, Triple | None]
) -> dict[str, Triple]:
    """Merge triples into a graph, G_Q <- G_Q U g'_i (eq. 6): the reducer of the state's graph.

    Merging the same update twice changes nothing, and the result does not depend on how updates
    were grouped. A triple that is known gains the new passages; each of its fields takes the
    better spelling.

    Args:
        current: The graph so far; not changed.
        update: Triples by id; None removes one.

    Returns:
        The merged graph: known triples first, in their order, then new ones in theirs.
    """
    merged = dict(current)
    for id, triple in update.items():
        if triple is None:
            merged.pop(id, None)
        else:
            _add(merged, id, triple)
    return merged


def _add(triples: dict[str, Triple], id: str, new: Triple) -> None:
    known = triples.get(id)
    if known is None:
        triples[id] = new
        return
    triples[id] = Triple(
        subject=best_surface(known["subject"], new["subject"]),
        predicate=best_surface(known["predicate"], new["predicate"]),
        object=best_surface(known["object"], new["object"]),
        passages=list(dict.fromkeys([*known["passages"], *new["passages"]])),
    )


def by_hop(triples: Mapping[str, Triple], hops: Sequence[Hop]) -> list[list[str]]:
    """Return the ids of each g_i: the triples of the passages that hop i retrieved.

    Args:
        triples: The graph.
        hops: The subquery chain.

    Returns:
        One list for each hop, in the order of the graph. A triple of a passage that several hops
        retrieved is in each of them; one without passages is in the last.
    """
    retrieved = [set(hop["passages"]) for hop in hops]
    last = len(hops) - 1
    return [
        [
            id
            for id, triple in triples.items()
            if not passages.isdisjoint(triple["passages"])
            or (index == last and not triple["passages"])
        ]
        for index, passages in enumerate(retrieved)
    ]


@dataclass(frozen=True)
class QueryKG:
    """A view of the graph in which each entity and relation has one spelling.

    Entities are named by their normalised form; methods take any spelling.

    Attributes:
        entities: Best spelling of each entity by normalised name, in order of appearance.
        triples: The triples by id, with the best spellings.
        edges: Normalised subject and object of each triple by id.
        incident: Ids of the triples at each entity, by normalised name.
    """

    entities: dict[str, str]
    triples: dict[str, Triple]
    edges: dict[str, tuple[str, str]]
    incident: dict[str, list[str]]

    @classmethod
    def from_triples(cls, triples: Mapping[str, Triple]) -> QueryKG:
        """Build the view.

        Args:
            triples: The graph as the state holds it; not changed.

        Returns:
            The view; it shares nothing with ``triples`` that it would change.
        """
        entities: dict[str, str] = {}
        relations: dict[str, str] = {}
        labels: dict[str, str] = {}
        edges: dict[str, tuple[str, str]] = {}
        incident: dict[str, list[str]] = {}
        for id, triple in triples.items():
            ends = (
                _note(entities, triple["subject"]),
                _note(entities, triple["object"]),
            )
            labels[id] = _note(relations, triple["predicate"])
            edges[id] = ends
            incident.setdefault(ends[0], []).append(id)
            if ends[1] != ends[0]:
                incident.setdefault(ends[1], []).append(id)
        spelled = {
            id: Triple(
                subject=entities[edges[id][0]],
                predicate=relations[labels[id]],
                object=entities[edges[id][1]],
                passages=triple["passages"],
            )
            for id, triple in triples.items()
        }
        return cls(entities, spelled, edges, incident)

    def neighbours(self, entity: str) -> dict[str, list[str]]:
        """Return what an entity is linked to, in either direction.

        Args:
            entity: Its name in any spelling.

        Returns:
            Ids of the linking triples by the neighbour's normalised name; empty for an unknown
            entity.
        """
        name = normalize_name(entity)
        found: dict[str, list[str]] = {}
        for id in self.incident.get(name, []):
            subject, object = self.edges[id]
            found.setdefault(object if subject == name else subject, []).append(id)
        return found

    def path(self, sources: Iterable[str], targets: Iterable[str]) -> list[str] | None:
        """Find a shortest path between two sets of entities; edges count in both directions.

        Args:
            sources: Entities at one end, in any spelling; unknown ones are ignored.
            targets: Entities at the other end.

        Returns:
            Ids of the triples on the path from source to target, earlier triples preferred; empty
            if an entity is in both sets, None if no path exists.
        """
        goal = set(map(normalize_name, targets))
        starts = [name for name in map(normalize_name, sources) if name in self.entities]
        came_by: dict[str, tuple[str, str] | None] = dict.fromkeys(starts)
        queue = deque(starts)
        while queue:
            name = queue.popleft()
            if name in goal:
                return _trace(came_by, name)
            for other, ids in self.neighbours(name).items():
                if other not in came_by:
                    came_by[other] = (name, ids[0])
                    queue.append(other)
        return None


def _note(surfaces: dict[str, str], text: str) -> str:
    """Keep the best spelling of a name; return its normalised form."""
    name = normalize_name(text)
    known = surfaces.setdefault(name, text)
    if known != text:
        surfaces[name] = best_surface(known, text)
    return name


def _trace(came_by: Mapping[str, tuple[str, str] | None], end: str) -> list[str]:
    ids: list[str] = []
    step = came_by[end]
    while step is not None:
        before, id = step
        ids.append(id)
        step = came_by[before]
    return ids[::-1]
