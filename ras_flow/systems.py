"""The registry of systems: graphs that share nodes, parts, runs, page, tool and evaluation.

RAS is one. Others are found in two ways. An installed package names its system as an entry point of
the group ``ras_flow.systems``. A person names one as ``module:attribute``, where a system is asked
for or in the environment variable ``RAS_FLOW_SYSTEMS``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

from ras_flow.errors import ConfigurationError
from ras_flow.settings.context import Context
from ras_flow.state.stop_reasons import StopReason

if TYPE_CHECKING:
    from ras_flow.builder import SystemBuilder
    from ras_flow.edits.draft import EditPoint, Operation
    from ras_flow.parts.source import PartsSource

DEFAULT = "ras"
"""The system to use where none is named."""

VARIABLE = "RAS_FLOW_SYSTEMS"
"""Environment variable: systems as ``module:attribute``, with commas between."""

_BUILT_IN = {
    DEFAULT: "ras_flow.graph:SYSTEM",
    "t2rag": "ras_flow.t2rag.graph:SYSTEM",
    "reg": "ras_flow.reg.graph:SYSTEM",
}
_named: dict[str, str] = {}
"""What a person named by ``module:attribute`` in this process."""


class Section(NamedTuple):
    """A section that a system adds to the display of its runs.

    Attributes:
        title: A word or two.
        lines: Plain text, each on one line.
    """

    title: str
    lines: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class System:
    """A system: how its graph is built, and what its runs say.

    Attributes:
        name: Its name, for ``--system`` and in its stored runs.
        about: What it does, in a few words.
        build: Wires its graph over the parts given, by a :class:`ras_flow.builder.SystemBuilder`.
        context: The class of its settings, which also names its model roles.
        stop_reasons: What its stop reasons mean, by name.
        edit_points: By the node that comes next, or "" at the end: which edits make sense there,
            and where the run goes on. Without edit points, runs can be replayed but not edited.
        operations: Its edits by ``op``.
        tells: How a terminal shows events, by type: those of the system's own, and shared ones that
            it shows differently. A section without lines shows nothing.
        documents: Whether it answers from documents. If so, the page lets people choose them.
        open: What a run still looks for, from its state: subjects, predicates and objects, with
            ``?name`` for a variable. Exports include them.
        sections: What to show of a run's state beside hops, triples and answer.
        keeps: The channels of its own that the JSON documents of its runs include.
        asks: How to ask again for the answer to a state; None to ask as RAS does.
    """

    name: str
    about: str
    build: Callable[[PartsSource], SystemBuilder[Any]]
    context: type[Context] = Context
    stop_reasons: Mapping[str, StopReason] = field(default_factory=dict)
    edit_points: Mapping[str, EditPoint] = field(default_factory=dict)
    operations: Mapping[str, Operation] = field(default_factory=dict)
    tells: Mapping[str, Callable[[Any], Section]] = field(default_factory=dict)
    documents: bool = True
    open: Callable[[Any], Sequence[tuple[str, str, str]]] = lambda state: ()
    sections: Callable[[Any], Sequence[Section]] = lambda state: ()
    keeps: tuple[str, ...] = ()
    asks: Callable[[Any, PartsSource], Awaitable[str]] | None = None

    def builder(self, defaults: Context | None = None) -> SystemBuilder[Any]:
        """Return the builder of its graph, over the parts that the settings name."""
        from ras_flow.parts.chosen import Parts  # noqa: PLC0415  (loads what knows models)

        return self.build(Parts(defaults=self.context.of(defaults)))

    def meaning(self, stop_reason: str | None) -> StopReason:
        """Return what a stop reason means; for one of another version, its name in words."""
        name = stop_reason or ""
        return self.stop_reasons.get(name) or StopReason(name.replace("_", " "))


def find_system(name: str) -> System:
    """Return a system by its name.

    Args:
        name: The name stored with a run. It imports only what the installed packages and
            :data:`VARIABLE` list.

    Returns:
        The system.

    Raises:
        ConfigurationError: The system is not installed, or cannot be imported.
    """
    if name in _BUILT_IN:
        return _load(_BUILT_IN[name])
    known, broken = _places()
    if name not in known:
        raise ConfigurationError(
            f"The system {name!r} is not installed. Known: {', '.join(known)}. Install its "
            f"package, or set {VARIABLE} to its module:attribute. {' '.join(broken)}".rstrip()
        )
    return _load(known[name])


def named_system(name: str) -> System:
    """Return the system that a person names.

    Args:
        name: A system's name, or its ``module:attribute``.

    Returns:
        The system.

    Raises:
        ConfigurationError: The system is unknown, or cannot be imported.
    """
    if ":" not in name:
        return find_system(name)
    found = _load(name)
    if _places()[0].get(found.name, name) != name:
        raise ConfigurationError(
            f"{name!r} calls itself {found.name!r}, as another system does: give it another name."
        )
    _named[found.name] = name
    return found


def system_names() -> list[str]:
    """Return the names of the installed and listed systems."""
    return list(_places()[0])


def _places() -> tuple[dict[str, str], list[str]]:
    """Return ``module:attribute`` of all known systems by name, and what is wrong with others."""
    installed = {found.name: found.value for found in entry_points(group="ras_flow.systems")}
    listed, broken = {}, []
    for place in filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(","))):
        try:
            listed[_load(place).name] = place
        except ConfigurationError as error:
            broken.append(str(error))
    return {**_named, **listed, **installed, **_BUILT_IN}, broken


def _load(place: str) -> System:
    module, _, attribute = place.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"The system {place!r} cannot be imported ({error}): name a module that Python finds, "
            "a colon, and its System."
        ) from error
    if not isinstance(found, System):
        raise ConfigurationError(
            f"{place!r} is a {type(found).__name__}: name a ras_flow.systems.System."
        )
    return found
