"""Vectors of texts, kept on disk by text: data sets that share texts embed them once."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock

from ras_flow.errors import RunError
from ras_flow.parts.protocols import SentenceEncoder

if TYPE_CHECKING:
    import numpy.typing as npt

AT_ONCE = 4096
"""Texts in one call of the sentence encoder; a killed process loses no more than these."""


def embed(texts: Sequence[str], encoder: SentenceEncoder, folder: Path) -> npt.NDArray[np.float32]:
    """Embed texts, but for those whose vectors are kept. Not to be called from an event loop.

    Processes that train together need the same texts: the first embeds them, the others wait.

    Returns:
        One row a text, shape (texts, dimension).
    """
    name = sha256(json.dumps([encoder.identity, encoder.dimension]).encode()).hexdigest()[:24]
    file = folder / f"{name}.sqlite"
    keys = [sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        locked = FileLock(file.with_suffix(".lock")).acquire()
    except OSError as error:
        raise RunError(
            f"Vectors cannot be kept in {folder} ({error}). Set RAS_FLOW_CACHE to a folder that "
            "can be written to."
        ) from error
    try:
        with locked, closing(sqlite3.connect(file)) as kept:
            rows = _complete(dict(zip(keys, texts, strict=True)), encoder, kept)
    except sqlite3.DatabaseError as error:
        raise RunError(
            f"The vectors in {file} cannot be used ({error}). Free some space, or remove that "
            "file: they are computed again."
        ) from error
    vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
    for at, key in enumerate(keys):
        vectors[at] = np.frombuffer(rows[key], dtype=np.float32)
    return vectors


def _complete(
    texts: dict[str, str], encoder: SentenceEncoder, kept: sqlite3.Connection
) -> dict[str, bytes]:
    """Return the vector of every text by its key, and keep those that were not there."""
    kept.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB)")
    known = "SELECT text, vector FROM vectors WHERE text IN (SELECT value FROM json_each(?))"
    rows: dict[str, bytes] = dict(kept.execute(known, (json.dumps(list(texts)),)))
    size = encoder.dimension * np.dtype(np.float32).itemsize
    if any(not isinstance(row, bytes) or len(row) != size for row in rows.values()):
        raise sqlite3.DataError("vectors of another length")
    missing = [key for key in texts if key not in rows]
    with asyncio.Runner() as loop:
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            made = loop.run(encoder.encode([texts[key] for key in some]))
            new = {key: row.tobytes() for key, row in zip(some, made, strict=True)}
            kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(new.items()))
            kept.commit()
            rows |= new
    return rows
