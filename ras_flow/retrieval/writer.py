"""Writing an index: reading documents, embedding, and the switch to a new generation."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ras_flow.components import SentenceEncoder
from ras_flow.errors import (
    ConfigurationError,
    CorpusIndexError,
    DocumentError,
    IndexCorruptError,
    InputError,
)
from ras_flow.retrieval.bm25 import build_bm25, searchable
from ras_flow.retrieval.dense import encode_checked
from ras_flow.retrieval.manifest import (
    BM25,
    DOCUMENTS,
    MANIFEST,
    OFFSETS,
    PASSAGES,
    REBUILD,
    VECTORS,
    EncoderRecord,
    FileRecord,
    Manifest,
    record_file,
    write_manifest,
)
from ras_flow.retrieval.passages import write_passages
from ras_flow.retrieval.source import SourceDocument
from ras_flow.retrieval.split import split_document
from ras_flow.state.schema import Passage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LOCK = ".lock"
_READ_AT_ONCE = 64
_EMBED_AT_ONCE = 512


@dataclass(frozen=True)
class IndexProgress:
    """How far a build or update is.

    Attributes:
        stage: ``"read"`` counts documents, ``"embed"`` passages, ``"write"`` files.
        done: How many are done.
        total: How many there are; None while documents are still being read.
    """

    stage: Literal["read", "embed", "write"]
    done: int
    total: int | None = None


Report = Callable[[IndexProgress], None]


@dataclass(frozen=True)
class DocumentRecord:
    """A document of an index: what tells whether it changed, and its passages' ids."""

    content_hash: str
    passages: tuple[str, ...]


@dataclass
class Contents:
    """What an index will hold, in memory while it is written.

    Attributes:
        documents: The documents by source.
        passages: Passages by id: all that the documents name, perhaps more.
    """

    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    passages: dict[str, Passage] = field(default_factory=dict)

    def ordered(self) -> dict[str, Passage]:
        """Return the passages in index order, each with the source of its first document.

        The order depends on the documents alone, so that an updated index equals one that was
        built anew.
        """
        ordered: dict[str, Passage] = {}
        for source in sorted(self.documents):
            for key in self.documents[source].passages:
                ordered.setdefault(key, {**self.passages[key], "source": source})
        return ordered


@asynccontextmanager
async def writing(path: Path) -> AsyncIterator[None]:
    """Hold the right to write an index folder, which is made if need be.

    Args:
        path: The index folder.

    Yields:
        Nothing.

    Raises:
        ConfigurationError: The path is a file, or a folder with other things in it.
        CorpusIndexError: Another process is writing there, or the disk refuses.
    """
    import filelock  # noqa: PLC0415

    try:
        await asyncio.to_thread(_make_folder, path)
        lock = filelock.FileLock(path / LOCK, timeout=0, thread_local=False)
        lock.acquire()
    except filelock.Timeout as error:
        raise CorpusIndexError(
            f"The index at {path} is being written by another process or task: try again when it "
            "is done."
        ) from error
    except OSError as error:
        raise CorpusIndexError(f"Cannot write an index at {path}: {error}") from error
    try:
        yield
    finally:
        lock.release()


def _make_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise ConfigurationError(f"{path} is a file: choose a folder for the index.")
    path.mkdir(parents=True, exist_ok=True)
    if (path / MANIFEST).exists():
        return
    strange = [
        item.name
        for item in path.iterdir()
        if item.name != LOCK and not item.name.startswith("gen-")
    ]
    if strange:
        raise ConfigurationError(
            f"{path} holds {strange[0]!r} and is no index: choose a new or empty folder."
        )


async def add_documents(
    contents: Contents,
    documents: Iterable[SourceDocument],
    max_words: int,
    progress: Report | None,
) -> None:
    """Split documents that are new or changed into passages.

    Args:
        contents: Where they go.
        documents: The documents, read in a worker thread.
        max_words: Words that a passage aims for.
        progress: Called on the event loop.

    Raises:
        InputError: A source is given twice.
        DocumentError: A document has no text.
    """
    rest = iter(documents)
    seen: set[str] = set()

    def add_some() -> int:
        batch = list(islice(rest, _READ_AT_ONCE))
        for document in batch:
            if document.source in seen:
                raise InputError(
                    f"Two documents have the source {document.source!r}: give each its own."
                )
            seen.add(document.source)
            _add(contents, document, max_words)
        return len(batch)

    while await asyncio.to_thread(add_some):
        if progress:
            progress(IndexProgress("read", len(seen)))


def _add(contents: Contents, document: SourceDocument, max_words: int) -> None:
    known = contents.documents.get(document.source)
    if known and known.content_hash == document.content_hash:
        return
    passages = split_document(document.title, document.text, document.source, max_words)
    if not passages:
        raise DocumentError(f"{document.source} has no text: leave it out.")
    contents.documents[document.source] = DocumentRecord(
        document.content_hash, tuple(passage["id"] for passage in passages)
    )
    contents.passages.update((passage["id"], passage) for passage in passages)


