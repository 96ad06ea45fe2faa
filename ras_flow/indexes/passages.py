"""Passages, and other records, on disk: a JSON line each, read by position by a memory map."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from ras_flow.errors import IndexCorruptError
from ras_flow.indexes.arrays import open_array
from ras_flow.state.schema import Passage

T = TypeVar("T")


def write_lines(lines: Path, offsets: Path, records: Iterable[object]) -> None:
    """Write records and where each line starts."""
    starts = [0]
    with lines.open("wb") as file:
        for record in records:
            starts.append(
                starts[-1] + file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            )
    np.save(offsets, np.array(starts, dtype=np.int64), allow_pickle=False)


def map_file(path: Path) -> bytes | mmap.mmap:
    """Map a file into memory; the map stays readable when a later update removes the file."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class LineFile(Sequence[T]):
    """Reads single records without holding all of them in memory."""

    needs: ClassVar[frozenset[str]]
    """The keys that every record has."""

    def __init__(self, lines: Path, offsets: Path) -> None:
        self._path = lines
        self._starts: npt.NDArray[np.int64] = open_array(offsets)
        self._data = map_file(lines)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        """Read a record, or several."""
        if isinstance(at, slice):
            return [self[position] for position in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"record {at} of {len(self)}")
        at %= len(self)
        try:
            start, end = self._starts[at : at + 2].tolist()
            record = json.loads(self._data[start:end].decode())
        except ValueError as error:
            raise self._damaged(at) from error
        if not isinstance(record, dict) or not self.needs <= record.keys():
            raise self._damaged(at)
        return cast(T, record)

    def _damaged(self, at: int) -> IndexCorruptError:
        return IndexCorruptError(f"{self._path}, line {at + 1}, is damaged: build the index again.")


class PassageFile(LineFile[Passage]):
    """The passages of an index."""

    needs = frozenset({"id", "title", "text"})
