"""Files and folders to documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ras_flow.documents.csv_rows import read_csv
from ras_flow.documents.epub import read_epub
from ras_flow.documents.html import read_html
from ras_flow.documents.index_folders import is_generation, is_index, use_of
from ras_flow.documents.markdown import read_markdown
from ras_flow.documents.pdf import read_pdf
from ras_flow.documents.plain import read_jsonl, read_text
from ras_flow.documents.sheets import read_xlsx
from ras_flow.documents.slides import read_pptx
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.word import read_docx
from ras_flow.errors import DocumentError

Reader = Callable[[Path, str], Iterator[SourceDocument | DocumentError]]

READERS: dict[str, Reader] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".epub": read_epub,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
}


HIDDEN = (".", "~$")
"""How the names of files begin that are left out: hidden ones, and notes that one is open."""


@dataclass
class ReadReport:
    """What became of the files; filled while :func:`read_documents` is read.

    Attributes:
        documents: Number of documents read.
        ignored: Files in folders that are hidden or of an unknown type, and folders that are
            hidden, links or indexes.
        errors: What could not be read and was skipped.
        gaps: What of documents that were read is not in their text, such as scanned pages.
    """

    documents: int = 0
    ignored: list[Path] = field(default_factory=list)
    errors: list[DocumentError] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


def read_documents(
    paths: str | Path | Iterable[str | Path],
    *,
    on_error: Literal["raise", "skip"] = "raise",
    empty_ok: bool = False,
    report: ReadReport | None = None,
) -> Iterator[SourceDocument]:
    """Read documents from files and folders, one or several.

    Known types are the keys of ``READERS``; a .jsonl file has one document a line. Folders are
    walked in sorted order, without their hidden files, other types, linked folders and indexes. A
    file that is reached twice, by whatever names, is read once.
    """
    report = report if report is not None else ReadReport()
    seen: set[str] = set()
    for given in [paths] if isinstance(paths, str | Path) else paths:
        for file in _files_at(Path(given), report, empty_ok=empty_ok):
            for item in _read(file, seen):
                if isinstance(item, SourceDocument):
                    report.documents += 1
                    if item.gap:
                        report.gaps.append(item.gap)
                    yield item
                elif on_error == "raise":
                    raise item
                else:
                    report.errors.append(item)


def _files_at(path: Path, report: ReadReport, *, empty_ok: bool) -> list[Path | DocumentError]:
    """Return the files that a path given by the caller means."""
    if os.path.isdir(path):  # Unlike Path.is_dir, it raises nothing.
        files = _walk(path, report)
        if not files and is_index(path):
            raise DocumentError(f"{_name(path)} is {use_of(path)}. Name documents here.")
        if not files and not empty_ok:
            links = any(map(os.path.islink, report.ignored))
            more = " To have linked folders read, name them." if links else ""
            raise DocumentError(
                f"The folder {_name(path)} has no documents. Put files of these types into it: "
                f"{' '.join(READERS)}.{more}"
            )
        return files
    if not os.path.exists(path):
        raise DocumentError(
            f"There is no file or folder {_name(path)}, or it cannot be read: check the path."
        )
    if path.name.startswith("~$"):  # Office's note that a file is open, which `*.docx` names too.
        report.ignored.append(path)
        return []
    if path.suffix.lower() not in READERS:
        raise DocumentError(
            f"{_name(path)} has an unsupported type: convert it to one of {' '.join(READERS)}."
        )
    return [path]


def _walk(folder: Path, report: ReadReport) -> list[Path | DocumentError]:
    closed: list[OSError] = []
    found: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=closed.append):
        here = Path(parent)
        left_out = [
            name
            for name in folders
            if name.startswith(".") or os.path.islink(here / name) or is_generation(name)
        ]
        report.ignored.extend(here / name for name in sorted(left_out))
        folders[:] = sorted(set(folders) - set(left_out))
        for name in sorted(files):
            path = here / name
            # A file that is listed but not found cannot be looked at: reading it will say why.
            is_file = os.path.isfile(path) or not os.path.lexists(path)
            if not name.startswith(HIDDEN) and path.suffix.lower() in READERS and is_file:
                found.append(path)
            else:
                report.ignored.append(path)
    return [*map(_unreadable, closed), *found]


def _name(path: Path) -> str:
    """Return a path as text that can be stored and shown: file names need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _unreadable(error: OSError) -> DocumentError:
    return DocumentError(
        f"Cannot read the folder {_name(Path(error.filename))} ({error.strerror}): check its "
        "permissions."
    )


def _read(path: Path | DocumentError, seen: set[str]) -> Iterator[SourceDocument | DocumentError]:
    if isinstance(path, DocumentError):
        yield path
        return
    place = os.path.realpath(path)
    if place in seen:
        return
    seen.add(place)
    source = _name(path)
    try:
        yield from READERS[path.suffix.lower()](path, source)
    except DocumentError as error:
        yield error
    except OSError as error:
        yield DocumentError(
            f"Cannot read {source} ({error.strerror or error}): check the file and its permissions."
        )
