"""Algorithm 2 of T²RAG over a stored proposition index."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

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
from ras_flow.state.schema import Passage
from ras_flow.triples.ranking import Hit, rank


class StoredTripleRetriever:
    """Searches the propositions, and returns passages as their index has them now.

    Passages that were removed since do not count; a warning counts those that were added.
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
        # 16 hex digits each.
        keys = np.array([int(id, 16) for id in ids], dtype=np.uint64)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
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
        def search(queries: list[int], depth: int) -> list[list[Hit]]:
            return self._vectors.search(vectors[queries], depth)

        return rank(search, self._propositions, self._passage, skips, k)

    def _passage(self, id: str) -> Passage | None:
        """Return a passage as the index has it now, if it does."""
        key = np.uint64(int(id, 16))
        at = int(self._keys.searchsorted(key))
        known = at < len(self._keys) and self._keys[at] == key
        return self._passages[int(self._order[at])] if known else None


def open_propositions(
    index: Path, extractor: str, encoder: SentenceEncoder
) -> StoredTripleRetriever:
    """Open the propositions of an index, in a thread."""
    if is_engine(index):
        raise IndexMissingError(
            f"{index} names a vector database, which has no propositions: use triple_index="
            '"lazy", or name the folder of an index.'
        )
    folder = proposition_folder(index, extractor)
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
