"""Triples by passage and extractor, in LangGraph's store: shared by runs, threads and processes.

A passage's triples are at the namespace ``ras_flow, triples, HASH, DIGIT`` (the hash is of the
extractor's identity, the digit the first of the passage's id) under the passage's id. The digit
divides large stores into pieces that can be read whole: LangGraph's stores cannot be paged through
reliably.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NotRequired

from langgraph.store.base import BaseStore, PutOp
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ras_flow.formats.normalize import name_key
from ras_flow.formats.text import UNSTORABLE
from ras_flow.parts.records import Extraction
from ras_flow.state.kg import as_spo
from ras_flow.state.schema import Passage, make_passage
from ras_flow.support.calls import CallCache, Place, Value, batch

PREFIX = ("ras_flow", "triples")

_WHOLE = 2**31 - 1
_AT_ONCE = 1_000


class _Kept(TypedDict):
    triples: list[tuple[str, str, str]]
    left: NotRequired[list[str]]


_KEPT = TypeAdapter(_Kept)


class TripleCache:
    """What one extractor made of passages so far; without a store, nothing is kept."""

    def __init__(self, store: BaseStore | None, extractor: str) -> None:
        self._calls = CallCache(store)
        self._extractor = extractor
        self._namespace = (*PREFIX, sha256(extractor.encode()).hexdigest()[:16])

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return the triples of those passages that were read whole."""
        return {id: made for id, made in (await self._begun(passages)).items() if not made.left}

    async def extract(
        self,
        passages: Sequence[Passage],
        ask: Callable[[Sequence[Passage]], Awaitable[Sequence[Extraction]]],
    ) -> list[Extraction]:
        """Extract passages, and keep what was made of them.

        If a passage was read in part, only the rest is asked for. A passage that another run is
        extracting is not extracted again: its triples come at no cost.
        """
        ids = [passage["id"] for passage in passages]
        async with self._calls.alone(map(self._place, ids)):
            begun = await self._begun(ids)
            asked: list[Passage] = []
            for passage in passages:
                before = begun.get(passage["id"])
                if before is None:
                    asked.append(passage)
                else:
                    asked += [make_passage(passage["title"], text) for text in before.left]
            answers = iter(await ask(asked) if asked else [])
            made = {}
            for id in ids:
                before = begun.get(id)
                if before is None:
                    made[id] = _storable(next(answers))
                elif before.left:
                    made[id] = _storable(_join(before, [next(answers) for _ in before.left]))
            await self.put(made)
        return [made[id] if id in made else replace(begun[id], calls=0) for id in ids]

    async def put(self, extractions: Mapping[str, Extraction]) -> None:
        """Keep what was extracted.

        Failures are not kept, so that they are tried again. A passage that was read in part is kept
        with the texts that are left.
        """
        await self._calls.put(
            (
                self._place(id),
                {
                    "extractor": self._extractor,
                    "triples": [list(triple) for triple in made.triples],
                    **({"left": made.left} if made.left else {}),
                },
            )
            for id, made in extractions.items()
            if made.error is None or made.left
        )

    async def _begun(self, passages: Sequence[str]) -> dict[str, Extraction]:
        values = await self._calls.get([self._place(id) for id in passages])
        found = {id: _read(value) for id, value in zip(passages, values, strict=True)}
        return {id: made for id, made in found.items() if made is not None}

    def _place(self, passage: str) -> Place:
        return (*self._namespace, passage[:1] or "0"), passage


@dataclass(frozen=True)
class KeptTriples:
    """What a store holds of a passage: all its triples, or those of the parts that were read."""

    passage: str
    extractor: str
    triples: list[tuple[str, str, str]]
    namespace: tuple[str, ...]


async def read_kept(store: BaseStore, extractor: str = "") -> AsyncIterator[KeptTriples]:
    """Read what a store holds of extractors with this text in their names."""
    for namespace in await _namespaces(store):
        for item in await store.asearch(namespace, limit=_WHOLE):
            made, made_by = _read(item.value), item.value.get("extractor")
            if made is not None and isinstance(made_by, str) and extractor in made_by:
                yield KeptTriples(item.key, made_by, made.triples, namespace)


async def clear_kept(store: BaseStore, extractor: str = "") -> int:
    """Delete what a store holds of extractors with this text in their names."""
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
    """Leave out characters that some stores refuse: a user's own extractor may return them."""
    triples = [(_plain(s), _plain(p), _plain(o)) for s, p, o in map(as_spo, made.triples)]
    return replace(made, triples=triples, left=[_plain(text) for text in made.left])


def _plain(text: str) -> str:
    return UNSTORABLE.sub("", text)


def _join(before: Extraction, parts: Sequence[Extraction]) -> Extraction:
    """Add what was made of the rest."""
    left = [
        text
        for asked, part in zip(before.left, parts, strict=True)
        if part.error is not None
        for text in part.left or [asked]
    ]
    triples: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for one in (before, *parts):
        for triple in one.triples:
            triples.setdefault(tuple(map(name_key, triple)), triple)
    return Extraction(
        list(triples.values()),
        [text for part in parts for text in part.dropped],
        next((part.error for part in parts if part.error is not None), None),
        sum(part.input_tokens for part in parts),
        sum(part.output_tokens for part in parts),
        sum(part.calls for part in parts),
        left,
        sum(part.cached_tokens for part in parts),
    )


def _read(value: Value | None) -> Extraction | None:
    """Return what a value of the store says of a passage; None if it says nothing valid."""
    if value is None:
        return None
    try:
        kept = _KEPT.validate_python(value)
    except ValidationError:
        return None
    return Extraction(kept["triples"], left=kept.get("left", []))
