"""Passages on disk: one JSON line each, read by position through a memory map."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast, overload

from ras_flow.errors import IndexCorruptError
from ras_flow.indexes.arrays import open_array
from ras_flow.state.schema import Passage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def write_passages(lines: Path, offsets: Path, passages: Iterable[Passage]) -> None:
    """Write passages and where each line starts."""
    import numpy as np  # noqa: PLC0415

    starts = [0]
    with lines.open("wb") as file:
        for passage in passages:
            starts.append(
                starts[-1] + file.write(json.dumps(passage, ensure_ascii=False).encode() + b"\n")
            )
    np.save(offsets, np.array(starts, dtype=np.int64), allow_pickle=False)


def map_file(path: Path) -> bytes | mmap.mmap:
    """Map a file into memory; the map stays readable when a later update removes the file."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class PassageFile(Sequence[Passage]):
    """Reads single passages without holding the corpus in memory."""

    def __init__(self, lines: Path, offsets: Path) -> None:
        self._path = lines
        self._starts: npt.NDArray[np.int64] = open_array(offsets)
        self._data = map_file(lines)

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> Passage: ...
    @overload
    def __getitem__(self, at: slice) -> list[Passage]: ...
    def __getitem__(self, at: int | slice) -> Passage | list[Passage]:
        """Read a passage, or several."""
        if isinstance(at, slice):
            return [self[position] for position in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"passage {at} of {len(self)}")
        at %= len(self)
        try:
            start, end = self._starts[at : at + 2].tolist()
            passage = json.loads(self._data[start:end].decode())
        except ValueError as error:
            raise self._damaged(at) from error
        if not isinstance(passage, dict) or not {"id", "title", "text"} <= passage.keys():
            raise self._damaged(at)
        return cast(Passage, passage)

    def _damaged(self, at: int) -> IndexCorruptError:
        return IndexCorruptError(f"{self._path}, line {at + 1}, is damaged: build the index again.")
