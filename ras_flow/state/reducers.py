"""Keyed, idempotent reducers: the same update applied twice changes nothing.

Each takes one update. :func:`delta` makes a channel of it that stores updates, not whole values,
in checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from numbers import Real
from types import NoneType
from typing import Any, NamedTuple, TypeVar, get_args

from langgraph.channels import DeltaChannel, LastValue

from ras_flow.errors import InputError
from ras_flow.formats.plan import PlanLabel
from ras_flow.formats.text import scrub
from ras_flow.state.schema import Role, StopReason

V = TypeVar("V")

LABELS = (*get_args(PlanLabel), None)
ROLES = get_args(Role)
STOP_REASONS = (*get_args(StopReason), None)


class Record(NamedTuple):
    """What a record of the state has to have.

    Attributes:
        fields: Types by name.
        fault: Says what else is wrong with a record that has them; empty if nothing is.
    """

    fields: Mapping[str, type | tuple[type, ...]]
    fault: Callable[[Mapping[str, Any]], str] = lambda _: ""


def _fault_of_plan(plan: Mapping[str, Any]) -> str:
    if plan["label"] not in LABELS:
        return f"its `label` is one of {', '.join(map(str, LABELS))}"
    said = all(isinstance(plan.get(name, ""), str) for name in ("problem", "error"))
    return "" if said else "its `problem` and its `error` are texts"


def _fault_of_hop(hop: Mapping[str, Any]) -> str:
    scored = len(hop["passages"]) == len(hop["scores"])
    scored = scored and all(isinstance(score, Real) for score in hop["scores"])
    return "" if scored else "give a score for each passage"


def _fault_of_passage(passage: Mapping[str, Any]) -> str:
    return "" if isinstance(passage.get("source", ""), str) else "its `source` is a text"


PLAN = Record(
    {"index": int, "hop": int, "label": (str, NoneType), "subquery": str, "raw": str},
    _fault_of_plan,
)
HOP = Record({"index": int, "subquery": str, "passages": list, "scores": list}, _fault_of_hop)
PASSAGE = Record({"id": str, "title": str, "text": str}, _fault_of_passage)
TRIPLE = Record({"subject": str, "predicate": str, "object": str, "passages": list})
EXTRACTED = Record({"passage": str, "triples": list})
CITATION = Record({"triple": str, "passages": list})
USAGE = Record(
    {"role": str, "calls": Real, "input_tokens": Real, "output_tokens": Real, "seconds": Real},
    lambda usage: "" if usage["role"] in ROLES else f"its `role` is one of {', '.join(ROLES)}",
)


def delta(
    reducer: Callable[[V, V], V], kind: type, record: Record | None = None
) -> DeltaChannel[V]:
    """Make a channel whose checkpoints hold only what each step changed."""

    def fold(value: V, updates: Sequence[V]) -> V:
        for update in updates:
            _check_kind(update, kind)
        return reduce(reducer, updates, value)

    class Checked(DeltaChannel[V]):
        def update(self, values: Sequence[Any]) -> bool:
            if not values:
                # LangGraph calls each channel at each step; there is nothing to check.
                return super().update(values)
            before = _records(self.value) if self.is_available() else []
            changed = super().update(values)
            _check_kind(self.value, kind)
            if isinstance(self.value, dict) and not all(isinstance(k, str) for k in self.value):
                raise InputError("The keys of this part of the state are texts: give no others.")
            if record:
                known = set(map(id, before))
                for item in _records(self.value):
                    if id(item) not in known:
                        _check_record(item, record)
                if "index" in record.fields:
                    _check_order(_records(self.value))
            return changed

    return Checked(fold, kind)


def last(check: Callable[[Any], None]) -> LastValue[Any]:
    """Make a channel that holds the last value."""

    class Checked(LastValue[Any]):
        def update(self, values: Sequence[Any]) -> bool:
            for value in values:
                check(value)
            return super().update(values)

    return Checked(object)


def check_answer(value: object) -> None:
    """Refuse what is no text."""
    _check_kind(value, str)


def check_citations(value: Any) -> None:
    """Refuse what is no list of citations."""
    _check_kind(value, list)
    for item in value:
        _check_record(item, CITATION)


def check_stop_reason(value: object) -> None:
    """Refuse what is neither a stop reason nor None, for a run that is not over."""
    if value not in STOP_REASONS:
        raise InputError(
            f"{value!r} is no stop reason: give one of {', '.join(map(str, STOP_REASONS))}."
        )


def by_index(items: list[dict[str, Any]], update: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge records by their ``index``: new ones are added, known ones updated field by field."""
    merged = {item["index"]: item for item in items}
    for item in update:
        if not isinstance(item, dict) or not isinstance(item.get("index"), int):
            raise InputError(f"{item!r} is no record of a run: give it its `index`.")
        merged[item["index"]] = {**merged.get(item["index"], {}), **item}
    return [merged[index] for index in sorted(merged)]


def by_key(items: Mapping[str, V], update: Mapping[str, V | None]) -> dict[str, V]:
    """Merge mappings: later values win, None removes a key."""
    merged = {**items, **update}
    return {key: value for key, value in merged.items() if value is not None}


def once(items: list[str], update: list[str]) -> list[str]:
    """Append the strings that are not there yet."""
    if wrong := [text for text in update if not isinstance(text, str)]:
        raise InputError(f"{wrong[0]!r} is no text: give texts alone.")
    return list(dict.fromkeys([*items, *update]))


def latest(_: list[Any], update: list[Any]) -> list[Any]:
    """Keep only the last update."""
    return update


def storable(known: str, text: Any) -> Any:
    """Keep the last question, without what checkpoints cannot hold.

    A first one that is no text is refused by ``start``.
    """
    if known and not isinstance(text, str):
        raise InputError(f"The question is a {type(text).__name__}: pass a text.")
    return scrub(text) if isinstance(text, str) else text


def _records(value: Any) -> list[Any]:
    return list(value.values() if isinstance(value, Mapping) else value)


def _check_kind(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise InputError(f"This part of the state takes a {kind.__name__}, not {value!r}.")


def _check_order(items: list[Any]) -> None:
    if any(item["index"] != place for place, item in enumerate(items)):
        indexes = ", ".join(str(item["index"]) for item in items)
        raise InputError(
            f"This part of the state would have records of index {indexes}: number them from 0 on, "
            "in their order and without a gap."
        )


def _check_record(item: object, record: Record) -> None:
    known = item if isinstance(item, dict) else {}
    for name, kind in record.fields.items():
        if name not in known or not isinstance(known[name], kind):
            raise InputError(f"{item!r} is no record of a run: give it its `{name}`.")
    for name in ("passages", "failed", "dropped"):
        ids = known.get(name, [])
        if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
            raise InputError(f"{item!r} is no record of a run: its `{name}` are ids.")
    if fault := record.fault(known):
        raise InputError(f"{item!r} is no record of a run: {fault}.")
