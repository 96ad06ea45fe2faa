"""The question's own knowledge graph G_Q: keyed triples, their merge, and a view to read them.

All functions are pure; the graph itself lives in the state as ``dict[triple id, Triple]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from types import MappingProxyType

from ras_flow.errors import InputError
from ras_flow.formats.normalize import name_key
from ras_flow.formats.triples import Spo, clean_field
from ras_flow.state.checks import checker, keyed
from ras_flow.state.schema import Extracted, Hop, Passage, Stated, Triple

_check = checker(Triple)


@lru_cache(maxsize=16_384)
def triple_id(subject: str, predicate: str, object: str) -> str:
    """Return the key of a triple: 12 hex digits of a SHA-256 of its parts' name keys."""
    key = "\0".join(map(name_key, (subject, predicate, object)))
    return sha256(key.encode()).hexdigest()[:12]


def spo_of(stated: Stated) -> Spo:
    """Return the fields of a triple, or of what has the same fields."""
    return stated["subject"], stated["predicate"], stated["object"]


def triple_of(spo: Spo, passages: Sequence[str]) -> Triple:
    """Return a triple that passages state."""
    subject, predicate, object = spo
    return Triple(subject=subject, predicate=predicate, object=object, passages=list(passages))


def as_spo(parts: Sequence[str]) -> tuple[str, str, str]:
    """Check that something is a triple."""
    match parts:  # Patterns such as str(subject) would take ten times as long.
        case [subject, predicate, object]:
            if isinstance(subject, str) and isinstance(predicate, str) and isinstance(object, str):
                return subject, predicate, object
    raise InputError(f"{parts!r:.200} is not a triple: give subject, predicate and object.")


def to_new_triples(
    extracted: Sequence[Extracted], passages: Mapping[str, Passage] = MappingProxyType({})
) -> dict[str, Triple]:
    """Key what extractors found and note where it was found; pages give the ids of its names."""
    found: dict[str, Triple] = {}
    for passage in extracted:
        for parts in passage["triples"]:
            subject, predicate, object = map(clean_field, as_spo(parts))
            if not all(map(name_key, (subject, predicate, object))):
                continue
            triple = triple_of((subject, predicate, object), [passage["passage"]])
            page = passages.get(passage["passage"])
            if page and "ids" in page:
                triple["ids"] = [page["ids"].get(name, "") for name in (subject, predicate, object)]
            _add(found, triple_id(subject, predicate, object), triple)
    return found


def merge_triples(
    current: Mapping[str, Triple], update: Mapping[str, Triple | None]
) -> dict[str, Triple]:
    """Merge triples into a graph, G_Q <- G_Q U g'_i (eq. 6): the reducer of the state's graph.

    Merging the same update twice changes nothing, and the result does not depend on how updates
    were grouped. A triple that is known gains the new passages and keeps its spelling, so that
    prompts show it as before. One that someone edited, so that it says something else, takes its
    place.
    """
    merged = dict(current)
    for id, triple in keyed(update):
        if triple is None:
            merged.pop(id, None)
            continue
        new: Triple = _check({"passages": [], **triple} if isinstance(triple, dict) else triple)
        if id in merged and not _says_the_same(merged[id], new):
            merged[id] = new
        else:
            _add(merged, id, new)
    return merged


def _says_the_same(one: Triple, other: Triple) -> bool:
    return _ends(one) == _ends(other) and name_key(one["predicate"]) == name_key(other["predicate"])


def entity_keys(triples: Iterable[Triple]) -> set[str]:
    """Return the keys of the entities of triples."""
    return {name_key(triple[end]) for triple in triples for end in ("subject", "object")}


def _ends(triple: Triple) -> tuple[str, str]:
    return name_key(triple["subject"]), name_key(triple["object"])


def _add(triples: dict[str, Triple], id: str, new: Triple) -> None:
    known = triples.get(id, new)
    passages = list(dict.fromkeys([*known["passages"], *new["passages"]]))
    triples[id] = {**new, **known, "passages": passages}


def last_hop(hops: Sequence[Hop]) -> Hop:
    """Return the hop that is worked on; an edit or pruning may have taken it away."""
    if not hops:
        raise InputError(
            "The state has lost its hops: go on from an earlier step, or ask the question anew if "
            "earlier checkpoints were pruned."
        )
    return hops[-1]


def passage_in(hop: Hop, passages: Mapping[str, Passage], id: str) -> Passage:
    """Return a passage that a hop names."""
    if id not in passages:
        raise InputError(
            f"The state's hop {hop['index']} names the passage {id!r}, which the state does not "
            "have: add it to `passages`, or take it and its score out of the hop."
        )
    return passages[id]


def dropped_in(hops: Sequence[Hop]) -> frozenset[str]:
    """Return the passages that a person dropped."""
    return frozenset(id for hop in hops for id in hop.get("dropped", ()))


def read_in(hop: Hop) -> list[str]:
    """Return the passages of a hop that have been read: all but those whose extraction failed."""
    return [id for id in hop["passages"] if id not in hop.get("failed", ())]


def stated_in(triples: Mapping[str, Triple]) -> set[str]:
    """Return the passages that state a triple."""
    return {id for triple in triples.values() for id in triple["passages"]}


def found_only_known(hop: Hop) -> bool:
    """Tell whether all passages that a hop's search found had been found before."""
    return bool(hop.get("known")) and not hop["passages"]


def by_hop(triples: Mapping[str, Triple], hops: Sequence[Hop]) -> list[list[str]]:
    """Return the ids of each g_i: the triples of the passages that hop i retrieved and read."""
    hops_of: dict[str, list[int]] = {}
    for index, hop in enumerate(hops):
        for passage in read_in(hop):
            hops_of.setdefault(passage, []).append(index)
    last = range(len(hops))[-1:]
    found: list[list[str]] = [[] for _ in hops]
    for id, triple in triples.items():
        at = {index for passage in triple["passages"] for index in hops_of.get(passage, ())}
        for index in at or last:
            found[index].append(id)
    return found


@dataclass(frozen=True)
class QueryKG:
    """A view of the graph by its entities; methods take any spelling of a name.

    Attributes:
        entities: The first spelling of each entity by its name's key, in order of appearance.
        triples: The triples by id, each in the words of its own passage.
        edges: Keys of subject and object of each triple by id.
    """

    entities: dict[str, str]
    triples: Mapping[str, Triple]
    edges: dict[str, tuple[str, str]]

    @classmethod
    def from_triples(cls, triples: Mapping[str, Triple]) -> QueryKG:
        """Build the view."""
        entities: dict[str, str] = {}
        edges: dict[str, tuple[str, str]] = {}
        for id, triple in triples.items():
            edges[id] = subject, object = _ends(triple)
            entities.setdefault(subject, triple["subject"])
            entities.setdefault(object, triple["object"])
        return cls(entities, triples, edges)

    @cached_property
    def incident(self) -> dict[str, list[str]]:
        """Ids of the triples at each entity, by its key."""
        found: dict[str, list[str]] = {}
        for id, ends in self.edges.items():
            for name in dict.fromkeys(ends):
                found.setdefault(name, []).append(id)
        return found
