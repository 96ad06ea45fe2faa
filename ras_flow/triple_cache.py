"""Triples by passage and extractor, in LangGraph's store: shared by runs, threads and processes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, PutOp

from ras_flow.components import Extraction


class TripleCache:
    """What one extractor made of passages so far.

    Args:
        store: The store, or None where the run has none: then nothing is kept.
        extractor: The extractor's identity; a changed extractor never reads another's triples.
    """

    def __init__(self, store: BaseStore | None, extractor: str) -> None:
        self._store = store
        self._namespace = ("ras_flow", "triples", sha256(extractor.encode()).hexdigest()[:16])

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
        found = await self._store.abatch([GetOp(self._namespace, id) for id in passages])
        read = {item.key: _read(item.value) for item in found if isinstance(item, Item)}
        return {id: Extraction(triples) for id, triples in read.items() if triples is not None}

    async def put(self, extractions: dict[str, Extraction]) -> None:
        """Keep what was extracted; failures are not kept, so that they are tried again."""
        if self._store is None:
            return
        await self._store.abatch(
            [
                PutOp(self._namespace, id, {"triples": [list(triple) for triple in made.triples]})
                for id, made in extractions.items()
                if made.error is None
            ]
        )


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
