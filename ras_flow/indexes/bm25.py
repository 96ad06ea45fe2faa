"""Eq. 3 with BM25: passages that share rare words with the query, those that it names first."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ras_flow.documents.source import SourceDocument
from ras_flow.documents.split import split_document
from ras_flow.errors import IndexCorruptError
from ras_flow.formats.tokens import tokenize
from ras_flow.indexes.arrays import OPENING
from ras_flow.indexes.manifest import REBUILD
from ras_flow.indexes.queries import check_queries
from ras_flow.indexes.titles import DEPTH, named_first
from ras_flow.parts.records import ScoredPassage
from ras_flow.state.schema import Document, Passage

if TYPE_CHECKING:
    import bm25s

K1, B = 1.5, 0.75
ANALYSIS = 4
"""Version of what makes an index of texts: the terms of :func:`searchable` and their weights. Raise
it when either changes: an index of another version is not searched before it is renewed."""

QUESTION_WORDS = frozenset({"how", "what", "when", "where", "which", "who", "whom", "whose", "why"})
"""Left out of a query that has others: statements seldom have them, so that BM25 would take them
for words that tell a passage."""


class BM25Retriever:
    """BM25 over titles and texts; finds only passages that share a term with the query.

    Question words ("what") do not count, unless the query has no others. Passages whose title
    the query names are ranked higher, see :mod:`ras_flow.indexes.titles`.
    """

    def __init__(
        self, passages: Sequence[Passage], engine: bm25s.BM25 | None, *, identity: str
    ) -> None:
        self.identity = identity
        self._passages = passages
        self._engine = engine

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> BM25Retriever:
        """Index documents in memory."""
        passages: dict[str, Passage] = {}
        for document in documents:
            whole = SourceDocument("", document.get("title", ""), document["text"])
            for passage in split_document(whole):
                passages.setdefault(passage["id"], passage)
        corpus = list(passages.values())
        digest = sha256("".join(passages).encode()).hexdigest()[:12]
        return cls(corpus, build_bm25(corpus), identity=f"bm25:{digest}")

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first; equal scores in corpus order."""
        check_queries(queries, k)
        return await asyncio.to_thread(lambda: [self._search(query, k) for query in queries])

    def _search(self, query: str, k: int) -> list[ScoredPassage]:
        if self._engine is None:
            return []
        words = tokenize(query)
        telling = [word for word in words if word not in QUESTION_WORDS]
        terms = self._engine.get_tokens_ids(telling or words)
        if not terms:
            return []
        try:
            scores = self._engine.get_scores_from_ids(terms)
        except IndexError as error:
            raise IndexCorruptError(f"BM25's files are damaged ({error}). {REBUILD}") from error
        found = [
            ScoredPassage(self._passages[at], float(scores[at]))
            for at in best(scores, max(k, DEPTH)).tolist()
        ]
        return named_first(found, words, self._rarity)[:k]

    def _rarity(self, words: Collection[str]) -> float:
        """Return the sum of the inverse document frequencies of words, as BM25 weighs them."""
        assert self._engine is not None
        scores: Any = self._engine.scores
        begins, count = scores["indptr"], scores["num_docs"]
        terms = self._engine.get_tokens_ids(list(words))
        frequencies = [int(begins[term + 1] - begins[term]) for term in terms]
        return sum(log(1 + (count - n + 0.5) / (n + 0.5)) for n in frequencies)


def searchable(passage: Passage) -> str:
    """Return what of a passage is searched: title and text."""
    return f"{passage['title']}\n{passage['text']}" if passage["title"] else passage["text"]


def build_bm25(passages: Iterable[Passage]) -> bm25s.BM25 | None:
    """Index passages."""
    import bm25s  # noqa: PLC0415

    vocabulary: dict[str, int] = {}
    corpus = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in tokenize(searchable(passage))]
        for passage in passages
    ]
    if not vocabulary:
        return None
    engine = bm25s.BM25(k1=K1, b=B)
    engine.index((corpus, vocabulary), create_empty_token=False, show_progress=False)
    return engine


def load_bm25(folder: Path) -> bm25s.BM25:
    """Open a saved index; its arrays are memory-mapped and never unpickled."""
    import bm25s  # noqa: PLC0415

    with OPENING:
        engine: Any = bm25s.BM25.load(folder, mmap=True, load_corpus=False, allow_pickle=False)
    for name in ("data", "indices", "indptr"):
        # The same mapped memory as a plain array, whose slices are much faster.
        engine.scores[name] = np.asarray(engine.scores[name])
    return engine


def best(scores: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.intp]:
    """Return the positions of the k highest positive scores, equal ones in order."""
    found = np.flatnonzero(scores > 0)
    values = scores[found]
    if len(found) > k:
        enough = values >= np.partition(values, len(found) - k)[len(found) - k]
        found, values = found[enough], values[enough]
    return found[np.lexsort((found, -values))[:k]]
