"""The file that names a vector database: ``Context.index`` may be its path."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ras_flow.errors import ConfigurationError, IndexMissingError
from ras_flow.support.paths import expanded
from ras_flow.support.validation import Settings, checked, load_toml

SUFFIX = ".toml"


class EngineConfig(Settings):
    """Where a vector database is, and what to search there.

    In the file, a value that starts with ``$`` is the name of an environment variable with the
    value, so that a password need not be there.

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

    engine: Literal["qdrant", "pgvector"]
    collection: Annotated[str, Field(min_length=1)]
    url: str = ""
    path: str = ""
    api_key: str = ""
    bm25: str = ""
    encoder: str = ""

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        if not self.url and not (self.engine == "qdrant" and self.path):
            raise ValueError("give the server's address as `url`.")
        return self

    @property
    def identity(self) -> str:
        """Names the collection, without its address, which may hold a password."""
        where = sha256(f"{self.url}\0{self.path}".encode()).hexdigest()[:8]
        return f"{self.engine}:{self.collection}@{where}"


def is_engine(path: str | Path) -> bool:
    """Tell whether a path names a vector database instead of an index folder."""
    return Path(path).suffix == SUFFIX


def read_engine(path: str | Path) -> EngineConfig:
    """Read the file that names a vector database."""
    path = Path(path)
    if not os.path.isfile(path):  # Unlike Path.is_file, this raises nothing.
        raise IndexMissingError(
            f"{path}, which should name a vector database, is not there: see docs/scale.md."
        )
    values = {name: resolved(path, name, value) for name, value in load_toml(path).items()}
    return checked(EngineConfig, values, str(path))  # type: ignore[no-any-return]


def resolved(path: Path, name: str, value: Any) -> Any:
    """Return a value with its variable replaced, and a path as the file's folder has it."""
    if not isinstance(value, str):
        return value
    if value.startswith("$"):
        if value[1:] not in os.environ:
            raise ConfigurationError(f"{path}: {name} is {value}, which is not set: export it.")
        value = os.environ[value[1:]]
    return str(path.parent / expanded(value)) if name in ("path", "bm25") and value else value
