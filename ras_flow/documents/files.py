"""The files that an index's documents came from, by whatever name each was added."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ras_flow.documents.reading import READERS


def file_of(source: str) -> str:
    """Return a document's file: its source, without the line's number if it is a .jsonl file's."""
    file, _, number = source.rpartition("#")
    return file if number.isdecimal() and file.lower().endswith(".jsonl") else source


class IndexedFiles:
    """The files of an index's documents, and which of them were read again.

    A file is the same by whatever name it is reached; relative names are taken from the working
    folder.
    """

    def __init__(self, held: Mapping[str, str]) -> None:
        """Take the documents' content hashes by source."""
        self._held = held
        self._places: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for source in self._held:
            file = file_of(source)
            self._names.setdefault(self._place(file), file)
        self._given: set[str] = set()
        self._given_places: set[str] = set()
        self._given_hashes: set[str] = set()

    def add(self, source: str, content_hash: str = "") -> str:
        """Note that a document was read again."""
        file = file_of(source)
        self._given_hashes.add(content_hash)
        place = self._place(file)
        source = self._names.get(place, file) + source[len(file) :]
        self._given.add(source)
        self._given_places.add(place)
        return source

    def named(self, name: str) -> list[str]:
        """Return the documents that a name stands for: one, or all of a .jsonl file or a folder."""
        if name in self._held:
            return [name]
        file = file_of(name)
        place, line = self._place(file), name[len(file) :]
        inside = os.path.join(place, "")
        return [
            one
            for one in self._held
            if (self._place(file_of(one)) == place and one.endswith(line))
            or (_is_file(one) and _where(file_of(one)).startswith(inside))
        ]

    def outdated(self) -> Iterator[str]:
        """Yield documents that are no longer in their files, which were read again."""
        for source in self._held:
            if source not in self._given and self._place(file_of(source)) in self._given_places:
                yield source

    def gone(self, folders: Iterable[Path]) -> Iterator[str]:
        """Yield documents not read again whose files are gone from some folders, or were moved.

        A file was moved if its content was read again under another name.
        """
        above = tuple(os.path.join(os.path.realpath(one), "") for one in folders)
        for source in self.missing():
            inside = _where(file_of(source)).startswith(above)
            if inside or self._held[source] in self._given_hashes:
                yield source

    def missing(self) -> Iterator[str]:
        """Yield documents not read again whose files are gone, wherever they were."""
        for source in self._held:
            if source not in self._given and _is_file(source) and _is_gone(file_of(source)):
                yield source

    def _place(self, file: str) -> str:
        if file not in self._places:
            self._places[file] = os.path.realpath(file)
        return self._places[file]


def _is_file(source: str) -> bool:
    """Tell a file's name from what other programs may have chosen as a source."""
    file = file_of(source)
    return "://" not in file and Path(file).suffix.lower() in READERS


def gone_folder(file: str) -> str:
    """Return the highest folder above a file that is gone, or the file if its folder is there."""
    while _is_gone(above := os.path.dirname(file)):
        file = above
    return file


def _where(file: str) -> str:
    """Return the place of a file itself, which may be a link to one that is elsewhere."""
    return os.path.join(os.path.realpath(os.path.dirname(file)), os.path.basename(file))


def _is_gone(file: str) -> bool:
    """Tell whether a file is surely gone; one in a folder that is closed to us may be there."""
    try:
        os.stat(file)
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False
