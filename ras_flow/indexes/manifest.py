"""The file that makes a folder an index: what it holds, and the checksums of its files.

An index folder holds ``manifest.json`` and one generation folder that the manifest names. A
writer prepares a new generation beside the old one and switches by replacing the manifest, so
that an index is always the old one or the new one, whenever the writer is killed.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import PositiveInt, TypeAdapter, ValidationError

from ras_flow.documents.index_folders import INDEX, MANIFEST, is_generation, kind_of, use_of
from ras_flow.errors import (
    CorpusIndexError,
    IndexCorruptError,
    IndexMismatchError,
    IndexMissingError,
)
from ras_flow.indexes.ann import VectorChoice, VectorKind
from ras_flow.support.files import checksum
from ras_flow.support.validation import explain

FORMAT = 1
PASSAGES, OFFSETS, DOCUMENTS = "passages.jsonl", "offsets.npy", "documents.jsonl"
BM25 = tuple(
    f"bm25/{name}"
    for name in (
        "data.csc.index.npy",
        "indices.csc.index.npy",
        "indptr.csc.index.npy",
        "vocab.index.json",
        "params.index.json",
    )
)
SMALL = 8 * 1024 * 1024
"""Files up to this many bytes are hashed whenever an index is opened, larger ones by ``verify()``;
FAISS's own always are, since a damaged one could bring down the process."""
ANN_SUFFIX = ".faiss"


@dataclass(frozen=True)
class EncoderRecord:
    """What made an index's vectors."""

    identity: str
    dimension: int


@dataclass(frozen=True)
class DenseRecord:
    """How an index's vectors are searched.

    Attributes:
        kind: What is there.
        asked: What was asked for; an update decides by it again.
        shards: Number of files that the vectors are split into.
        effort: HNSW's efSearch or IVF's nprobe; 0 for flat.
        recall: Mean share of the 5 nearest by flat search that are among the 5 found.
        sample: Number of queries that the recall was measured on; 0 for flat, which is exact.
    """

    kind: VectorKind = "flat"
    asked: VectorChoice = "auto"
    shards: PositiveInt = 1
    effort: int = 0
    recall: float = 1.0
    sample: int = 0


@dataclass(frozen=True)
class FileRecord:
    """Size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What every manifest says: ``generation`` is the folder of its files, which are named in it.

    ``encoder`` and ``dense`` are None without vectors.
    """

    what: ClassVar[str] = INDEX
    command: ClassVar[str] = "ras-flow index build"
    format: ClassVar[int | str] = FORMAT

    generation: str
    files: dict[str, FileRecord]
    encoder: EncoderRecord | None = None
    dense: DenseRecord | None = None


G = TypeVar("G", bound=Generation)


@dataclass(frozen=True, kw_only=True)
class Manifest(Generation):
    """What an index of passages holds.

    ``analysis`` is the :data:`ras_flow.indexes.bm25.ANALYSIS` that made BM25's index.
    """

    documents: int
    passages: int
    max_words: int
    analysis: int = 1


def vector_names(record: DenseRecord) -> list[str]:
    """Return the names of the shards' vectors, in order."""
    if record.shards == 1:
        return ["vectors.npy"]
    return [f"vectors-{at:03}.npy" for at in range(record.shards)]


def ann_name(vectors: str) -> str:
    """Return the name of the FAISS index beside a file of vectors."""
    return vectors.removesuffix(".npy") + ANN_SUFFIX


def vector_files(record: DenseRecord) -> list[str]:
    """Return the names of all files of an index's vectors."""
    names = vector_names(record)
    return names if record.kind == "flat" else names + [ann_name(name) for name in names]


def write_manifest(folder: Path, manifest: Generation) -> None:
    """Switch an index folder to another generation, in one step."""
    content = {"format": manifest.format, **asdict(manifest)}
    temporary = folder / f"{manifest.generation}.json"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump({**content, "sha256": _digest(content)}, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of an index of passages."""
    return read_generation(folder, Manifest, (PASSAGES, OFFSETS, DOCUMENTS), BM25)


def read_generation(
    folder: Path, kind: type[G], needed: Collection[str], more: Collection[str] = ()
) -> G:
    """Read and check an index folder's manifest, which names the files needed and perhaps more."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise IndexMissingError(
            f"Found no {kind.what} at {folder}: check the path, or build one there with "
            f"`{kind.command}`."
        ) from error
    except NotADirectoryError as error:
        raise IndexMissingError(
            f"{folder} is a file: name the folder of the {kind.what}."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise IndexCorruptError(f"{path} cannot be read ({error}). {REBUILD}") from error
    if kind_of(folder) not in (kind.what, "", None):
        raise IndexMismatchError(
            f"{folder} is {use_of(folder)}. Name the folder of the {kind.what} here."
        )
    if not isinstance(content, dict) or "format" not in content:
        raise IndexCorruptError(f"{path} is not an index's manifest. {REBUILD}")
    if content["format"] != kind.format:
        raise IndexMismatchError(
            f"{folder} has format {content['format']!r}; as {kind.what} this version of ras-flow "
            f"reads format {kind.format!r}. Name another folder, or build the {kind.what} again."
        )
    if content.pop("sha256", None) != _digest(content):
        raise IndexCorruptError(f"{path} was altered or cut off. {REBUILD}")
    try:
        manifest = TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        raise IndexCorruptError(f"{explain(error, kind, str(path))} {REBUILD}") from error
    # Names in the file become paths: none but those that are known.
    named = {*needed, *(vector_files(manifest.dense) if manifest.dense else ())}
    if not is_generation(manifest.generation) or manifest.files.keys() - {*more} != named:
        raise IndexCorruptError(f"{path} names other files than an index has. {REBUILD}")
    return manifest


def check_files(folder: Path, manifest: Generation, *, searched: bool, thorough: bool) -> None:
    """Compare an index's files with its manifest."""
    for name, record in manifest.files.items():
        path = folder / manifest.generation / name
        if path.suffix == ANN_SUFFIX and not searched:
            continue
        try:
            size = path.stat().st_size
            if size != record.size:
                raise IndexCorruptError(
                    f"{path} has {size} bytes instead of {record.size}. {REBUILD}"
                )
            hashed = thorough or size <= SMALL or path.suffix == ANN_SUFFIX
            if hashed and checksum(path) != record.sha256:
                raise IndexCorruptError(f"{path} was altered. {REBUILD}")
        except OSError as error:
            raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> CorpusIndexError:
    """Return the error for a file that the system will not read, which need not be damaged."""
    if isinstance(error, PermissionError):
        way = "let this user read the index folder and all of its files."
    elif error.errno in (errno.EMFILE, errno.ENFILE):
        way = "let this process open more files at once (ulimit -n)."
    elif error.errno is None or error.errno in _GONE:
        return IndexCorruptError(f"{path} cannot be read ({error}). {REBUILD}")
    else:  # A passing fault of a disk or network, or too little memory.
        way = f"try again. If that does not help: {REBUILD}"
    return CorpusIndexError(f"{path} cannot be read ({error}): {way}")


_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)
REBUILD = "Restore the index folder from a backup, or build the index again."


def _digest(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
