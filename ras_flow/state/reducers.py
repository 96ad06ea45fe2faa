"""Keyed, idempotent reducers: the same update applied twice changes nothing.

Each takes one update. :func:`delta` makes a channel of it that stores updates, not whole values,
in checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from langgraph.channels import DeltaChannel

from ras_flow.errors import InputError
from ras_flow.formats.text import scrub

V = TypeVar("V")


def delta(reducer: Callable[[V, V], V], kind: type) -> DeltaChannel[V]:
    """Make a channel whose checkpoints hold only what each step changed.

    Args:
        reducer: Takes the value and one update, returns the new value, changes neither.
        kind: ``list`` or ``dict``; the value of a fresh channel is ``kind()``.

    Returns:
        The channel, for use in ``Annotated``.
    """

    def fold(value: V, updates: Sequence[V]) -> V:
        return reduce(reducer, updates, value)

    return DeltaChannel(fold, kind)


def by_index(items: list[dict[str, Any]], update: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge records by their ``index``: new ones are added, known ones updated field by field.

    Args:
        items: Records in order of their index.
        update: New records, or parts of known ones with their ``index``.

    Returns:
        The merged records in order of their index.

    Raises:
        InputError: A record, as someone edited it, has no index.
    """
    merged = {item["index"]: item for item in items}
    for item in update:
        if not isinstance(item, dict) or not isinstance(item.get("index"), int):
            raise InputError(f"{item!r} is no record of a run: give it its `index`.")
        merged[item["index"]] = {**merged.get(item["index"], {}), **item}
    return [merged[index] for index in sorted(merged)]


def by_key(items: Mapping[str, V], update: Mapping[str, V | None]) -> dict[str, V]:
    """Merge mappings: later values win, None removes a key.

    Args:
        items: The mapping so far.
        update: Values to set, or None to remove.

    Returns:
        The merged mapping.
    """
    merged = {**items, **update}
    return {key: value for key, value in merged.items() if value is not None}


def once(items: list[str], update: list[str]) -> list[str]:
    """Append the strings that are not there yet."""
    return list(dict.fromkeys([*items, *update]))


def latest(_: list[Any], update: list[Any]) -> list[Any]:
    """Keep only the last update."""
    return update


def storable(_: str, text: Any) -> Any:
    """Keep the last text, without what checkpoints cannot hold; ``start`` refuses other values."""
    return scrub(text) if isinstance(text, str) else text
