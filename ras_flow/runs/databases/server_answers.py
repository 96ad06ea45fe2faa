"""What a LangGraph server answers: its errors told as ours, its threads read as runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Any
from uuid import UUID

import httpx
from langgraph_sdk.errors import NotFoundError

from ras_flow import errors
from ras_flow.errors import (
    AuthenticationError,
    InputError,
    RasFlowError,
    RunError,
    UnknownRunError,
)
from ras_flow.runs.commands import command
from ras_flow.runs.threads import FORKED_FROM, Saved, current_values

TOKEN = "RAS_FLOW_TOKEN"
"""Environment variable of what is sent as ``Authorization: Bearer`` to a server."""


class BusyThreadError(RunError):
    """A run of the thread is at work."""


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn the client's errors into ours."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        status, said = error.response.status_code, str(error)
        if status in (401, 403):
            raise AuthenticationError(
                f"The server refuses access to its runs ({status}: {said}). Give it your key: in "
                f"the page when it asks, elsewhere in the environment variable {TOKEN}."
            ) from error
        if isinstance(error, NotFoundError):
            raise unknown_run(said) from error
        if status == 405:
            raise no_server() from error
        if status == 400:  # Said by the graph, with what to do.
            raise InputError(f"The server refuses this: {said}") from error
        kind = BusyThreadError if status == 409 else RunError
        raise kind(f"The server answers {status} ({said}). Try again, or see its log.") from error
    except JSONDecodeError as error:
        raise no_server() from error
    except httpx.TransportError as error:
        raise RunError(
            f"The server does not answer ({type(error).__name__}: {error}). Check the address, and "
            "that it is running."
        ) from error


def no_server() -> RunError:
    """Make the error of an address that something else answers at."""
    return RunError(
        "This address does not answer as a LangGraph server: give the server's own address, "
        "without a page's path, and no proxy's that asks for a login."
    )


def unknown_run(said: str) -> UnknownRunError:
    """Make the error of a run that is not there, with what the server said of it."""
    return UnknownRunError(
        f"The server has no such run ({said}). List the runs with: {command('list')}"
    )


def failure_of(data: Mapping[str, Any]) -> RasFlowError:
    """Make a run's error again, of the class that it had."""
    kind = getattr(errors, str(data.get("error")), None)
    if not (isinstance(kind, type) and issubclass(kind, RasFlowError)):
        kind = RunError
    return kind(str(data.get("message") or "The run failed; see the server's log."))


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
