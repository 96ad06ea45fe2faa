"""The systems that runs are of; the runs of an unknown system can still be shown."""

from __future__ import annotations

from typing import Any, NotRequired, get_origin, get_type_hints

from ras_flow.errors import ConfigurationError, RunError
from ras_flow.runs.document import SystemInfo
from ras_flow.systems import System, find_system, system_names


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


def known_system(name: str) -> System:
    """Return a system; for an unknown name, a system that adds and edits nothing."""
    try:
        return find_system(name)
    except ConfigurationError:
        return System(name=name, about="", build=lambda parts: find_system(name).build(parts))


def info_of(name: str) -> SystemInfo:
    """Describe a system to readers of its runs."""
    known = known_system(name)
    return SystemInfo(
        name=name,
        roles=list(known.context.model_roles) if "model" in known.operations else [],
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


def stop_reasons() -> list[str]:
    """Return the stop reasons of all known systems."""
    return sorted({reason for name in system_names() for reason in find_system(name).stop_reasons})


def offered(own: str) -> list[dict[str, Any]]:
    """Describe the systems that can be asked, ``own`` first, and what they answer from."""
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
