"""Checks of edits before they become part of a state: what a person writes may be anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import TypeAdapter

from ras_flow.errors import InputError
from ras_flow.support.validation import checked


def keyed(update: Any) -> Sequence[tuple[str, Any]]:
    """Return the items of an update by key; refuse all but a mapping of texts."""
    items: list[tuple[str, Any]] = list(expect(update, dict).items())
    if wrong := [key for key, _ in items if not isinstance(key, str)]:
        raise InputError(f"The key {wrong[0]!r:.200} must be a text.")
    return items


def checker(record: type) -> Callable[[Any], Any]:
    """Return what refuses an edited record that lacks something, and returns any other as it is."""
    adapter: TypeAdapter[Any] = TypeAdapter(record)
    what = f"A {record.__name__.lower()} of the state"

    def check(item: Any) -> Any:
        checked(adapter, item, what, InputError, strict=True)
        return item

    return check


def expect(value: Any, kind: type) -> Any:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise InputError(f"This part of the state takes a {kind.__name__}, not {value!r:.200}.")
    return value
