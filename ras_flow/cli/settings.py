"""A system's settings as options of a command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.settings.context import Context
from ras_flow.systems import System, find_system, system_names

DOCUMENTS, MODELS, ANSWER = "Documents", "Models", "Answer"
"""Panels of a command's help."""

BaseUrl = Annotated[
    str | None,
    typer.Option(help="Address of a compatible model server.", rich_help_panel=MODELS),
]
ExtractorOutput = Annotated[
    str, typer.Option(help="How a remote extractor is asked: text, json (by a schema), trained.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting, such as max_seconds=60; may be given several times.",
        rich_help_panel=ANSWER,
    ),
]


def read_settings(given: Sequence[str] | None, kind: type[Context]) -> dict[str, Any]:
    """Return the values of ``--set`` by name, as a class of settings takes them."""
    return dict(_read(one, kind) for one in given or ())


def named_in(given: Sequence[str] | None) -> list[str]:
    """Return the names of the settings in ``--set``."""
    return [one.partition("=")[0].strip().replace("-", "_") for one in given or ()]


def refuse_foreign(names: Iterable[str], system: System) -> None:
    """Refuse settings that other systems read and this one does not."""
    for name in names:
        ours = system.context.model_fields.keys() - system.context.unread
        if name in ours:
            continue
        theirs = [other for other in system_names() if _reads(other, name)]
        if theirs:
            raise InputError(
                f"{name!r} is a setting of {' and '.join(theirs)}, not of {system.name}: leave it "
                f"out, or ask with --system {theirs[0]}."
            )


def _reads(system: str, name: str) -> bool:
    kind = find_system(system).context
    return name in kind.model_fields and name not in kind.unread


def _read(given: str, kind: type[Context]) -> tuple[str, Any]:
    name, equals, text = given.partition("=")
    name = name.strip().replace("-", "_")
    if not (name and equals):
        raise InputError(f"--set {given!r} has no value: write --set NAME=VALUE.")
    # A value is text if its setting takes text, else JSON: a number, true, false or null.
    try:
        kind.from_mapping({name: text})
    except ConfigurationError:
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        kind.from_mapping({name: value})
        return name, value
    return name, text
