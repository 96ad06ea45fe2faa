"""Algorithm 2 of T²RAG over a stored proposition index."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.documents.index_folders import is_index
from ras_flow.errors import CorpusIndexError, IndexMismatchError, IndexMissingError
from ras_flow.indexes.dense import check_dimension, encode_checked
from ras_flow.indexes.engines.config import is_engine
from ras_flow.indexes.index import CorpusIndex
from ras_flow.indexes.propositions.index import (
    PROPOSITIONS,
    PropositionIndex,
    proposition_folder,
    proposition_indexes,
)
from ras_flow.indexes.queries import check_queries
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.parts.records import FoundTriples, TripleQuery
from ras_flow.triples.ranking import as_found, rank

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class StoredTripleRetriever:
    """Searches the propositions, and returns passages as their index has them now.

    Passages that were removed since do not count; of those that were added a warning tells.
    """

    def __init__(
        self, propositions: PropositionIndex, corpus: CorpusIndex, encoder: SentenceEncoder
    ) -> None:
        manifest = propositions.manifest
        digest = manifest.files[PROPOSITIONS].sha256[:12]
        self.identity = f"triples({manifest.extractor}, {encoder.identity}):{digest}"
        self._propositions = propositions.propositions
        if propositions.vectors is None or not len(propositions):
            raise CorpusIndexError(
                f"The index at {corpus.path} has no propositions, since {manifest.extractor!r} "
                "found nothing in its passages. Add documents, or name another extractor."
            )
        self._vectors = propositions.vectors.on_gpu()
        self._passages = corpus.passages
        self._encoder = encoder
        ids = corpus.ids()
        self._places = _Places(ids)
        unread = len(set(ids).difference(propositions.read()))
        command = shlex.join(["ras-flow", "triples", "index", str(corpus.path)])
        self._warnings = [
            f"The propositions of {corpus.path} are behind: {unread} of its {len(ids)} passages "
            f"have none there yet. Run `{command}`."
        ] * bool(unread)

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find the propositions nearest to any query, until they lead to k passages."""
        texts = [query.text for query in queries]
        check_queries(texts, k)
        if not texts:
            return FoundTriples(warnings=self._warnings)
        vectors = await encode_checked(self._encoder, texts)
        check_dimension(self._vectors, self._encoder)
        found = await asyncio.to_thread(self._rank, vectors, [one.skip for one in queries], k)
        return replace(found, warnings=self._warnings)

    def _rank(
        self, vectors: npt.NDArray[np.float32], skips: Sequence[frozenset[str]], k: int
    ) -> FoundTriples:
        ranking = rank(
            lambda queries, depth: self._vectors.search(vectors[queries], depth),
            lambda at: [id for id in self._propositions[at]["passages"] if id in self._places],
            skips,
            k,
        )
        return as_found(ranking, self._propositions, lambda id: self._passages[self._places[id]])


def open_propositions(
    index: Path, extractor: str, encoder: SentenceEncoder
) -> StoredTripleRetriever:
    """Open the propositions of an index, in a thread.

    Raises:
        IndexMissingError: It lacks a triple index.
        IndexMismatchError: It has some of another extractor or encoder.
    """
    folder = proposition_folder(index, extractor)
    if is_engine(index):
        raise IndexMissingError(
            f"{index} names a vector database, which has no propositions: use triple_index="
            '"lazy", or name the folder of an index.'
        )
    if not is_index(folder):
        ways = (
            f"run `{shlex.join(['ras-flow', 'triples', 'index', str(index)])}` with this "
            'extractor, or use triple_index="lazy".'
        )
        for other in proposition_indexes(index):
            raise IndexMismatchError(
                f"The propositions of {index} are those of {other.manifest.extractor!r}, not of "
                f"the extractor {extractor!r}: name the former, {ways}"
            )
        raise IndexMissingError(f"The index at {index} has no propositions: {ways}")
    corpus = CorpusIndex.open(index)
    return StoredTripleRetriever(PropositionIndex.open(folder, encoder=encoder), corpus, encoder)


class _Places:
    """Where an index has each passage: 16 bytes a passage, as ids are 16 hex digits."""

    def __init__(self, ids: Sequence[str]) -> None:
        import numpy as np  # noqa: PLC0415

        keys = np.fromiter((int(id, 16) for id in ids), dtype=np.uint64, count=len(ids))
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def __contains__(self, id: str) -> bool:
        at = self._at(id)
        return at < len(self._keys) and int(self._keys[at]) == int(id, 16)

    def __getitem__(self, id: str) -> int:
        return int(self._order[self._at(id)])

    def _at(self, id: str) -> int:
        return int(self._keys.searchsorted(self._keys.dtype.type(int(id, 16))))
