"""The file that names a vector database: ``Context.index`` may be its path."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path

from ras_flow.errors import ConfigurationError, IndexMissingError
from ras_flow.support.paths import expanded
from ras_flow.support.toml import read_toml

SUFFIX = ".toml"
ENGINES = ("qdrant", "pgvector")


@dataclass(frozen=True)
class EngineConfig:
    """Where a vector database is, and what to search there.

    A value that starts with ``$`` is taken from the environment variable of that name, so that a
    password need not be in the file.

    Attributes:
        engine: ``"qdrant"`` or ``"pgvector"``.
        collection: Qdrant's collection or PostgreSQL's table.
        url: Address of the server; Qdrant takes a folder as ``path`` instead.
        path: Folder of Qdrant's own local mode, for trials: it keeps points as pickles, so open
            only a folder that you wrote yourself.
        api_key: Qdrant's key, if it wants one.
        bm25: Folder of the index whose BM25 joins the search, as ``hybrid`` does on disk.
        encoder: The sentence encoder's name, for the command line.
    """

    engine: str
    collection: str
    url: str = ""
    path: str = ""
    api_key: str = ""
    bm25: str = ""
    encoder: str = ""

    @property
    def identity(self) -> str:
        """Names the collection, without its address, which may hold a password."""
        where = sha256(f"{self.url}\0{self.path}".encode()).hexdigest()[:8]
        return f"{self.engine}:{self.collection}@{where}"


def is_engine(path: str | Path) -> bool:
    """Tell whether a path names a vector database and no folder of an index."""
    return Path(path).suffix == SUFFIX


def read_engine(path: str | Path) -> EngineConfig:
    """Read the file that names a vector database."""
    path = Path(path)
    if not os.path.isfile(path):  # Unlike Path.is_file, this raises nothing.
        raise IndexMissingError(
            f"{path}, which should name a vector database, is not there: see docs/scale.md."
        )
    values, _ = read_toml(path)
    known = {field.name for field in fields(EngineConfig)}
    for name, value in values.items():
        if name not in known or not isinstance(value, str):
            raise ConfigurationError(
                f"{path}: {name} is no key with a text; there are {', '.join(sorted(known))}."
            )
    values = {name: _resolved(path, name, value) for name, value in values.items()}
    if values.get("engine") not in ENGINES or not values.get("collection"):
        raise ConfigurationError(
            f"{path}: give engine ({' or '.join(ENGINES)}) and collection, each as a text."
        )
    if not values.get("url") and not (values["engine"] == "qdrant" and values.get("path")):
        raise ConfigurationError(f"{path}: give the server's address as url.")
    return EngineConfig(**values)


def _resolved(path: Path, name: str, value: str) -> str:
    if value.startswith("$"):
        if value[1:] not in os.environ:
            raise ConfigurationError(f"{path}: {name} is {value}, which is not set: export it.")
        value = os.environ[value[1:]]
    return str(path.parent / expanded(value)) if name in ("path", "bm25") and value else value
