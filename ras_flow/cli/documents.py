"""Documents that a command is given: read, with a word on what is left out."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.errors import DocumentError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ras_flow.documents import ReadReport, SourceDocument

Skip = Annotated[bool, typer.Option("--skip", help="Leave out documents that cannot be read.")]


def read_and_tell(
    docs: list[Path], *, skip: bool = False, empty_ok: bool = False
) -> Iterator[SourceDocument]:
    """Read documents, and say on standard error what is left out."""
    from ras_flow.documents import ReadReport, read_documents

    report = ReadReport()
    docs = [_absolute(path) for path in docs]
    for document in read_documents(docs, on_error="skip", empty_ok=empty_ok, report=report):
        _tell(report, skip)
        yield document
    _tell(report, skip)
    _tell_types(report.ignored)
    _tell_links(report.ignored, docs)
    if not report.documents and empty_ok:
        raise InputError(
            "There is no document at all here, so nothing is pruned: a disk that is not mounted "
            "looks like this. To empty the index, name its documents with `ras-flow index remove`."
        )
    if not report.documents:
        raise InputError("None of these documents can be read: there is nothing to answer from.")


def _absolute(path: Path) -> Path:
    """Return what a path is called wherever the command is run; ``..`` may be behind a link."""
    if not os.path.exists(path):
        return path  # What is said of it names it as it was typed.
    plain, place = os.path.abspath(path), os.path.realpath(path)
    return Path(plain if os.path.realpath(plain) == place else place)


def _tell(report: ReadReport, skip: bool) -> None:
    """Say once what is left out, or refuse to leave it out."""
    from ras_flow.formats.text import plain

    while report.gaps:
        typer.echo(f"left out: {plain(report.gaps.pop(0))}", err=True)
    while report.errors:
        error = report.errors.pop(0)
        if not skip:
            raise DocumentError(f"{error} Or leave out what cannot be read, with --skip.")
        typer.echo(f"left out: {plain(str(error))}", err=True)


def _tell_types(ignored: list[Path]) -> None:
    """Say which types of files are left out of folders; hidden files go without saying."""
    from ras_flow.formats.text import plain

    types = Counter(
        path.suffix.lower() or "without an ending"
        for path in ignored
        if not path.name.startswith(".") and os.path.isfile(path)
    )
    if types:
        counts = ", ".join(f"{plain(kind)} ({count})" for kind, count in sorted(types.items()))
        typer.echo(f"left out: files of types that are not read: {counts}", err=True)


def _tell_links(ignored: list[Path], docs: list[Path]) -> None:
    """Say which links are left out, but for those to folders that are read anyway."""
    from ras_flow.formats.text import plain

    read = tuple(os.path.join(os.path.realpath(path), "") for path in docs)
    links = [path for path in ignored if os.path.islink(path) and not path.name.startswith(".")]
    folders = [
        path
        for path in links
        if os.path.isdir(path) and not os.path.join(os.path.realpath(path), "").startswith(read)
    ]
    dead = [path for path in links if not os.path.exists(path)]
    if folders:
        typer.echo(
            f"left out: linked folders ({len(folders)}), such as {plain(str(folders[0]))}: a link "
            "is followed only where it is named itself",
            err=True,
        )
    if dead:
        typer.echo(
            f"left out: links that lead nowhere ({len(dead)}), such as {plain(str(dead[0]))}",
            err=True,
        )
