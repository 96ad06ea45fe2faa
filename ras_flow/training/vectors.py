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
from ras_flow.support.files import writing

if TYPE_CHECKING:
    import numpy.typing as npt

AT_ONCE = 4096
"""Texts in one call of the sentence encoder; a killed process loses no more than these."""


def embed(texts: Sequence[str], encoder: SentenceEncoder, folder: Path) -> npt.NDArray[np.float32]:
    """Return a row a text, and embed those that are not kept, outside of any event loop."""
    name = sha256(json.dumps([encoder.identity, encoder.dimension]).encode()).hexdigest()[:24]
    file = folder / f"{name}.sqlite"
    keys = [sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Of processes that train together the first embeds, the others wait.
        locked = FileLock(file.with_suffix(".lock")).acquire()
    try:
        with locked, closing(sqlite3.connect(file)) as kept:
            rows = _complete(dict(zip(keys, texts, strict=True)), encoder, kept)
    except sqlite3.DatabaseError as error:
        raise RunError(
            f"The vectors in {file} cannot be used ({error}). Free some space, or remove that "
            "file: they are computed again."
        ) from error
    vectors = np.frombuffer(b"".join(rows[key] for key in keys), dtype=np.float32)
    return vectors.reshape(len(texts), encoder.dimension)


def _complete(
    texts: dict[str, str], encoder: SentenceEncoder, kept: sqlite3.Connection
) -> dict[str, bytes]:
    """Return the vector of every text by its key, and keep those that were missing."""
    kept.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB)")
    known = "SELECT text, vector FROM vectors WHERE text IN (SELECT value FROM json_each(?))"
    rows: dict[str, bytes] = dict(kept.execute(known, (json.dumps(list(texts)),)))
    missing = [key for key in texts if key not in rows]
    with asyncio.Runner() as loop:
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            made = np.asarray(loop.run(encoder.encode([texts[key] for key in some])), np.float32)
            made = made.reshape(len(some), encoder.dimension)  # What is kept fits later runs too.
            new = {key: row.tobytes() for key, row in zip(some, made, strict=True)}
            kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(new.items()))
            kept.commit()
            rows |= new
    return rows
