"""A corpus index on disk: documents, passages, BM25 and vectors."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from ras_flow.documents.source import SourceDocument
from ras_flow.documents.split import MAX_WORDS
from ras_flow.errors import (
    ConfigurationError,
    IndexMismatchError,
    InputError,
)
from ras_flow.indexes.ann import VectorChoice, choose
from ras_flow.indexes.bm25 import ANALYSIS, BM25Retriever, load_bm25
from ras_flow.indexes.contents import Contents, OnProgress, add_documents, read_records
from ras_flow.indexes.dense import DenseRetriever
from ras_flow.indexes.hybrid import HybridRetriever
from ras_flow.indexes.manifest import (
    BM25,
    DOCUMENTS,
    OFFSETS,
    PASSAGES,
    DenseRecord,
    Manifest,
    check_files,
    read_manifest,
)
from ras_flow.indexes.passages import PassageFile, map_file
from ras_flow.indexes.snapshot import Snapshot
from ras_flow.indexes.writer import write_index, write_lock
from ras_flow.parts.protocols import Retriever, SentenceEncoder
from ras_flow.settings.context import RetrieverKind
from ras_flow.support.engine import IN_PROCESS, Engine


class CorpusIndex(Snapshot[Manifest]):
    """An opened index: a snapshot that later updates on disk do not change.

    Make one by :meth:`build` or :meth:`open`.

    Attributes:
        path: The index folder.
        manifest: What it holds.
        passages: The passages, ordered by source and place; read from disk one by one.
        vectors: The passages' vectors, memory-mapped; None without an encoder.
        encoder: For the dense retriever's queries and for updates; None if not given.
    """

    def _load(self, folder: Path) -> tuple[int, int]:
        self.passages = PassageFile(folder / PASSAGES, folder / OFFSETS)
        self._documents = map_file(folder / DOCUMENTS)
        self._bm25 = load_bm25(folder / "bm25") if BM25[0] in self.manifest.files else None
        return self.manifest.passages, len(self.passages)

    @staticmethod
    def _read_manifest(path: Path) -> Manifest:
        return read_manifest(path)

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self.passages)

    @classmethod
    async def build(
        cls,
        path: str | Path,
        documents: Iterable[SourceDocument],
        *,
        encoder: SentenceEncoder | None,
        progress: OnProgress | None = None,
        max_words: int = MAX_WORDS,
        vectors: VectorChoice = "auto",
        shards: int = 1,
        engine: Engine = IN_PROCESS,
    ) -> Self:
        """Split, embed and index documents; an index at the same path is replaced at the end."""
        if max_words < 1:
            raise InputError(f"max_words is {max_words}: a passage needs at least 1 word.")
        choose(vectors, 0, shards)
        path = Path(path)
        async with write_lock(path):
            contents = Contents()
            await add_documents(contents, documents, max_words, progress, engine)
            dense = DenseRecord(asked=vectors, shards=shards)
            await write_index(path, contents, max_words, encoder, dense, None, progress, engine)
        return await asyncio.to_thread(cls.open, path, encoder=encoder)

    async def update(
        self,
        documents: Iterable[SourceDocument] = (),
        *,
        remove: Iterable[str] = (),
        missing_ok: bool = False,
        progress: OnProgress | None = None,
    ) -> Self:
        """Add, change and remove documents; only passages new to the index are embedded.

        Works on what is on disk now, which another process may have changed since this object
        was opened. An unchanged document costs nothing but its reading. BM25's index is rebuilt
        from all passages, even without a change where it is not :attr:`is_current`.
        """
        async with write_lock(self.path):
            base = await asyncio.to_thread(type(self).open, self.path, encoder=self.encoder)
            if base.manifest.encoder and self.encoder is None:
                raise ConfigurationError(
                    f"The index at {self.path} has vectors of {base.manifest.encoder.identity!r}: "
                    "open it with this encoder to update it."
                )
            contents = await asyncio.to_thread(base._contents)
            before = dict(contents.documents)
            given = await add_documents(contents, documents, base.manifest.max_words, progress)
            for source in dict.fromkeys(remove):
                if source in given:
                    continue
                if contents.documents.pop(source, None) is None and not missing_ok:
                    raise InputError(
                        f"The index at {self.path} has no document {source!r} to remove: "
                        "`ras-flow index info` and CorpusIndex.sources() list them."
                    )
            if contents.documents == before and base.is_current:
                return base
            # What is damaged would get a new checksum, and never be noticed.
            await asyncio.to_thread(
                check_files, self.path, base.manifest, searched=False, thorough=True
            )
            encoder = self.encoder if base.manifest.encoder else None
            known = (passage["id"] for passage in base.passages)
            old = None if base.vectors is None else (known, base.vectors)
            dense = base.manifest.dense or DenseRecord()
            await write_index(
                self.path, contents, base.manifest.max_words, encoder, dense, old, progress
            )
        return await asyncio.to_thread(type(self).open, self.path, encoder=self.encoder)

    @property
    def is_current(self) -> bool:
        """Whether BM25's index was made as this version makes it; else an update renews it."""
        return self.manifest.analysis == ANALYSIS

    async def sources(self) -> dict[str, str]:
        """Return the content hash of each document by its source."""
        records = await asyncio.to_thread(lambda: read_records(self._documents[:]))
        return {source: record.content_hash for source, record in records.items()}

    def ids(self) -> list[str]:
        """Return the passages' ids, in their order; no passage is read."""
        records = read_records(self._documents[:])
        return list(dict.fromkeys(id for one in records.values() for id in one.passages))

    def retriever(self, kind: RetrieverKind = "hybrid") -> Retriever:
        """Return a retriever over this index (eq. 3)."""
        if kind == "bm25":
            return self._bm25_retriever()
        if kind == "dense":
            return self._dense_retriever()
        if kind == "hybrid":
            return HybridRetriever(self._bm25_retriever(), self._dense_retriever())
        raise ConfigurationError(f"Unknown retriever {kind!r}: use bm25, dense or hybrid.")

    def _contents(self) -> Contents:
        passages = {passage["id"]: passage for passage in self.passages}
        return Contents(read_records(self._documents[:]), passages)

    def _corpus_id(self) -> str:
        return self.manifest.files[PASSAGES].sha256[:12]

    def _bm25_retriever(self) -> BM25Retriever:
        if not self.is_current:
            renew = shlex.join(["ras-flow", "index", "renew", str(self.path)])
            raise IndexMismatchError(
                f"The index at {self.path} was made by a version of ras-flow that tokenizes "
                f"differently, so that BM25 would miss passages: run `{renew}`, or "
                "CorpusIndex.update(), which embed no passage again."
            )
        return BM25Retriever(self.passages, self._bm25, identity=f"bm25:{self._corpus_id()}")

    def _dense_retriever(self) -> DenseRetriever:
        if self.vectors is None:
            raise ConfigurationError(
                f"The index at {self.path} was built without an encoder: use the bm25 retriever, "
                "or build it again with an encoder."
            )
        if self.encoder is None:
            raise ConfigurationError(
                f"The index at {self.path} was opened without an encoder: open it with the one "
                "that it was built with, or use the bm25 retriever."
            )
        identity = f"dense({self.encoder.identity}):{self._corpus_id()}"
        return DenseRetriever(self.passages, self.vectors, self.encoder, identity=identity)
