"""Rows of published files, with errors that name file, line and field."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, cast
from zlib import error as ZlibError

from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.text import scrub

_UNREADABLE = (OSError, EOFError, ZlibError)
"""Errors of files that are missing, closed to us, or damaged gzip archives."""


class Row:
    """One object of a file."""

    def __init__(self, value: Any, where: str) -> None:
        self.where = where
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, this is a {type(value).__name__}.")
        self.value: dict[str, Any] = value

    def fail(self, field: str, problem: str) -> NoReturn:
        """Raise an error that names the field."""
        raise InputError(f"{self.where}:{field}: {problem}.")

    def has(self, *fields: str) -> bool:
        """Tell whether all fields are there and not null."""
        return all(self.value.get(field) is not None for field in fields)

    def text(self, field: str) -> str:
        """Return a text that is not empty, stripped and fit to store; numbers are written out."""
        value = self.value.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            self.fail(field, f"expected a text, this is {_kind(value)}")
        return scrub(value.strip())

    def first_text(self, *fields: str) -> str:
        """Return the text of the first field that is there."""
        return self.text(next((field for field in fields if self.has(field)), fields[0]))

    def flag(self, field: str) -> bool:
        """Return true or false."""
        value = self.value.get(field)
        if not isinstance(value, bool):
            self.fail(field, f"expected true or false, this is {_kind(value)}")
        return value

    def items(self, field: str) -> list[Any]:
        """Return a list."""
        value = self.value.get(field)
        if not isinstance(value, list):
            self.fail(field, f"expected a list, this is {_kind(value)}")
        return value

    def texts(self, field: str) -> list[str]:
        """Return a list of texts, each as :meth:`text` gives it, also empty ones."""
        values = self.items(field)
        for at, value in enumerate(values):
            if not isinstance(value, str):
                self.fail(f"{field}[{at}]", "expected a text")
        return [scrub(value.strip()) for value in values]

    def rows(self, field: str) -> list[Row]:
        """Return a list of objects."""
        return [
            Row(value, f"{self.where}:{field}[{at}]") for at, value in enumerate(self.items(field))
        ]

    def pairs(self, field: str) -> list[tuple[str, Any]]:
        """Return a list of [text, anything] pairs, as HotpotQA writes contexts and support."""
        found = []
        for at, value in enumerate(self.items(field)):
            match value:
                case [str(name), thing]:
                    found.append((scrub(name.strip()), thing))
                case _:
                    self.fail(f"{field}[{at}]", "expected a pair that starts with a text")
        return found

    def triples(self, field: str) -> list[tuple[str, str, str]]:
        """Return triples whose fields show something; others are left out."""
        found: list[tuple[str, str, str]] = []
        for at, value in enumerate(self.items(field)):
            match value:
                case [str(s), str(p), str(o)]:
                    if all(map(normalize_name, (s, p, o))):
                        found.append((s.strip(), p.strip(), o.strip()))
                case _:
                    self.fail(f"{field}[{at}]", "expected [subject, predicate, object]")
        return list(dict.fromkeys(found))


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file's objects: JSON lines, a JSON list, or CSV, plain or gzipped."""
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        yield from _read_csv(path, "\t" if name.endswith(".tsv") else ",")
    elif _is_named_json(path) and _beginning(path).startswith("["):
        for number, value in enumerate(read_json(path), start=1):
            yield Row(value, f"{path}:item {number}")
    else:
        for number, value in read_json_lines(path):
            yield Row(value, f"{path}:{number}")


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Read JSON lines, plain or gzipped."""
    first = True
    filled = ((number, line.rstrip("\n")) for number, line in _lines(path) if line.strip())
    for number, line in filled:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            if first and getattr(error, "pos", 0) >= len(line):
                _refuse_one_value(path)
            raise InputError(f"{path}:{number}: this line is not JSON ({error}).") from error
        if first and isinstance(value, list):
            _refuse_one_value(path)
        first = False
        yield number, value


def _refuse_one_value(path: Path) -> None:
    """Say so if a file is one JSON value instead of JSON lines."""
    try:
        value = read_json(path)
    except InputError:
        return
    kind = "list" if isinstance(value, list) else "object"
    name = "" if _is_named_json(path) else "name it .json, or "
    raise InputError(
        f"{path}: this file is one JSON {kind}, not JSON lines: {name}write one object per line."
    )


def read_json(path: Path) -> Any:
    """Read a file that is one JSON value."""
    text = "".join(line for _, line in _lines(path))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{path}:{line}: the file is not JSON ({error}).") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read all lines of a text file with their ends and numbers."""
    number = 0
    try:
        with _open_text(path) as file:
            for number, line in enumerate(file, start=1):
                line.encode()
                yield number, line
    except UnicodeEncodeError as error:
        byte = ord(error.object[error.start]) - 0xDC00
        raise InputError(
            f"{path}:{number}: the byte 0x{byte:02x} in this line is not UTF-8. Save the file as "
            "UTF-8."
        ) from error
    except _UNREADABLE as error:
        at = f"{path}:{number + 1}" if number else f"{path}"
        raise InputError(f"{at} cannot be read: {error}.") from error


def _open_text(path: Path) -> io.TextIOBase:
    """Open a UTF-8 text file, with or without a byte order mark, gzipped if its name ends in .gz.

    Bytes that are not UTF-8 become half characters, as nothing else does. A decoding error would
    not tell the line: files are decoded many lines at once.
    """
    if path.suffix == ".gz":
        file = gzip.open(path, "rt", encoding="utf-8-sig", errors="surrogateescape")
        return cast("io.TextIOBase", file)
    return path.open(encoding="utf-8-sig", errors="surrogateescape")


def _beginning(path: Path) -> str:
    """Return the first characters of a file, which are there even if the rest is damaged."""
    try:
        with _open_text(path) as file:
            return file.read(64).lstrip()
    except _UNREADABLE as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def is_one_object(path: Path) -> bool:
    """Tell a file that is one JSON object from JSON lines and lists, by its name and beginning."""
    return _is_named_json(path) and not _beginning(path).startswith("[")


def _is_named_json(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".json")


def _read_csv(path: Path, delimiter: str) -> Iterator[Row]:
    # Some files hold whole articles, beyond the limit that Python sets.
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader((line for _, line in _lines(path)), delimiter=delimiter)
    try:
        for value in reader:
            yield Row(value, f"{path}:{reader.line_num}")
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num} cannot be read: {error}.") from error


def _kind(value: Any) -> str:
    """Say what stands in a field where something else was expected."""
    if value is None:
        return "missing"
    return "empty" if isinstance(value, str) and not value.strip() else type(value).__name__
