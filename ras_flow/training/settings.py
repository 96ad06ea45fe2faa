"""What the settings of both trainings have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Literal, TypeVar, cast

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


def check_ranges(
    settings: object, *, over_0: Iterable[str], from_0: Iterable[str], shares: Iterable[str]
) -> None:
    """Check the numbers of settings.

    Args:
        settings: A dataclass of dataclasses.
        over_0: Names, such as ``optimizer.epochs``, of numbers that must be over 0; of a table, all
            its numbers are meant.
        from_0: Names of numbers that may be 0 too.
        shares: Names of numbers from 0 to below 1.

    Raises:
        ConfigurationError: A number is out of its range; the message names it.
    """
    ranges: list[tuple[Iterable[str], str, Callable[[float], bool]]] = [
        (over_0, "over 0", lambda number: 0 < number < inf),
        (from_0, "of at least 0", lambda number: 0 <= number < inf),
        (shares, "of at least 0 and below 1", lambda number: 0 <= number < 1),
    ]
    for names, wanted, fits in ranges:
        for name in names:
            value = attrgetter(name)(settings)
            table = value if isinstance(value, Mapping) else {"": value}
            for key, number in table.items():
                if not fits(number):
                    place = f"{name}.{key}" if key else name
                    raise ConfigurationError(f"{place} = {number} must be a number {wanted}.")


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
