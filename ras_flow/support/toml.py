"""Settings files: TOML, whose tables become frozen dataclasses."""

from __future__ import annotations

import tomllib
from collections import abc
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ras_flow.errors import ConfigurationError
from ras_flow.support.validation import checked


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Read a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text), text
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The settings {path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The settings {path} are no TOML: {error}.") from error


def read_section(
    kind: Any, table: Any, where: str, folder: Path = Path(), made: Mapping[str, Any] | None = None
) -> Any:
    """Make a dataclass of a table: each key is a field."""
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
    if kind is Any:
        return value
    if hasattr(kind, "model_fields"):
        return checked(kind, value, where)
    if hasattr(kind, "__dataclass_fields__"):
        return read_section(kind, value, where, folder)
    if get_origin(kind) is abc.Mapping:
        if not isinstance(value, dict):
            raise ConfigurationError(f"{where}: expected a table, not {value!r}.")
        _, of = get_args(kind)
        return {name: _value(of, item, f"{where}: {name}", folder) for name, item in value.items()}
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for option in options:
        origin, arguments = get_origin(option), get_args(option)
        if origin is Literal:
            good = value in arguments
        elif origin is tuple:
            good = isinstance(value, list) and all(isinstance(item, str) for item in value)
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
}
