"""What a LangGraph server says of its threads, read; ids as it takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ras_flow.runs.databases.server_errors import no_server, unknown_run
from ras_flow.runs.threads import FORKED_FROM, Saved, current_values

STATE = ("checkpoint", "parent_checkpoint", "created_at", "metadata", "values", "tasks")
"""What a checkpoint says, as far as it is read here."""


def objects_in(found: Any, *names: str) -> list[dict[str, Any]]:
    """Return the objects that the server answered; refuse an answer without these names."""
    if isinstance(found, list) and all(
        isinstance(each, dict) and each.keys() >= set(names) for each in found
    ):
        return found
    raise no_server()


def thread_of(run_id: str) -> str:
    """Return a run's id as the server takes it."""
    try:
        return str(UUID(run_id))
    except ValueError as error:
        raise unknown_run("its ids are UUIDs") from error


def place_of(checkpoint: str) -> Any:
    """Return where a checkpoint is, as the server takes it."""
    return {"checkpoint_id": checkpoint, "checkpoint_ns": ""}


def oldest_of(states: list[Any]) -> Any:
    """Return what the next page of a history comes before; None for the first page."""
    if not states:
        return None
    where = place_of(states[-1]["checkpoint"]["checkpoint_id"])
    # One kind of server reads it as the client documents it, another as LangGraph's own config.
    return {**where, "configurable": where}


def saved_of(state: Mapping[str, Any], system: str) -> Saved:
    """Return a checkpoint as the server tells it."""
    tasks, metadata, parent = state["tasks"], state["metadata"] or {}, state["parent_checkpoint"]
    next = tuple(task["name"] for task in tasks)
    given = tasks[0].get("result") if next == ("__start__",) else None
    return Saved(
        system=system,
        checkpoint=state["checkpoint"]["checkpoint_id"],
        parent=parent["checkpoint_id"] if parent else None,
        forked_from=metadata.get(FORKED_FROM),
        time=state["created_at"],
        source=metadata.get("source"),
        step=metadata.get("step", 0),
        values=current_values(state["values"], next, given),
        next=next,
        interrupts=tuple(
            interrupt["value"]
            for task in tasks
            for interrupt in task["interrupts"]
            if isinstance(interrupt.get("value"), dict)
        ),
    )
