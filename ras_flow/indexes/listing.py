"""Which indexes there are: below a folder, and in the cache, where `--docs` makes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ras_flow.documents.index_folders import is_index
from ras_flow.errors import CorpusIndexError
from ras_flow.indexes.index import CorpusIndex
from ras_flow.support.paths import cache_folder

_DEPTH = 3


@dataclass(frozen=True)
class FoundIndex:
    """An index on this machine.

    Attributes:
        path: Its folder.
        documents: How many documents it holds.
        passages: How many passages.
        encoder: What made its vectors; empty without vectors.
        of: The folder that its documents come from, if they share one.
        problem: Why it cannot be opened; empty if it can.
    """

    path: Path
    documents: int = 0
    passages: int = 0
    encoder: str = ""
    of: str = ""
    problem: str = ""


def find_indexes(folder: Path) -> Iterator[FoundIndex]:
    """Yield the indexes in a folder, down to three folders deep, then those in the cache."""
    here = dict.fromkeys(one.resolve() for one in _indexes(folder, _DEPTH))
    yield from map(_look, here | dict.fromkeys(_indexes(cache_folder() / "indexes", 1)))


def _indexes(folder: Path, depth: int) -> Iterator[Path]:
    try:
        if is_index(folder):
            yield folder
            return
        inside = sorted(
            Path(one) for one in os.scandir(folder) if one.is_dir(follow_symlinks=False)
        )
    except OSError:  # Not there, or closed to us.
        return
    for one in inside if depth else ():
        if not one.name.startswith("."):
            yield from _indexes(one, depth - 1)


def _look(path: Path) -> FoundIndex:
    try:
        index = CorpusIndex.open(path)
        sources = list(asyncio.run(index.sources()))
    except CorpusIndexError as error:
        return FoundIndex(path, problem=str(error))
    manifest = index.manifest
    encoder = manifest.encoder.identity if manifest.encoder else ""
    return FoundIndex(path, manifest.documents, manifest.passages, encoder, _shared(sources))


def _shared(sources: list[str]) -> str:
    """Return the folder, or the one file, that all sources are in."""
    try:
        return os.path.commonpath(sources) if sources else ""
    except ValueError:  # Absolute and relative names.
        return ""
