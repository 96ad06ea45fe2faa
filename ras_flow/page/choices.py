"""What a question on the page may be asked of: documents, models and tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from ras_flow.errors import RasFlowError
from ras_flow.settings.context import DEFAULTS, DEMO_INDEX
from ras_flow.settings.limits import INDEXES, MODELS, listed
from ras_flow.settings.tasks import TASKS


class Documents(TypedDict):
    """Documents that can be searched, and the settings that search them."""

    name: str
    settings: dict[str, Any]


class Choices(TypedDict):
    """What the page offers for a new question.

    Attributes:
        indexes: The documents; the first are offered first.
        models: Names of models beside the graph's own.
        tasks: Names of tasks.
        own: The ``model`` and the ``task`` of the graph itself, where they are known.
        free: Whether another model's name may be typed.
    """

    indexes: list[Documents]
    models: list[str]
    tasks: list[str]
    own: dict[str, str]
    free: bool


OfferChoices = Callable[[], Choices]
"""Finds out, in a thread, what may be chosen now."""

DEMO = Documents(name="the demo corpus", settings={"index": DEMO_INDEX})
OWN = Documents(name="the server's own", settings={})


def local_choices() -> Choices:
    """Return what a page on this machine offers: the indexes found here, and any model."""
    named, models = listed(INDEXES), listed(MODELS)
    indexes = [*_found(), DEMO] if named is None else [_named(name) for name in named]
    own = {"model": DEFAULTS.planner}
    return _choices(indexes, models or [], own, free=models is None)


def server_choices() -> Choices:
    """Return what a server's page offers: its graph's own, and what callers may name."""
    named = listed(INDEXES)
    indexes = [DEMO] if named is None else [_named(name) for name in named]
    return _choices([OWN, *indexes], listed(MODELS) or [], {}, free=False)


def remote_choices() -> Choices:
    """Return what a page offers for a server elsewhere, which does not tell what it has."""
    return _choices([OWN, DEMO], [], {}, free=True)


def _choices(
    indexes: list[Documents], models: list[str], own: dict[str, str], *, free: bool
) -> Choices:
    return Choices(indexes=indexes, models=models, tasks=list(TASKS), own=own, free=free)


def _found() -> list[Documents]:
    from ras_flow.indexes.listing import find_indexes  # noqa: PLC0415
    from ras_flow.indexes.opening import settings_of  # noqa: PLC0415

    found: dict[str, Documents] = {}
    for one in find_indexes(Path()):
        if one.problem or one.of == DEMO_INDEX:
            continue
        name = f"{Path(one.of or one.path).name}: {one.documents} documents"
        name += ", BM25 only" * (not one.encoder)
        found.setdefault(name, Documents(name=name, settings=settings_of(one.path)))
    return list(found.values())


def _named(name: str) -> Documents:
    try:
        from ras_flow.indexes.opening import settings_of  # noqa: PLC0415

        return Documents(name=name, settings={"index": name, **settings_of(Path(name))})
    except RasFlowError:  # Whoever asks it is told.
        return Documents(name=name, settings={"index": name})
