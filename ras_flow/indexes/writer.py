"""Writing an index: embedding, files, and the switch to a new generation."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from ras_flow.documents.index_folders import INDEX, is_generation, kind_of, use_of
from ras_flow.documents.split import sentences
from ras_flow.errors import ConfigurationError, CorpusIndexError
from ras_flow.indexes.bm25 import ANALYSIS, build_bm25, searchable
from ras_flow.indexes.contents import Contents, IndexProgress, OnProgress
from ras_flow.indexes.manifest import (
    BM25,
    DOCUMENTS,
    OFFSETS,
    PASSAGES,
    DenseRecord,
    EncoderRecord,
    FileRecord,
    Generation,
    Manifest,
    vector_files,
    write_manifest,
)
from ras_flow.indexes.passages import write_lines
from ras_flow.indexes.vector_writer import Embedded, Old, write_vectors
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import to_its_end
from ras_flow.support.engine import IN_PROCESS, Engine
from ras_flow.support.files import checksum, file_lock
from ras_flow.support.paths import cache_folder

T = TypeVar("T")
Given = TypeVarTuple("Given")

LOCK = ".lock"


@asynccontextmanager
async def write_lock(path: Path, what: str = INDEX) -> AsyncIterator[None]:
    """Hold the right to write a folder of some kind, which is made if need be."""
    busy = CorpusIndexError(
        f"Another process or task is writing {path}: try again when it is done."
    )
    with ExitStack() as held:
        try:
            await asyncio.to_thread(_make_folder, path, what)
            await asyncio.to_thread(held.enter_context, file_lock(path / LOCK, busy))
        except OSError as error:
            raise _cannot_write(path, error) from error
        yield


def _cannot_write(path: Path, error: OSError) -> CorpusIndexError:
    in_cache = cache_folder() in path.parents
    hint = " Set RAS_FLOW_CACHE to a folder that can be written." if in_cache else ""
    return CorpusIndexError(f"Cannot write {path}: {error}.{hint}")


def _make_folder(path: Path, what: str) -> None:
    if path.exists() and not path.is_dir():
        raise ConfigurationError(f"{path} is a file: choose a folder.")
    path.mkdir(parents=True, exist_ok=True)
    if (held := kind_of(path)) not in (what, "", None):
        raise ConfigurationError(f"{path} is {use_of(path)}. Choose another folder to build in.")
    if held is not None:
        return
    strange = [
        item.name
        for item in path.iterdir()
        if item.name != LOCK and not is_generation(item.name.removesuffix(".json"))
    ]
    if strange:
        raise ConfigurationError(
            f"{path} holds {strange[0]!r}, which ras-flow did not build: choose a new or empty "
            "folder."
        )


async def write_index(
    path: Path,
    contents: Contents,
    max_words: int,
    encoder: SentenceEncoder | None,
    dense: DenseRecord,
    old: Old | None,
    progress: OnProgress | None,
    engine: Engine = IN_PROCESS,
) -> None:
    """Write a new generation of an index of passages."""
    passages = contents.ordered()

    async def write(folder: Path) -> Manifest:
        record = dense
        if encoder:
            texts = Embedded(passages, searchable, lambda one: next(sentences(one["text"])))
            record = await write_vectors(folder, texts, encoder, dense, old, progress, engine)
        if progress:
            progress(IndexProgress("write", 0))
        names = await in_thread(_write_files, folder, contents, passages)
        names += vector_files(record) if encoder else []
        return Manifest(
            generation=folder.name,
            documents=len(contents.documents),
            passages=len(passages),
            max_words=max_words,
            analysis=ANALYSIS,
            encoder=EncoderRecord(encoder.identity, encoder.dimension) if encoder else None,
            dense=record if encoder else None,
            files=await asyncio.to_thread(record_files, folder, names),
        )

    await write_generation(path, write, progress)


async def in_thread(work: Callable[[*Given], T], *given: *Given) -> T:
    """Write files in a thread, which goes on when its caller is cancelled: to its end."""
    return await to_its_end(asyncio.get_running_loop().run_in_executor(None, work, *given))


async def write_generation(
    path: Path, write: Callable[[Path], Awaitable[Generation]], progress: OnProgress | None
) -> None:
    """Have a new generation written, switch to it, and remove the others."""
    folder = path / f"gen-{secrets.token_hex(8)}"
    loop = asyncio.get_running_loop()
    switch: asyncio.Future[None] | None = None
    try:
        await in_thread(folder.mkdir)
        manifest = await write(folder)
        switch = loop.run_in_executor(None, write_manifest, path, manifest)
        await asyncio.shield(switch)
    except BaseException as error:
        if switch:
            # A thread cannot be cancelled: what it did must be known before the lock is released.
            await asyncio.wait([switch])
        if switch is None or switch.exception():
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise _cannot_write(path, error) from error
        raise
    if progress:
        progress(IndexProgress("write", len(manifest.files), len(manifest.files)))
    await asyncio.to_thread(_sweep, path, folder.name)


def _write_files(folder: Path, contents: Contents, passages: dict[str, Passage]) -> list[str]:
    write_lines(folder / PASSAGES, folder / OFFSETS, passages.values())
    with (folder / DOCUMENTS).open("w", encoding="utf-8") as file:
        for source in sorted(contents.documents):
            record = contents.documents[source]
            line: dict[str, object] = {
                "source": source,
                "hash": record.content_hash,
                "passages": record.passages,
            }
            if record.anchors:
                line["anchors"] = record.anchors
            file.write(json.dumps(line) + "\n")
    engine = build_bm25(passages.values())
    if engine:
        engine.save(folder / "bm25", show_progress=False)
    return [PASSAGES, OFFSETS, DOCUMENTS, *(BM25 if engine else ())]


def record_files(folder: Path, names: list[str]) -> dict[str, FileRecord]:
    """Measure files, and make sure that they are on disk, not only in the system's cache."""
    found = {}
    for name in names:
        path = folder / name
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        found[name] = FileRecord(path.stat().st_size, checksum(path))
    return found


def _sweep(path: Path, keep: str) -> None:
    """Remove other generations: the last one, and what killed writers left."""
    for item in path.glob("gen-*"):
        if is_generation(item.name) and item.name != keep:
            shutil.rmtree(item, ignore_errors=True)
        elif item.suffix == ".json" and is_generation(item.stem):
            item.unlink(missing_ok=True)
