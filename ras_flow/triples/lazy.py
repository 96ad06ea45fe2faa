"""Algorithm 2 of T²RAG without an index: over the triples of passages that a search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ras_flow.parts.checks import one_each, storable
from ras_flow.parts.protocols import Extractor, Retriever, SentenceEncoder
from ras_flow.parts.records import FoundTriples, TripleQuery
from ras_flow.state.kg import to_new_triples
from ras_flow.state.schema import Passage
from ras_flow.triples.cache import TripleCache
from ras_flow.triples.extraction import as_extracted, extract, pages_triples
from ras_flow.triples.ranking import Hit, proposition, rank


class LazyTripleRetriever:
    """Searches passages by the same texts, extracts what the cache does not know, and ranks that.

    Any retriever will do, also one over LangChain's stores; or passages that are given, which are
    all ranked. Pages of a knowledge graph state their triples themselves.
    """

    def __init__(
        self,
        source: Retriever | Sequence[Passage],
        extractor: Extractor,
        cache: TripleCache,
        encoder: SentenceEncoder,
        warnings: Sequence[str] = (),
    ) -> None:
        searched = "given" if isinstance(source, Sequence) else source.identity
        self.identity = f"lazy({searched}, {extractor.identity})"
        self._source = source
        self._extractor = extractor
        self._cache = cache
        self._encoder = encoder
        self._warnings = warnings

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find the propositions nearest to any query, until they lead to k passages."""
        if not queries:
            return FoundTriples()
        passages = {passage["id"]: passage for passage in await self._passages(queries, k)}
        texts = [passage for passage in passages.values() if "triples" not in passage]
        made = await extract(texts, self._extractor, self._cache)
        extracted = [*as_extracted(made.refined), *pages_triples(passages.values())]
        triples = list(to_new_triples(extracted).values())
        said = [*(query.text for query in queries), *map(proposition, triples)]
        vectors = await self._encoder.encode(said)
        scores = vectors[: len(queries)] @ vectors[len(queries) :].T
        found = rank(
            lambda some, depth: [_nearest(scores[query], depth) for query in some],
            triples,
            passages.get,
            [query.skip for query in queries],
            k,
        )
        return replace(
            found,
            extractions=list(made.fresh.values()),
            warnings=[*self._warnings, *made.problems(texts)],
        )

    async def _passages(self, queries: Sequence[TripleQuery], k: int) -> Sequence[Passage]:
        """Return the k best passages of each query that it has not read."""
        if isinstance(self._source, Sequence):
            return self._source
        most = k + max(len(query.skip) for query in queries)
        asked = self._source.retrieve([query.text for query in queries], most)
        rankings = await one_each(len(queries), list, asked, self._source)
        best: list[Passage] = []
        for query, ranking in zip(queries, rankings, strict=True):
            found = [storable(scored, self._source).passage for scored in ranking]
            best += [passage for passage in found if passage["id"] not in query.skip][:k]
        return best


def _nearest(scores: npt.NDArray[np.float32], depth: int) -> list[Hit]:
    order = (-scores).argsort(kind="stable")[:depth].tolist()
    return [(float(scores[at]), at) for at in order]
