"""What runs have to know of the systems that made them; an unknown system's runs can be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, get_origin, get_type_hints

from ras_flow.errors import ConfigurationError, RunError
from ras_flow.runs.document import SystemInfo
from ras_flow.settings.context import Context
from ras_flow.systems import Section, System, find_system, system_names


def system_of(run_id: str, name: str) -> System:
    """Return the system that edits a run and goes on with it."""
    try:
        return find_system(name)
    except ConfigurationError as error:
        raise RunError(
            f"Run {run_id} is of the system {name!r}, which cannot go on here: the run can be "
            f"shown and compared. {error} A run of an evaluation goes on with the evaluation, "
            "started again (after a failure with --retry)."
        ) from error


def context_type(name: str) -> type[Context]:
    """Return the class of a system's settings."""
    known = _known(name)
    return known.context if known else Context


def info_of(name: str) -> SystemInfo:
    """Describe a system to readers of its runs; nothing can be edited of an unknown one."""
    known = _known(name)
    if known is None:
        return SystemInfo(name=name, roles=[], stop_reasons={}, edits={}, operations={})
    return SystemInfo(
        name=name,
        roles=list(known.context.model_roles),
        stop_reasons={reason: found.meaning for reason, found in known.stop_reasons.items()},
        edits={before: list(point.allowed) for before, point in known.edit_points.items()},
        operations={op: _fields(one.record) for op, one in known.operations.items()},
    )


def _fields(record: Any) -> list[str]:
    """Return the fields that an edit must have."""
    hints = get_type_hints(record, include_extras=True)
    return [
        name for name, kind in hints.items() if name != "op" and get_origin(kind) is not NotRequired
    ]


def tells_of(name: str) -> Mapping[str, Callable[[Any], Section]]:
    """Return how a system's own events are shown."""
    known = _known(name)
    return known.tells if known else {}


def sections_of(name: str, state: Mapping[str, Any]) -> list[Section]:
    """Return what a system adds to what people are shown of a run's state."""
    known = _known(name)
    return list(known.sections(state)) if known else []


def open_of(name: str, state: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return what a system's run asks and does not know."""
    known = _known(name)
    return list(known.open(state)) if known else []


def own_of(name: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a system's documents have of its own channels."""
    known = _known(name)
    return {key: state[key] for key in known.keeps if key in state} if known else {}


def stop_reasons() -> list[str]:
    """Return the stop reasons of all known systems."""
    return sorted({reason for name in system_names() for reason in find_system(name).stop_reasons})


def offered(own: str) -> list[dict[str, Any]]:
    """Describe the systems that can be asked, a home's own first, and what they answer from."""
    found = map(find_system, dict.fromkeys([own, *system_names()]))
    return [
        {
            "name": one.name,
            "about": one.about,
            "roles": one.context.model_roles,
            "of": "indexes" if one.documents else "graphs",
        }
        for one in found
    ]


def _known(name: str) -> System | None:
    try:
        return find_system(name)
    except ConfigurationError:
        return None
