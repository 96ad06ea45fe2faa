"""A stored run: a line about it, its state, how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ras_flow.errors import ConfigurationError, RunError
from ras_flow.runs.systems import known_system
from ras_flow.runs.threads import Saved
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

_INTERNAL = {"documents", "extracted", "context", "encodes"}


@dataclass(frozen=True)
class RunSummary:
    """One line about a run.

    Attributes:
        id: The run's id, which is its thread's id.
        started: When its question was asked, ISO 8601, UTC.
        system: The name of its system.
        question: The question.
        stop_reason: Why it answered; None while it is unfinished.
        answer: The answer; empty while it is unfinished.
        supported: Whether the documents support it.
        waits: Whether it waits for a person.
    """

    id: str
    started: str
    system: str
    question: str
    stop_reason: str | None
    answer: str
    supported: bool = False
    waits: bool = False

    @property
    def stopped(self) -> str:
        """Why it answered, or why it did not."""
        return self.stop_reason or ("waits" if self.waits else "unfinished")


@dataclass(frozen=True)
class StoredRun:
    """A run as its last checkpoint holds it.

    Attributes:
        summary: The line about it.
        context: The settings it ran with.
        state: Its state.
        next: The nodes of the next step; empty when it is finished.
    """

    summary: RunSummary
    context: Context
    state: RasState
    next: tuple[str, ...]

    def result(self) -> dict[str, Any]:
        """Return the run as one JSON-like object."""
        kept = {name: value for name, value in self.state.items() if name not in _INTERNAL}
        return {"run": self.summary.id, **kept, "settings": self.state.get("context", {})}


class Newest(NamedTuple):
    """How far a run is: its newest checkpoint, and whether nothing follows it."""

    checkpoint: str
    finished: bool


def stop_reason_of(values: Mapping[str, Any]) -> str | None:
    """Return why a finished run answered: "finished" if its system does not say."""
    return values.get("stop_reason") or ("finished" if values.get("answer") else None)


def summary_of(run_id: str, asked: str, saved: Saved) -> RunSummary:
    """Return the line about a run, by its newest checkpoint."""
    # Until the first step is done, the state has the answer to the thread's last question.
    finished = not saved.next
    question = saved.values.get("question")
    return RunSummary(
        id=run_id,
        started=f"{asked[:19]}Z",
        # A question that is not text was refused, but is stored as given.
        question=question if isinstance(question, str) else "",
        system=saved.system,
        stop_reason=stop_reason_of(saved.values) if finished else None,
        answer=saved.values.get("answer", "") if finished else "",
        supported=bool(saved.values.get("supported")) and finished,
        waits=bool(saved.interrupts),
    )


def context_of(run_id: str, saved: Saved) -> Context:
    """Return the settings that a run was given, unless another version wrote them."""
    try:
        return known_system(saved.system).context.from_mapping(saved.values.get("context") or {})
    except ConfigurationError as error:
        raise RunError(f"The settings of run {run_id} cannot be used: {error}") from error
