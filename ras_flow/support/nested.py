"""Nested values under dotted names, as messages and tables name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested values by dotted names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {}
        found |= inner or {f"{prefix}{name}": value}
    return found


def first_difference(
    one: Mapping[str, Any], other: Mapping[str, Any], *, but: Iterable[str] = ()
) -> str | None:
    """Return the dotted name of the first value that differs."""
    left, right, skipped = flat(one), flat(other), set(but)
    names = sorted((left.keys() | right.keys()) - skipped)
    return next((name for name in names if left.get(name) != right.get(name)), None)
