"""Keyed, idempotent reducers: the same update applied twice changes nothing.

Each takes one update and refuses records that lack something. :func:`delta` makes a channel of it
that stores updates, not whole values, in checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from langgraph.channels import DeltaChannel, LastValue
from langgraph.types import Overwrite
from pydantic import TypeAdapter

from ras_flow.errors import InputError
from ras_flow.formats.text import scrub
from ras_flow.state.checks import checker, expect, keyed
from ras_flow.support.validation import checked

V = TypeVar("V")


def delta(reducer: Callable[[Any, Any], V], kind: type[V]) -> DeltaChannel[V]:
    """Make a channel that keeps what each step changed, and refuses malformed edits.

    ``reducer`` returns a new value and changes neither argument; a fresh channel holds ``kind()``.
    """

    class Checked(DeltaChannel[V]):
        def update(self, values: Sequence[Any]) -> bool:
            changed = super().update(values)
            if any(map(_overwrites, values)):  # Overwriting passes the reducer by.
                reducer(kind(), self.value)
            return changed

    return Checked(lambda value, updates: reduce(reducer, updates, value), kind)


def last(kind: Any) -> LastValue[Any]:
    """Make a channel that holds the last value and refuses edits of another type."""
    adapter = TypeAdapter(kind)

    class Checked(LastValue[Any]):
        def update(self, values: Sequence[Any]) -> bool:
            for value in values:
                checked(adapter, value, self.key, InputError, strict=True)
            return super().update(values)

    return Checked(object)


def by_index(
    record: type, check_more: Callable[[Any], None] = lambda record: None
) -> Callable[[list[Any], list[Any]], list[Any]]:
    """Return the reducer of records in order of their ``index``.

    New records are added, known ones updated field by field; ``check_more`` may refuse either.
    """
    check = checker(record)

    def merge(items: list[Any], update: list[Any]) -> list[Any]:
        merged = {item["index"]: item for item in items}
        for item in expect(update, list):
            index = item.get("index") if isinstance(item, dict) else None
            if not isinstance(index, int):
                raise InputError(f"{item!r:.200} lacks its `index`, a whole number.")
            merged[index] = check({**merged.get(index, {}), **item})
            check_more(merged[index])
        if sorted(merged) != list(range(len(merged))):
            raise InputError(
                f"The records would have the indexes {', '.join(map(str, merged))}: number them "
                "from 0 on, without a gap."
            )
        return [merged[index] for index in sorted(merged)]

    return merge


def by_key(
    record: type, unite: Callable[[Any, Any], Any] = lambda known, new: new
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]:
    """Return the reducer of records by key: None removes a key.

    ``unite`` makes one of a known record and a new one; by default the new one wins.
    """
    check = checker(record)

    def merge(items: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
        merged = dict(items)
        for key, item in keyed(update):
            if item is None:
                merged.pop(key, None)
            else:
                new = check(item)
                merged[key] = unite(merged[key], new) if key in merged else new
        return merged

    return merge


def latest(record: type) -> Callable[[list[Any], list[Any]], list[Any]]:
    """Return the reducer that keeps only the last update."""
    check = checker(record)

    def replace(_: list[Any], update: list[Any]) -> list[Any]:
        return list(map(check, expect(update, list)))

    return replace


def once(items: list[str], update: list[str]) -> list[str]:
    """Append the texts that are not there yet."""
    if wrong := [text for text in expect(update, list) if not isinstance(text, str)]:
        raise InputError(f"{wrong[0]!r:.200} must be a text.")
    return list(dict.fromkeys([*items, *update]))


def storable(known: str, text: Any) -> Any:
    """Keep the last question, without what checkpoints cannot hold; ``start`` refuses no text."""
    if known and not isinstance(text, str):
        raise InputError(f"The question is a {type(text).__name__}: pass a text.")
    return scrub(text) if isinstance(text, str) else text


def _overwrites(value: Any) -> bool:
    return isinstance(value, Overwrite) or (isinstance(value, dict) and "__overwrite__" in value)
