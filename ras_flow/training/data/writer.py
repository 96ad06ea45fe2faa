"""Records to a file: complete or not there, and taken up again where a kill broke it off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Self

from ras_flow.errors import InputError
from ras_flow.training.data.records import Record, check_record


class RecordWriter:
    """Writes records into ``<path>.part``, which becomes ``path`` when all are written.

    As a context manager: leaving it by an error keeps the ``.part``; the next writer of the same
    path goes on behind its last whole line and writes no id twice.

    Args:
        path: The file to write; one that is there is replaced at the end.

    Attributes:
        ids: Ids of the records written so far, those of an earlier attempt among them.

    Raises:
        InputError: The folder cannot be written to, or the ``.part`` holds something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ids: set[str] = set()
        self._part = path.with_name(path.name + ".part")
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Open the ``.part`` and read what an earlier attempt left in it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = self._take_up()
            self._file = self._part.open("ab")
            self._file.truncate(whole)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error}.") from error
        return self

    def write(self, record: Record) -> bool:
        """Append a record.

        Args:
            record: It is checked as if it were read.

        Returns:
            Whether it was written; False for an id that is there already.

        Raises:
            InputError: It is no valid record.
        """
        if self._file is None:
            raise InputError(f"The writer of {self.path} is closed: use it in a with statement.")
        if record["id"] in self.ids:
            return False
        check_record(record, record["id"])
        line = json.dumps(record, ensure_ascii=False)
        # One write for each line: a kill leaves at most one torn line, at the end.
        self._file.write(line.encode("utf-8", "replace") + b"\n")
        self.ids.add(record["id"])
        return True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the file in its place, unless there was an error."""
        if self._file is None:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        if kind is None:
            os.replace(self._part, self.path)

    def _take_up(self) -> int:
        """Return the length of the whole lines of an earlier attempt, and note their ids."""
        if not self._part.exists():
            return 0
        kept = self._part.read_bytes()
        kept = kept[: kept.rfind(b"\n") + 1]
        for number, line in enumerate(kept.splitlines(), start=1):
            try:
                value = json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"{self._part}:{number}: this is no JSON ({error}). Remove the file to start "
                    "anew."
                ) from error
            self.ids.add(check_record(value, f"{self._part.name}:{number}")["id"])
        return len(kept)
