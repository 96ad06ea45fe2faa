"""Settings as frozen dataclasses, read from TOML: each table is a dataclass, each key a field."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from math import inf
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ras_flow.errors import ConfigurationError
from ras_flow.toml import read_toml

S = TypeVar("S")
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


def read_settings(kind: type[S], path: Path) -> S:
    """Read settings.

    Args:
        kind: A dataclass; its fields are dataclasses, texts, numbers, lists of texts, tables of
            whole numbers, or choices of texts.
        path: A TOML file.

    Returns:
        One of ``kind``.

    Raises:
        ConfigurationError: The file cannot be read, or a table or key is unknown, missing or of a
            wrong type; the message names it.
    """
    tables, _ = read_toml(path)
    settings: S = read_section(kind, tables, str(path))
    return settings


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


def read_section(
    kind: Any, table: Any, where: str, folder: Path = Path(), made: Mapping[str, Any] | None = None
) -> Any:
    """Make a dataclass of a table.

    Args:
        kind: The dataclass.
        table: The table.
        where: Names it in messages.
        folder: What paths in it are relative to.
        made: Fields that the table does not say.

    Raises:
        ConfigurationError: A setting is unknown, missing, or of the wrong type.
    """
    made = made or {}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where}: expected a table.")
    types = {name: hint for name, hint in get_type_hints(kind).items() if name not in made}
    for key in table:
        if key not in types:
            raise ConfigurationError(
                f"{where}: there is no setting {key!r}. Known are: {', '.join(types)}."
            )
    for needed in fields(kind):
        missing = needed.default is MISSING and needed.default_factory is MISSING
        if missing and needed.name not in {*table, *made}:
            raise ConfigurationError(f"{where}: the setting {needed.name!r} is missing.")
    read = {k: _value(types[k], value, f"{where}: {k}", folder) for k, value in table.items()}
    return kind(**made, **read)


def _value(kind: Any, value: Any, where: str, folder: Path) -> Any:
    """Check a value's type; lists become tuples."""
    if hasattr(kind, "__dataclass_fields__"):
        return read_section(kind, value, where, folder)
    options = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    for option in options:
        origin, arguments = get_origin(option), get_args(option)
        if origin is Literal:
            good = value in arguments
        elif origin is tuple:
            good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        elif origin is not None:
            good = isinstance(value, dict) and all(type(item) is int for item in value.values())
        elif option is Path and isinstance(value, str):
            return folder / value
        else:
            good = type(value) is option or (option is float and type(value) is int)
        if good:
            return tuple(value) if isinstance(value, list) else value
    expected = " or ".join(_expected(option) for option in options if option is not NoneType)
    raise ConfigurationError(f"{where}: expected {expected}, not {value!r}.")


def _expected(option: Any) -> str:
    if get_origin(option) is Literal:
        return f"one of {', '.join(map(repr, get_args(option)))}"
    return _NAMES[get_origin(option) or option]


_NAMES: dict[Any, str] = {
    bool: "true or false",
    str: "a text",
    Path: "a path",
    int: "a whole number",
    float: "a number",
    tuple: "a list of texts",
    abc.Mapping: "a table of whole numbers",
}
