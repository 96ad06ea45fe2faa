"""ASQA's own file: one object with questions by id, under "train", "dev" or "test"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.reading import Row, read_json

PARTS = ("train", "dev", "test")


def read_asqa_file(path: Path) -> Iterator[Row]:
    """Read the file."""
    whole = Row(read_json(path), str(path))
    parts = [part for part in PARTS if whole.has(part)]
    if not parts:
        whole.fail("dev", f"expected an object with one of {', '.join(PARTS)}, or a list of rows")
    for part in parts:
        for id, value in Row(whole.value[part], f"{path}:{part}").value.items():
            row = Row(value, f"{path}:{part}:{id}")
            row.value |= {"split": part, "sample_id": id}
            yield row
