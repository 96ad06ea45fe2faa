"""What the settings of both trainings have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar, cast

from ras_flow.support.toml import read_section, read_toml

T = TypeVar("T")

Schedule = Literal[
    "linear",
    "cosine",
    "cosine_with_restarts",
    "polynomial",
    "constant",
    "constant_with_warmup",
    "inverse_sqrt",
]
"""How a learning rate falls: what transformers calls so, but for what needs more settings."""


def read_config(kind: type[T], path: Path) -> T:
    """Read the settings of a training."""
    tables, _ = read_toml(path)
    return cast(T, read_section(kind, tables, str(path)))
