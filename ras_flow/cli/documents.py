"""Documents named on the command line, and a line about each that is left out."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.settings import DOCUMENTS
from ras_flow.errors import DocumentError, InputError
from ras_flow.formats.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ras_flow.documents import ReadReport, SourceDocument

Skip = Annotated[
    bool,
    typer.Option(
        "--skip", help="Leave out documents that cannot be read.", rich_help_panel=DOCUMENTS
    ),
]


def read_and_tell(
    docs: list[Path], *, skip: bool = False, empty_ok: bool = False
) -> Iterator[SourceDocument]:
    """Read documents, and say on standard error what is left out."""
    from ras_flow.documents import ReadReport, read_documents
    from ras_flow.documents.reading import HIDDEN

    report = ReadReport()
    docs = [_absolute(path) for path in docs]
    for document in read_documents(docs, on_error="skip", empty_ok=empty_ok, report=report):
        _tell_faults(report, skip)
        yield document
    _tell_faults(report, skip)
    _tell_ignored([path for path in report.ignored if not path.name.startswith(HIDDEN)], docs)
    if not report.documents and empty_ok:
        raise InputError(
            "Found no documents, so nothing is pruned: the disk may not be mounted. To empty the "
            "index, name its documents with `ras-flow index remove`."
        )
    if not report.documents:
        raise InputError("Nothing in these documents can be read: name others.")


def _absolute(path: Path) -> Path:
    """Return the path's name from any working folder; ``..`` may be behind a link."""
    if not os.path.exists(path):
        return path  # Messages name it as it was typed.
    plain, place = os.path.abspath(path), os.path.realpath(path)
    return Path(plain if os.path.realpath(plain) == place else place)


def _tell_faults(report: ReadReport, skip: bool) -> None:
    """Report what could not be read and forget it; without ``skip``, the first error is raised."""
    while report.gaps:
        _left_out(report.gaps.pop(0))
    while report.errors:
        error = report.errors.pop(0)
        if not skip:
            raise DocumentError(f"{error} Or leave out what cannot be read, with --skip.")
        _left_out(str(error))


def _tell_ignored(paths: list[Path], docs: list[Path]) -> None:
    """Say what was left out of folders, except links to folders that were read anyway."""
    read = tuple(os.path.join(os.path.realpath(path), "") for path in docs)
    kinds: Counter[str] = Counter()
    for path in paths:
        if os.path.isfile(path):
            kinds[path.suffix.lower() or "files without an extension"] += 1
        elif not os.path.exists(path):
            kinds["broken links"] += 1
        elif os.path.islink(path):
            inside = os.path.join(os.path.realpath(path), "").startswith(read)
            kinds["linked folders, which are read if you name them"] += not inside
    if told := [f"{kind} ({count})" for kind, count in sorted(kinds.items()) if count]:
        _left_out(", ".join(told))


def _left_out(what: str) -> None:
    typer.echo(f"left out: {plain(what)}", err=True)
