"""What the settings of both trainings have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Literal, TypeVar, cast, get_type_hints

from ras_flow.errors import ConfigurationError
from ras_flow.toml import read_section, read_toml

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


@dataclass(frozen=True)
class _Range:
    said: str
    fits: Callable[[float], bool]


Positive = Annotated[T, _Range("over 0", lambda number: 0 < number < inf)]
"""A setting that must be over 0; of a table, all its numbers are meant, as with the others."""

NonNegative = Annotated[T, _Range("of at least 0", lambda number: 0 <= number < inf)]
"""A setting that may be 0 too."""

Share = Annotated[T, _Range("of at least 0 and below 1", lambda number: 0 <= number < 1)]
"""A setting from 0 to below 1."""


def check_ranges(settings: object, within: str = "") -> None:
    """Check the numbers of settings by the types of their fields, such as :data:`Positive`.

    Args:
        settings: A dataclass, whose fields may be dataclasses.
        within: What its own name begins with, such as ``optimizer.``.

    Raises:
        ConfigurationError: A number is out of its range; the message names it.
    """
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        value, place = getattr(settings, name), f"{within}{name}"
        if is_dataclass(value):
            check_ranges(value, f"{place}.")
        table = value if isinstance(value, Mapping) else {"": value}
        for wanted in getattr(hint, "__metadata__", ()):
            for key, number in table.items():
                if not wanted.fits(number):
                    place += f".{key}" if key else ""
                    raise ConfigurationError(f"{place} = {number} must be a number {wanted.said}.")


def read_config(kind: type[T], path: Path) -> T:
    """Read the settings of a training.

    Args:
        kind: The dataclass of all its settings.
        path: A TOML file.

    Raises:
        ConfigurationError: It cannot be read, or a table or key is unknown or wrong; the message
            names it.
    """
    tables, _ = read_toml(path)
    return cast(T, read_section(kind, tables, str(path)))
