from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ras_flow.documents import SourceDocument
from ras_flow.documents.index_folders import MANIFEST
from ras_flow.indexes.manifest import _digest
from ras_flow.parts import Retriever

SCALE = Path(__file__).parents[2] / "docs" / "scale.md"

DOCUMENTS = [
    SourceDocument("curie.txt", "Marie Curie", "She studied radioactivity in Paris."),
    SourceDocument("ada.txt", "Ada Lovelace", "She wrote the first published program."),
    SourceDocument("lodz.txt", "Łódź", "A city in Poland. Its textile mills are famous."),
    SourceDocument("tokyo.txt", "東京", "東京は日本の首都です。人口が多い。"),
    SourceDocument("gauss.txt", "Gauß", "Er löste Gleichungen und vermaß das Königreich."),
]


class WordEncoder:
    """Texts that share words get near vectors; counts what it encodes."""

    def __init__(self, identity: str = "words", dimension: int = 2048) -> None:
        self.identity = identity
        self.dimension = dimension
        self.encoded: list[str] = []

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded.extend(texts)
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                vectors[row, crc32(word.encode()) % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def titles(retriever: Retriever, query: str, k: int = 5) -> list[str]:
    [found] = await retriever.retrieve([query], k)
    return [passage["title"] for passage, _ in found]


def edit_manifest(path: Path, **fields: Any) -> None:
    """Change fields of an index's manifest, whose checksum stays right; None takes one out."""
    content = json.loads((path / MANIFEST).read_text())
    for name, value in {**fields, "sha256": None}.items():
        del content[name]
        if value is not None:
            content[name] = value
    (path / MANIFEST).write_text(json.dumps({**content, "sha256": _digest(content)}))


def files(path: Path) -> dict[str, bytes]:
    folder = path / json.loads((path / MANIFEST).read_text())["generation"]
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def scale_program(name: str) -> str:
    """Return the program of docs/scale.md that has a name in it."""
    blocks = SCALE.read_text(encoding="utf-8").split("```python\n")[1:]
    [program] = [block.partition("```")[0] for block in blocks if name in block]
    return program