def read_records(lines: bytes) -> dict[str, DocumentRecord]:
    """Parse an index's documents file.

    Args:
        lines: Its content.

    Returns:
        The documents by source, sorted.

    Raises:
        IndexCorruptError: A line is damaged.
    """
    try:
        records = [json.loads(line) for line in lines.splitlines()]
        return {
            record["source"]: DocumentRecord(record["hash"], tuple(record["passages"]))
            for record in records
        }
    except (ValueError, KeyError, TypeError) as error:
        raise IndexCorruptError(f"{DOCUMENTS} is damaged ({error}): {REBUILD}") from error


async def write_index(
    path: Path,
    contents: Contents,
    max_words: int,
    encoder: SentenceEncoder | None,
    old: tuple[Sequence[Passage], npt.NDArray[np.float32]] | None,
    progress: Report | None,
) -> None:
    """Write a new generation, switch to it, and remove the others.

    Args:
        path: The index folder, held by :func:`writing`.
        contents: What the index will hold.
        max_words: The splitter's setting, for later updates.
        encoder: Makes the vectors; None for BM25 alone.
        old: Passages whose vectors are known, and these vectors.
        progress: Called on the event loop.

    Raises:
        ConfigurationError: The encoder's vectors cannot be used.
        CorpusIndexError: The disk refuses.
    """
    passages = contents.ordered()
    folder = path / f"gen-{secrets.token_hex(8)}"
    try:
        await asyncio.to_thread(folder.mkdir)
        if encoder:
            vectors = await _vectors(passages, encoder, old, progress)
            await asyncio.to_thread(_save_vectors, folder, vectors)
        files = await asyncio.to_thread(_write_files, folder, contents, passages)
        # Not in a thread: once cancelled, this task must not switch any more.
        write_manifest(
            path,
            Manifest(
                generation=folder.name,
                documents=len(contents.documents),
                passages=len(passages),
                max_words=max_words,
                encoder=EncoderRecord(encoder.identity, encoder.dimension) if encoder else None,
                files=files,
            ),
        )
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise CorpusIndexError(f"Cannot write an index at {path}: {error}") from error
        raise
    if progress:
        progress(IndexProgress("write", len(files), len(files)))
    await asyncio.to_thread(_sweep, path, folder.name)


async def _vectors(
    passages: dict[str, Passage],
    encoder: SentenceEncoder,
    old: tuple[Sequence[Passage], npt.NDArray[np.float32]] | None,
    progress: Report | None,
) -> npt.NDArray[np.float32]:
    """Return the passages' vectors, shape (passages, dimension), encoding only new ones."""
    import numpy as np  # noqa: PLC0415

    vectors = np.empty((len(passages), encoder.dimension), dtype=np.float32)
    new = dict(zip(passages, range(len(passages)), strict=True))
    if old:
        for row, passage in enumerate(old[0]):
            if (place := new.pop(passage["id"], None)) is not None:
                vectors[place] = old[1][row]
    keys = list(new)
    for start in range(0, len(keys), _EMBED_AT_ONCE):
        some = keys[start : start + _EMBED_AT_ONCE]
        texts = [searchable(passages[key]) for key in some]
        vectors[[new[key] for key in some]] = await encode_checked(encoder, texts)
        if progress:
            progress(IndexProgress("embed", start + len(some), len(keys)))
    return vectors


def _save_vectors(folder: Path, vectors: npt.NDArray[np.float32]) -> None:
    import numpy as np  # noqa: PLC0415

    np.save(folder / VECTORS, vectors, allow_pickle=False)


def _write_files(
    folder: Path, contents: Contents, passages: dict[str, Passage]
) -> dict[str, FileRecord]:
    write_passages(folder / PASSAGES, folder / OFFSETS, passages.values())
    with (folder / DOCUMENTS).open("w", encoding="utf-8") as file:
        for source in sorted(contents.documents):
            record = contents.documents[source]
            line = {"source": source, "hash": record.content_hash, "passages": record.passages}
            file.write(json.dumps(line) + "\n")
    engine = build_bm25(passages.values())
    if engine:
        engine.save(folder / "bm25", show_progress=False)
    names = [PASSAGES, OFFSETS, DOCUMENTS, VECTORS, *BM25]
    return {name: record_file(folder / name) for name in names if (folder / name).exists()}


def _sweep(path: Path, keep: str) -> None:
    """Remove other generations: the last one, and what killed writers left."""
    for item in path.glob("gen-*"):
        if item.is_dir() and item.name != keep:
            shutil.rmtree(item, ignore_errors=True)
        elif item.suffix == ".json":
            item.unlink(missing_ok=True)
