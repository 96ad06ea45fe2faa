"""Triples by passage and extractor, in LangGraph's store: shared by runs, threads and processes.

A passage's triples are at the namespace ``ras_flow, triples, HASH, DIGIT`` (the hash is of the
extractor's identity, the digit the first of the passage's id) under the passage's id. The digit
parts large stores into pieces that can be read whole: LangGraph's stores cannot be paged through
reliably.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, PutOp

from ras_flow.components import Extraction

PREFIX = ("ras_flow", "triples")

_WHOLE = 2**31 - 1
_AT_ONCE = 1_000


class TripleCache:
    """What one extractor made of passages so far.

    Args:
        store: The store, or None where the run has none: then nothing is kept.
        extractor: The extractor's identity; a changed extractor never reads another's triples.
    """

    def __init__(self, store: BaseStore | None, extractor: str) -> None:
        self._store = store
        self._extractor = extractor
        self._hash = sha256(extractor.encode()).hexdigest()[:16]

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return what is known of these passages.

        Args:
            passages: Passage ids.

        Returns:
            Extractions by passage id, without tokens: they cost nothing this time. What is no
            list of triples, as others may have put there, counts as unknown.
        """
        if self._store is None or not passages:
            return {}
        found = await self._store.abatch([GetOp(self._namespace(id), id) for id in passages])
        read = {item.key: _read(item.value) for item in found if isinstance(item, Item)}
        return {id: Extraction(triples) for id, triples in read.items() if triples is not None}

    async def put(self, extractions: dict[str, Extraction]) -> None:
        """Keep what was extracted; failures are not kept, so that they are tried again."""
        if self._store is None:
            return
        await self._store.abatch(
            [
                PutOp(
                    self._namespace(id),
                    id,
                    {
                        "extractor": self._extractor,
                        "triples": [list(triple) for triple in made.triples],
                    },
                    index=False,
                )
                for id, made in extractions.items()
                if made.error is None
            ]
        )

    def _namespace(self, passage: str) -> tuple[str, ...]:
        return (*PREFIX, self._hash, passage[:1] or "0")


@dataclass(frozen=True)
class KeptTriples:
    """What a store holds of one passage.

    Attributes:
        passage: The passage's id.
        extractor: Identity of the extractor that made the triples.
        triples: (subject, predicate, object) in the order of the text.
        namespace: Where in the store it is.
    """

    passage: str
    extractor: str
    triples: list[tuple[str, str, str]]
    namespace: tuple[str, ...]


async def read_kept(store: BaseStore, extractor: str = "") -> AsyncIterator[KeptTriples]:
    """Read what a store holds.

    Args:
        store: Any LangGraph store.
        extractor: Leave out extractors whose identity does not contain this text.

    Yields:
        Each passage's triples, by extractor; a sixteenth of an extractor's is in memory at once.
    """
    for namespace in await _namespaces(store):
        for item in await store.asearch(namespace, limit=_WHOLE):
            triples = _read(item.value)
            made_by = item.value.get("extractor")
            if triples is not None and isinstance(made_by, str) and extractor in made_by:
                yield KeptTriples(item.key, made_by, triples, namespace)


async def clear_kept(store: BaseStore, extractor: str = "") -> int:
    """Delete what a store holds.

    Args:
        store: Any LangGraph store.
        extractor: As for :func:`read_kept`.

    Returns:
        How many passages' triples were deleted.
    """
    gone = [kept async for kept in read_kept(store, extractor)]
    for start in range(0, len(gone), _AT_ONCE):
        some = gone[start : start + _AT_ONCE]
        await store.abatch([PutOp(kept.namespace, kept.passage, None) for kept in some])
    return len(gone)


async def _namespaces(store: BaseStore) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    while some := await store.alist_namespaces(prefix=PREFIX, limit=_AT_ONCE, offset=len(found)):
        found += some
    return found


def _read(value: dict[str, Any]) -> list[tuple[str, str, str]] | None:
    kept = value.get("triples")
    if not isinstance(kept, list):
        return None
    triples: list[tuple[str, str, str]] = []
    for parts in kept:
        match parts:
            case [str(subject), str(predicate), str(object)]:
                triples.append((subject, predicate, object))
            case _:
                return None
    return triples
