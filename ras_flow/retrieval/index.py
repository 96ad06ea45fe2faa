"""A corpus index on disk: documents, passages, BM25 and vectors."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from ras_flow.cluster.engine import HERE, Engine
from ras_flow.components import Retriever, SentenceEncoder
from ras_flow.context import RetrieverKind
from ras_flow.errors import (
    ConfigurationError,
    CorpusIndexError,
    IndexCorruptError,
    IndexMismatchError,
    InputError,
)
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.retrieval.ann import VectorChoice, choose
from ras_flow.retrieval.bm25 import ANALYSIS, BM25Retriever, load_bm25
from ras_flow.retrieval.contents import Contents, OnProgress, add_documents, read_records
from ras_flow.retrieval.dense import DenseRetriever
from ras_flow.retrieval.hybrid import HybridRetriever
from ras_flow.retrieval.manifest import (
    BM25,
    DOCUMENTS,
    OFFSETS,
    PASSAGES,
    REBUILD,
    DenseRecord,
    Manifest,
    check_files,
    read_manifest,
    unreadable,
)
from ras_flow.retrieval.passages import PassageFile, map_file
from ras_flow.retrieval.source import SourceDocument
from ras_flow.retrieval.split import MAX_WORDS
from ras_flow.retrieval.vectors import load_vectors
from ras_flow.retrieval.writer import write_index, writing


class CorpusIndex:
    """An opened index: a snapshot that later updates on disk do not change.

    Make one by :meth:`build` or :meth:`open`.

    Attributes:
        path: The index folder.
        manifest: What it holds.
        passages: The passages, ordered by source and place; read from disk one by one.
        vectors: The passages' vectors, memory-mapped; None without an encoder.
        encoder: For the dense retriever's queries and for updates; None if not given.
    """

    def __init__(self, path: Path, manifest: Manifest, encoder: SentenceEncoder | None) -> None:
        self.path = path
        self.manifest = manifest
        self.encoder = encoder
        check_files(path, manifest, searched=encoder is not None, thorough=False)
        folder = path / manifest.generation
        try:
            self.passages = PassageFile(folder / PASSAGES, folder / OFFSETS)
            self._documents = map_file(folder / DOCUMENTS)
            self._bm25 = load_bm25(folder / "bm25") if BM25[0] in manifest.files else None
            self.vectors = (
                load_vectors(folder, manifest.dense, searched=encoder is not None)
                if manifest.dense
                else None
            )
        except OSError as error:
            raise unreadable(folder, error) from error
        except (ValueError, KeyError) as error:
            raise IndexCorruptError(f"{folder} cannot be read ({error}): {REBUILD}") from error
        whole = len(self.passages) == manifest.passages
        if manifest.encoder and self.vectors is not None:
            expected = (manifest.passages, manifest.encoder.dimension)
            whole = whole and self.vectors.shape == expected
        if not whole:
            raise IndexCorruptError(f"{folder} does not hold what its manifest says: {REBUILD}")

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
        engine: Engine = HERE,
    ) -> Self:
        """Split, embed and index documents; an index at the same path is replaced at the end.

        Args:
            path: The index folder: new, empty, or an index.
            documents: The documents; read in a worker thread, once.
            encoder: Makes the vectors of dense and hybrid retrieval; None for BM25 alone.
            progress: Called on the event loop as work proceeds.
            max_words: Words that a passage aims for.
            vectors: How they are searched: ``"flat"`` compares all, ``"hnsw"`` follows a graph of
                neighbours, ``"ivfpq"`` compares short codes; ``"auto"`` takes the first up to
                100,000 passages, the second up to 1,000,000, else the third. Shards of fewer than
                1,000 passages are flat. The manifest states the recall that was measured.
            shards: Files that the vectors are split into; built and searched in parallel.
            engine: Splits documents and builds what searches the shards. The encoder is given
                as many batches at once as keep it busy; see
                :func:`ras_flow.cluster.encoder.encoder_on`.

        Returns:
            The new index, opened.

        Raises:
            InputError: Two documents have the same source, ``max_words`` or ``shards`` is below 1,
                or the kind of ``vectors`` is unknown.
            DocumentError: A document has no text, or reading the documents failed.
            ConfigurationError: The path is a file or a folder with other things in it, or the
                encoder's vectors cannot be used.
            CorpusIndexError: Another process is writing there, or the disk refuses.
        """
        if max_words < 1:
            raise InputError(f"max_words is {max_words}: a passage needs at least 1 word.")
        choose(vectors, 0, shards)
        path = Path(path)
        async with writing(path):
            contents = Contents()
            await add_documents(contents, documents, max_words, progress, engine)
            dense = DenseRecord(asked=vectors, shards=shards)
            await write_index(path, contents, max_words, encoder, dense, None, progress, engine)
        return await asyncio.to_thread(cls.open, path, encoder=encoder)

    @classmethod
    def open(cls, path: str | Path, *, encoder: SentenceEncoder | None = None) -> Self:
        """Open an index; takes milliseconds to a second, so call it in a thread from async code.

        Each file that is opened is checked: its size, and its hash up to 8 MiB. What searches the
        vectors approximately is opened only with an encoder, and then hashed whatever its size;
        without one, damage to it goes unnoticed until :meth:`verify`.

        Args:
            path: The index folder.
            encoder: The encoder that the index was built with; needed for dense and hybrid
                retrieval and for updates.

        Returns:
            The index.

        Raises:
            IndexMissingError: There is no index.
            IndexCorruptError: A file is missing, truncated or altered.
            IndexMismatchError: The index has another format or was built with another encoder.
            MissingExtraError: An encoder is given, and FAISS, which is needed, not installed.
        """
        path = Path(path)
        while True:
            manifest = read_manifest(path)
            _check_encoder(path, manifest, encoder)
            try:
                return cls(path, manifest, encoder)
            except CorpusIndexError:
                # A writer may have replaced the generation after its manifest was read.
                if read_manifest(path).generation == manifest.generation:
                    raise

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

        Args:
            documents: New documents, and changed ones under their old sources.
            remove: Sources of documents to remove, read after the documents; one that is among
                these stays, and one that is named twice is removed once.
            missing_ok: Whether some of them may be gone already.
            progress: Called on the event loop as work proceeds.

        Returns:
            The updated index, opened; this object still serves the old state.

        Raises:
            InputError: A source to remove is unknown, or a source is given twice.
            DocumentError: A document has no text, or reading the documents failed.
            ConfigurationError: The index has vectors, and this object no encoder.
            CorpusIndexError: Another process is writing there, or the index cannot be read, is
                damaged, or has vectors of another encoder.
        """
        async with writing(self.path):
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
            old = None if base.vectors is None else (base.passages, base.vectors)
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

    def verify(self) -> None:
        """Hash every file, whatever its size, also what was not opened.

        Raises:
            IndexCorruptError: A file is missing, truncated or altered.
            CorpusIndexError: Files are gone since the index was updated.
        """
        try:
            check_files(self.path, self.manifest, searched=True, thorough=True)
        except IndexCorruptError as error:
            if read_manifest(self.path).generation == self.manifest.generation:
                raise
            raise CorpusIndexError(
                f"The index at {self.path} was updated since it was opened: open it again to "
                "verify what is there now."
            ) from error

    def retriever(self, kind: RetrieverKind = "hybrid") -> Retriever:
        """Return a retriever over this index (eq. 3).

        Args:
            kind: ``"bm25"``, ``"dense"``, or ``"hybrid"`` for both by reciprocal rank fusion.

        Returns:
            The retriever.

        Raises:
            ConfigurationError: The kind is unknown, or needs vectors or an encoder that are
                not there.
            IndexMismatchError: BM25 is asked for, and its index is not :attr:`is_current`.
            MissingExtraError: FAISS is not installed.
        """
        if kind == "bm25":
            return self._bm25_retriever()
        if kind == "dense":
            return self._dense_retriever()
        if kind == "hybrid":
            return HybridRetriever([self._bm25_retriever(), self._dense_retriever()])
        raise ConfigurationError(f"No retriever is called {kind!r}: use bm25, dense or hybrid.")

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


def _check_encoder(path: Path, manifest: Manifest, encoder: SentenceEncoder | None) -> None:
    built = manifest.encoder
    if built and encoder and not same_encoder(built.identity, encoder.identity):
        raise IndexMismatchError(
            f"The index at {path} was built with the encoder {built.identity!r}, not with "
            f"{encoder.identity!r}: open it with the former, or build it again with the latter."
        )
