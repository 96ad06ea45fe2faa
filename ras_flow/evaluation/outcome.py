"""What became of one question: the same record of every system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ras_flow.state.schema import Citation, Hop, Passage, Plan, Triple, Usage
from ras_flow.state.usage import usage_by_role


@dataclass(frozen=True)
class SearchedHop:
    """A hop: what was searched for, and what was found (ids and titles), best first."""

    subquery: str
    passages: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a system made of a question; of a failed run, ``error`` says why.

    ``answers`` are the members of an answer that is a set. Usage (by role) and seconds are those of
    the question asked alone; ``rounds`` are the steps that called a model, one after the other.
    ``supported`` is None where the system does not say.
    """

    answer: str = ""
    answers: tuple[str, ...] = ()
    supported: bool | None = None
    support: str = ""
    hops: tuple[SearchedHop, ...] = ()
    triples: int = 0
    rounds: int = 0
    stop_reason: str | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""

    @property
    def said(self) -> str:
        """The answer as it is judged: the members of a set on a line each."""
        return "\n".join(self.answers) or self.answer

    @property
    def doubted(self) -> bool:
        """Whether the run says that nothing supports its answer, or that it has none."""
        return not self.error and self.supported is False

    @property
    def tokens(self) -> int:
        """Tokens read and written by all roles."""
        return sum(use["input_tokens"] + use["output_tokens"] for use in self.usage.values())

    @property
    def tokens_written(self) -> int:
        """Tokens written by all roles, thoughts included."""
        return sum(use["output_tokens"] for use in self.usage.values())

    def tokens_of(self, role: str = "", *, weight: float = 1.0) -> float:
        """Return the tokens of one role, or of all; those that were written by their weight."""
        uses = [use for name, use in self.usage.items() if role in ("", name)]
        return sum(use["input_tokens"] + weight * use["output_tokens"] for use in uses)

    @property
    def calls(self) -> int:
        """Model calls of all roles."""
        return sum(use["calls"] for use in self.usage.values())


def outcome_of(
    state: Mapping[str, Any], *, saved: Mapping[str, Usage] | None = None, error: str = ""
) -> Outcome:
    """Read the outcome from a run's state."""
    waited = [
        Usage(role=kept["role"], calls=0, input_tokens=0, output_tokens=0, seconds=kept["seconds"])
        for kept in (saved or {}).values()
    ]
    usage = usage_by_role([*state.get("usage", {}).values(), *waited])
    for total in usage.values():
        total["seconds"] = round(total["seconds"], 3)
    passages = state.get("passages", {})
    hops = tuple(
        SearchedHop(
            hop["subquery"],
            tuple(hop["passages"]),
            tuple(passages[id]["title"] for id in hop["passages"] if id in passages),
        )
        for hop in state.get("hops", [])
    )
    return Outcome(
        answer="" if error else state.get("answer", ""),
        answers=() if error else tuple(state.get("answers", ())),
        support="" if error else state.get("support", ""),
        hops=hops,
        triples=len(state.get("triples", {})),
        rounds=sum(use["calls"] > 0 for use in state.get("usage", {}).values()),
        stop_reason=None if error else state.get("stop_reason"),
        supported=None if error else state.get("supported"),
        usage=usage,
        seconds=round(sum(use["seconds"] for use in usage.values()), 3),
        error=error,
    )


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

_USE = TypeAdapter(Usage)


def readable(state: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out channels that have the name of one of RAS's, but not its form."""
    found = {
        name: value
        for name, value in state.items()
        if name not in _FORMS or _fits(_FORMS[name], value)
    }
    usage = found.get("usage")
    uses = usage.items() if isinstance(usage, Mapping) else ()
    return {**found, "usage": {step: use for step, use in uses if _fits(_USE, use)}}


def problem_of(state: Mapping[str, Any]) -> str:
    """Say what is wrong with the answer of a run that has ended; empty where it is a text."""
    answer = state.get("answer", "")
    if isinstance(answer, str):
        return ""
    return f"The graph's `answer` is a {type(answer).__name__}: it has to be a text."


def _fits(form: TypeAdapter[Any], value: object) -> bool:
    try:
        form.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True
