"""What numbers of settings may be, said in the types of their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from math import inf
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from ras_flow.errors import ConfigurationError

T = TypeVar("T")


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

Probability = Annotated[T, _Range("from 0 to 1", lambda number: 0 <= number <= 1)]
"""A setting from 0 to 1."""


def check_ranges(settings: object, within: str = "") -> None:
    """Check the numbers of settings by the types of their fields, such as :data:`Positive`."""
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        value, place = getattr(settings, name), f"{within}{name}"
        for part in value if isinstance(value, tuple) else (value,):
            if is_dataclass(part):
                check_ranges(part, f"{place}.")
        table = value if isinstance(value, Mapping) else {"": value}
        for wanted in getattr(hint, "__metadata__", ()):
            for key, number in table.items():
                if not _fits(number, hint.__origin__, wanted):
                    place += f".{key}" if key else ""
                    what = "number" if _may_be(float, hint.__origin__) else "whole number"
                    raise ConfigurationError(
                        f"{place} = {number!r} must be a {what} {wanted.said}."
                    )


def _fits(number: Any, kind: Any, wanted: _Range) -> bool:
    if number is None:
        return _may_be(type(None), kind)
    # For Python true is the number 1.
    good = int | float if _may_be(float, kind) else int
    return isinstance(number, good) and not isinstance(number, bool) and wanted.fits(number)


def _may_be(kind: type, hint: Any) -> bool:
    """Tell whether a type allows a kind of value, itself or among its options or values."""
    return hint is kind or any(_may_be(kind, one) for one in get_args(hint))
