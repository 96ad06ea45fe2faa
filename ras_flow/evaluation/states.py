"""A run's state as an evaluation reads it, whatever graph it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ras_flow.state.schema import Citation, Hop, Passage, Plan, Triple, Usage

_FORMS: dict[str, TypeAdapter[Any]] = {
    "answer": TypeAdapter(str),
    "answers": TypeAdapter(list[str]),
    "citations": TypeAdapter(list[Citation]),
    "hops": TypeAdapter(list[Hop]),
    "passages": TypeAdapter(dict[str, Passage]),
    "plans": TypeAdapter(list[Plan]),
    "supported": TypeAdapter(bool),
    "support": TypeAdapter(str),
    "stop_reason": TypeAdapter(str | None),
    "triples": TypeAdapter(dict[str, Triple]),
}
"""What is read of a state, and its form in that of RAS."""


class _Use(Usage):
    """What a step cost; another system may have other roles."""

    role: str


_USE = TypeAdapter(_Use)


def readable(state: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out channels that have the name of one of RAS's, but not its form."""
    found = {name: value for name, value in state.items() if _has_form(name, value)}
    return {**found, "usage": usage_in(state.get("usage"))}


def usage_in(found: object) -> dict[str, Usage]:
    """Return the costs of steps among whatever stands where a graph's costs would."""
    if not isinstance(found, Mapping):
        return {}
    return {step: use for step, use in found.items() if _fits(_USE, use)}


def problem_of(state: Mapping[str, Any]) -> str:
    """Say what is wrong with the answer of a run that has ended; empty where it is a text."""
    answer = state.get("answer", "")
    if isinstance(answer, str):
        return ""
    return f"The graph's `answer` is a {type(answer).__name__}: it has to be a text."


def _has_form(name: str, value: object) -> bool:
    return name not in _FORMS or _fits(_FORMS[name], value)


def _fits(form: TypeAdapter[Any], value: object) -> bool:
    try:
        form.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True
