"""Small true texts with triples, in the shared format, for every test of training."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage

NAMES = "Alder Birch Cedar Elder Hazel Laurel Maple Rowan Sorrel Willow Aspen Juniper".split()
TOWNS = "Oslo Bergen Narvik Molde Halden Hamar Tromso Larvik Skien Moss Horten Bodo".split()


def rows(count: int = 24) -> list[dict[str, Any]]:
    """Houses with a town and a year; every second one has no title."""
    made = []
    for i in range(count):
        name, town, year = f"{NAMES[i % 12]} House {i}", TOWNS[i % 12], str(1800 + i)
        row: dict[str, Any] = {
            "id": f"house-{i}",
            "src": "houses" if i % 3 else "farms",
            "text": f"{name} opened in {town} in {year}.",
            "triples": [[name, "opened in", town], [name, "opened in year", year]],
        }
        if i % 2:
            row["title"] = name
        made.append(row)
    return made


def write_rows(file: Path, some: list[dict[str, Any]]) -> Path:
    """Write JSON lines, gzipped where the name says so."""
    text = "".join(f"{json.dumps(row)}\n" for row in some)
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text, encoding="utf-8")
    return file


def fact_rows() -> list[dict[str, Any]]:
    """One question in the form of 2WikiMultihopQA."""
    return [
        {
            "id": "q1",
            "question": "Where was the director of Salt Road born?",
            "answer": "Oulu",
            "support": [["Salt Road (film)", 0], ["Aino Laine", 0]],
            "triples": [
                ["Salt Road", "director", "Aino Laine"],
                ["Aino Laine", "place of birth", "Oulu"],
                ["Aino Laine", "spouse", "Nobody Mentioned"],
            ],
            "docs": [
                {"title": "Salt Road (film)", "sents": ["A film by Aino Laine."]},
                {"title": "Aino Laine", "sents": ["Aino Laine is from Oulu.", "She directs."]},
                {"title": "Maple House 6", "sents": ["It is a house."]},
            ],
        }
    ]


class Worker:
    """An extractor that is killed after so many calls."""

    batch_size = 4

    def __init__(
        self,
        make: Callable[[Passage], Extraction],
        calls: int = 100,
        identity: str = "worker",
    ) -> None:
        self.identity = identity
        self.left = calls
        self.asked: list[str] = []
        self._make = make

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.asked += [passage["text"] for passage in passages]
        return [self._make(passage) for passage in passages]
