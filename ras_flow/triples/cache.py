"""Triples by passage and extractor, in LangGraph's store: shared by runs, threads and processes.

A passage's triples are at the namespace ``ras_flow, triples, HASH, DIGIT`` (the hash is of the
extractor's identity, the digit the first of the passage's id) under the passage's id. The digit
parts large stores into pieces that can be read whole: LangGraph's stores cannot be paged through
reliably.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.text import UNSTORABLE
from ras_flow.parts.records import Extraction
from ras_flow.state.kg import as_spo
from ras_flow.state.schema import Passage, make_passage
from ras_flow.support.concurrency import to_its_end

PREFIX = ("ras_flow", "triples")

_WHOLE = 2**31 - 1
_AT_ONCE = 1_000

_PATIENCE = 5.0
"""Seconds that a store has to end its work for who is cancelled: its server may be suspended."""


class TripleCache:
    """What one extractor made of passages so far."""

    def __init__(self, store: BaseStore | None, extractor: str) -> None:
        self._store = store
        self._extractor = extractor
        self._hash = sha256(extractor.encode()).hexdigest()[:16]
        self._begun: dict[str, Extraction] = {}

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return what is known of these passages."""
        if self._store is None or not passages:
            return {}
        found = await batch(self._store, [GetOp(self._namespace(id), id) for id in passages])
        read = {item.key: _read(item.value) for item in found if isinstance(item, Item)}
        kept = {id: made for id, made in read.items() if made is not None}
        self._begun.update((id, made) for id, made in kept.items() if made.left)
        return {id: made for id, made in kept.items() if not made.left}

    async def extract(
        self,
        passages: Sequence[Passage],
        ask: Callable[[Sequence[Passage]], Awaitable[Sequence[Extraction]]],
    ) -> list[Extraction]:
        """Extract passages, and keep what was made of them."""
        begun = [self._begun.get(passage["id"]) for passage in passages]
        asked = [
            [make_passage(passage["title"], text) for text in before.left] if before else [passage]
            for passage, before in zip(passages, begun, strict=True)
        ]
        parts = iter(await ask([part for some in asked for part in some]))
        made = [
            _storable(_join(before, [next(parts) for _ in before.left]) if before else next(parts))
            for before in begun
        ]
        await self.put({p["id"]: one for p, one in zip(passages, made, strict=True)})
        return made

    async def put(self, extractions: dict[str, Extraction]) -> None:
        """Keep what was extracted, but no failures, so that they are tried again.

        Of a passage of which parts failed, the others are kept, and which parts are left.
        """
        if self._store is None:
            return
        await batch(
            self._store,
            [
                PutOp(
                    self._namespace(id),
                    id,
                    {
                        "extractor": self._extractor,
                        "triples": [list(triple) for triple in made.triples],
                        **({"left": made.left} if made.left else {}),
                    },
                    index=False,
                )
                for id, made in extractions.items()
                if made.error is None or made.left
            ],
        )

    def _namespace(self, passage: str) -> tuple[str, ...]:
        return (*PREFIX, self._hash, passage[:1] or "0")


@dataclass(frozen=True)
class KeptTriples:
    """What a store holds of one passage.

    Attributes:
        passage: The passage's id.
        extractor: Identity of the extractor that made the triples.
        triples: (subject, predicate, object) in the order of the text; of a passage of which parts
            failed, those of the others.
        namespace: Where in the store it is.
    """

    passage: str
    extractor: str
    triples: list[tuple[str, str, str]]
    namespace: tuple[str, ...]


async def batch(store: BaseStore, operations: Iterable[Op]) -> list[Result]:
    """Do some operations on a store, to their end: the caller may be cancelled meanwhile.

    Left half-way, LangGraph's store in SQLite keeps its transaction open, and nobody can use it.
    """
    return await to_its_end(store.abatch(operations), _PATIENCE)


async def read_kept(store: BaseStore, extractor: str = "") -> AsyncIterator[KeptTriples]:
    """Read what a store holds."""
    for namespace in await _namespaces(store):
        for item in await store.asearch(namespace, limit=_WHOLE):
            made = _read(item.value)
            made_by = item.value.get("extractor")
            if made is not None and isinstance(made_by, str) and extractor in made_by:
                yield KeptTriples(item.key, made_by, made.triples, namespace)


async def clear_kept(store: BaseStore, extractor: str = "") -> int:
    """Delete what a store holds."""
    gone = [(kept.namespace, kept.passage) async for kept in read_kept(store, extractor)]
    for start in range(0, len(gone), _AT_ONCE):
        some = gone[start : start + _AT_ONCE]
        await batch(store, [PutOp(namespace, passage, None) for namespace, passage in some])
    return len(gone)


async def _namespaces(store: BaseStore) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    while some := await store.alist_namespaces(prefix=PREFIX, limit=_AT_ONCE, offset=len(found)):
        found += some
    return found


def _storable(made: Extraction) -> Extraction:
    """Leave out characters that not every store takes: an extractor may be a user's own."""
    triples = [(_plain(s), _plain(p), _plain(o)) for s, p, o in map(as_spo, made.triples)]
    return replace(made, triples=triples, left=[_plain(text) for text in made.left])


def _plain(text: str) -> str:
    return UNSTORABLE.sub("", text)


def _join(before: Extraction, parts: Sequence[Extraction]) -> Extraction:
    """Add what was made of the parts that were left."""
    left = [
        text
        for asked, part in zip(before.left, parts, strict=True)
        if part.error is not None
        for text in part.left or [asked]
    ]
    triples: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for one in (before, *parts):
        for triple in one.triples:
            triples.setdefault(tuple(map(normalize_name, triple)), triple)
    return Extraction(
        list(triples.values()),
        [text for part in parts for text in part.dropped],
        next((part.error for part in parts if part.error is not None), None),
        sum(part.input_tokens for part in parts),
        sum(part.output_tokens for part in parts),
        sum(part.calls for part in parts),
        left,
    )


def _read(value: dict[str, Any]) -> Extraction | None:
    kept, left = value.get("triples"), value.get("left", [])
    if not isinstance(kept, list) or not isinstance(left, list):
        return None
    if not all(isinstance(text, str) for text in left):
        return None
    triples: list[tuple[str, str, str]] = []
    for parts in kept:
        match parts:
            case [str(subject), str(predicate), str(object)]:
                triples.append((subject, predicate, object))
            case _:
                return None
    return Extraction(triples, left=left)
