"""Many texts in two files that are mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.indexes.arrays import open_array

_AT_ONCE = 100_000


def text_files(name: str) -> tuple[str, str]:
    """Return the names of the two files of many texts: their bytes, and where each begins."""
    return f"{name}.bytes.npy", f"{name}.npy"


def write_texts(folder: Path, name: str, texts: Sequence[str]) -> None:
    """Write texts; they need not fit in memory twice."""
    data, offsets = text_files(name)
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    for at, text in enumerate(texts, start=1):
        ends[at] = len(text) if text.isascii() else len(text.encode())
    np.cumsum(ends, out=ends)
    np.save(folder / offsets, ends)
    with (folder / data).open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (int(ends[-1]),)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(texts), _AT_ONCE):
            file.write("".join(texts[start : start + _AT_ONCE]).encode())


class Texts(Sequence[str]):
    """Texts as :func:`write_texts` wrote them; one that was damaged has U+FFFD in it."""

    def __init__(self, folder: Path, name: str) -> None:
        data, offsets = text_files(name)
        self._data = open_array(folder / data)
        self._offsets = open_array(folder / offsets)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._offsets) - 1

    def __getitem__(self, at: Any) -> Any:
        """Return one text."""
        return self._bytes(at).decode(errors="replace")

    def _bytes(self, at: int) -> bytes:
        data: bytes = self._data[self._offsets[at] : self._offsets[at + 1]].tobytes()
        return data

    def of(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """Return several texts."""
        begins, ends = self._offsets[numbers].tolist(), self._offsets[numbers + 1].tolist()
        return [
            self._data[begin:end].tobytes().decode(errors="replace")
            for begin, end in zip(begins, ends, strict=True)
        ]

    def parts(self) -> Iterator[tuple[int, list[str]]]:
        """Yield all texts, many at once, with the number of the first."""
        for start in range(0, len(self), _AT_ONCE):
            yield start, self.of(np.arange(start, min(start + _AT_ONCE, len(self))))

    def find(self, text: str) -> int | None:
        """Return the place of a text among sorted ones; None if it is not there."""
        wanted = text.encode(errors="replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None
