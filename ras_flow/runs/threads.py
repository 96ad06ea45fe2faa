"""Where runs live: the threads of a graph's checkpointer or of a server, and what these hold."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.types import Command

from ras_flow.edits.draft import BEGINNING
from ras_flow.edits.records import Edit
from ras_flow.events import Event
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasInput

FORKED_FROM = "ras_forked_from"
"""Key of an edit's metadata: the checkpoint that was edited."""

_ASKED: dict[str, type] = {"question": str, "settings": Mapping, "documents": list}


@dataclass(frozen=True)
class Saved:
    """A checkpoint of a run; ids of checkpoints sort by time.

    Attributes:
        parent: The checkpoint before it; None for the first.
        forked_from: The checkpoint that was edited to make it, where that is not ``parent``.
        time: When it was written, ISO 8601, UTC.
        source: ``"input"``, ``"loop"``, ``"update"`` or ``"fork"``, as LangGraph names them; None
            for the root of a run that was kept only at its end.
        values: The state. What an earlier question left there, and ``start`` is about to clear, is
            not in it.
        next: The nodes that come next; empty when the run was over.
        interrupts: What a person is asked before it goes on.
    """

    system: str
    checkpoint: str
    parent: str | None
    forked_from: str | None
    time: str
    source: str | None
    step: int
    values: dict[str, Any]
    next: tuple[str, ...]
    interrupts: tuple[dict[str, Any], ...] = ()


def current_values(
    values: dict[str, Any], next: tuple[str, ...], given: object = None
) -> dict[str, Any]:
    """Return the part of a state that belongs to its question."""
    if not set(next) & set(BEGINNING):
        return values
    asked = {name: values[name] for name in _ASKED if name in values}
    asked |= given if isinstance(given, dict) else {}
    return {name: it for name, it in asked.items() if isinstance(it, _ASKED.get(name, object))}


class Threads(Protocol):
    """The threads that runs are kept in; a run's id is its thread's."""

    @property
    def system(self) -> str:
        """The name of the system that answers new questions."""

    def new_id(self) -> str:
        """Return an id for a new run."""

    async def find(self, run_id: str | None = None) -> list[tuple[str, str]]:
        """Return id and time (ISO 8601, UTC) of the last question of every run, or of one."""

    async def state(self, run_id: str, checkpoint: str | None = None) -> Saved | None:
        """Return a checkpoint, by default the newest; None if it is missing."""

    async def history(self, run_id: str) -> list[Saved]:
        """Return every checkpoint of a run, oldest first; none for an unknown run."""

    async def update(
        self, run_id: str, checkpoint: str, values: dict[str, Any], as_node: str
    ) -> str:
        """Edit a copy of a checkpoint as if a node had; return the id of the new checkpoint."""

    def stream(
        self,
        run_id: str,
        given: RasInput | Command[Any] | None,
        checkpoint: str | None = None,
        *,
        seen: str | None = None,
        system: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Ask a question, answer a review, or (None) go on, from a checkpoint or the newest.

        ``system`` answers a question, in place of the threads' own. ``seen`` is the end of the
        branch when the caller decided to go on with it: RunError if somebody else went on since.
        """

    def replay(self, run_id: str, checkpoint: str) -> AsyncGenerator[Event]:
        """Go on from a checkpoint; the first event names the new branch's own first checkpoint."""

    async def check_edits(
        self, system: str, edits: Sequence[Edit], context: Context, values: Mapping[str, Any]
    ) -> None:
        """Refuse edits after which no run could go on here; ``values`` have the edited settings."""

    async def delete(self, run_id: str) -> None:
        """Delete all that is stored of a run."""
