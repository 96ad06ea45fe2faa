"""Which indexes there are: below a folder, and in the cache, where `--docs` makes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ras_flow.documents.index_folders import INDEX, kind_of
from ras_flow.errors import CorpusIndexError
from ras_flow.indexes.index import CorpusIndex
from ras_flow.support.paths import cache_folder


@dataclass(frozen=True)
class FoundIndex:
    """An index on this machine, or the problem for which it cannot be opened.

    Its documents come from the folder ``of``, if they share one; ``encoder`` made its vectors.
    """

    path: Path
    documents: int = 0
    passages: int = 0
    encoder: str = ""
    of: str = ""
    problem: str = ""


def find_indexes(folder: Path) -> Iterator[FoundIndex]:
    """Yield the indexes in a folder, down to three folders deep, then those in the cache."""
    kinds = (INDEX, "")
    cached = find_folders(cache_folder() / "indexes", kinds, depth=1)
    yield from map(_look, dict.fromkeys([*find_folders(folder, kinds), *cached]))


def find_folders(folder: Path, kinds: Collection[str], depth: int = 3) -> Iterator[Path]:
    """Yield what is of some kinds in a folder, down to three folders deep or another depth."""
    return (one.resolve() for one in _folders(folder, depth, kinds))


def _folders(folder: Path, depth: int, kinds: Collection[str]) -> Iterator[Path]:
    try:
        if (kind := kind_of(folder)) is not None:
            if kind in kinds:
                yield folder
            return
        inside = sorted(
            Path(one) for one in os.scandir(folder) if one.is_dir(follow_symlinks=False)
        )
    except OSError:  # Not there, or closed to us.
        return
    for one in inside if depth else ():
        if not one.name.startswith("."):
            yield from _folders(one, depth - 1, kinds)


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
