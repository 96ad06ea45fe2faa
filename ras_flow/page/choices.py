"""What a question on the page may be asked of: documents, graphs, models and tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from ras_flow.errors import RasFlowError
from ras_flow.settings.context import DEFAULTS, DEMO_INDEX
from ras_flow.settings.limits import INDEXES, MODELS, listed
from ras_flow.settings.tasks import TASKS


class Source(TypedDict):
    """Documents or a knowledge graph, and the settings of a run that searches them."""

    name: str
    settings: dict[str, Any]


class Choices(TypedDict):
    """What the page offers for a new question.

    Attributes:
        indexes: The documents; the first are offered first.
        graphs: The knowledge graphs.
        models: Names of models beside the graph's own.
        tasks: Names of tasks.
        own: The ``model`` and the ``task`` of the graph itself, where they are known.
        free: Whether another model's name may be typed.
    """

    indexes: list[Source]
    graphs: list[Source]
    models: list[str]
    tasks: list[str]
    own: dict[str, str]
    free: bool


OfferChoices = Callable[[], Choices]
"""Finds out, in a thread, what may be chosen now."""

DEMO = [
    Source(name="the demo corpus", settings={"index": DEMO_INDEX}),
    Source(name="the demo graph", settings={"kg": DEMO_INDEX}),
]
OWN = Source(name="the server's own", settings={})


def local_choices() -> Choices:
    """Return what a page on this machine offers: what is found here, and any model."""
    named, models = listed(INDEXES), listed(MODELS)
    sources = [*_indexes(), *_graphs(), *DEMO] if named is None else list(map(_named, named))
    own = {"model": DEFAULTS.planner}
    return _choices([], sources, models or [], own, free=models is None)


def server_choices() -> Choices:
    """Return what a server's page offers: its graph's own, and what callers may name."""
    named = listed(INDEXES)
    sources = DEMO if named is None else list(map(_named, named))
    return _choices([OWN], sources, listed(MODELS) or [], {}, free=False)


def remote_choices() -> Choices:
    """Return what a page offers for a server elsewhere, which does not tell what it has."""
    return _choices([OWN], DEMO, [], {}, free=True)


def _choices(
    first: list[Source], more: list[Source], models: list[str], own: dict[str, str], *, free: bool
) -> Choices:
    return Choices(
        indexes=first + [one for one in more if "kg" not in one["settings"]],
        graphs=first + [one for one in more if "kg" in one["settings"]],
        models=models,
        tasks=list(TASKS),
        own=own,
        free=free,
    )


def _indexes() -> list[Source]:
    from ras_flow.indexes.listing import find_indexes  # noqa: PLC0415
    from ras_flow.indexes.opening import settings_of  # noqa: PLC0415

    found: dict[str, Source] = {}
    for one in find_indexes(Path()):
        if one.problem or one.of == DEMO_INDEX:
            continue
        name = f"{Path(one.of or one.path).name}: {one.documents} documents"
        name += ", BM25 only" * (not one.encoder)
        found.setdefault(name, Source(name=name, settings=settings_of(one.path)))
    return list(found.values())


def _graphs() -> list[Source]:
    from ras_flow.documents.index_folders import GRAPH  # noqa: PLC0415
    from ras_flow.indexes.listing import find_folders  # noqa: PLC0415

    return [
        Source(name=str(one.relative_to(Path().resolve())), settings={"kg": str(one)})
        for one in find_folders(Path(), [GRAPH])
    ]


def _named(name: str) -> Source:
    from ras_flow.documents.index_folders import GRAPH, kind_of  # noqa: PLC0415
    from ras_flow.indexes.opening import settings_of  # noqa: PLC0415

    if kind_of(Path(name)) == GRAPH:
        return Source(name=name, settings={"kg": name})
    try:
        return Source(name=name, settings={"index": name} | settings_of(Path(name)))
    except RasFlowError:  # Whoever asks it is told.
        return Source(name=name, settings={"index": name})
