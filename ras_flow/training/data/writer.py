"""Records to the files of a data set, each complete or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import IO, Any, Self

from ras_flow.errors import InputError
from ras_flow.support.files import writing
from ras_flow.support.paths import short_names
from ras_flow.training.data.labels import check_labels, keep_first, leave_out_unaskable
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.data.stats import Stats, checksum, write_card
from ras_flow.training.lock import hold
from ras_flow.training.splits import SPLITS, Split

_OURS = ("train.jsonl", "stats.json", "calls.jsonl")
"""What a folder of a data set has, be it complete or not, and how its other files begin."""


def check_folder(folder: Path) -> None:
    """Check before any work that a data set can be written to a folder."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error}. Name another.") from error
    if names and not any(name.startswith(_OURS) for name in names):
        raise InputError(f"{folder} holds something else than a data set. Name an empty folder.")


def own_set(folder: Path) -> AbstractContextManager[None]:
    """Have the folder of a data set to oneself, until the set is written."""
    return hold(folder / "train.jsonl")


class RecordWriter:
    """Writes records into ``<path>.part``, which becomes ``path`` when all are written.

    As a context manager: leaving it by an error leaves ``path`` as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ids: set[str] = set()
        self._part = path.with_name(path.name + ".part")
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Open the ``.part`` anew: an earlier attempt's settings may have been others."""
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("wb")
        return self

    def write(self, record: Record) -> None:
        """Append a record."""
        if self._file is None:
            raise InputError(f"The writer of {self.path} is closed: use it in a with statement.")
        check_record(record, record["id"])
        if record["id"] in self._ids:
            raise InputError(
                f"{record['id']}: two records have this id. Give each question of a source an id "
                "of its own."
            )
        line = json.dumps(record, ensure_ascii=False)
        with writing(self.path):
            self._file.write(line.encode("utf-8", "replace") + b"\n")
        self._ids.add(record["id"])

    def flush(self) -> None:
        """Bring what was written to the disk, so that only the name is left to change."""
        if self._file is not None:
            with writing(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the file in its place, unless there was an error."""
        try:
            if kind is None:
                self.flush()
                with writing(self.path):
                    os.replace(self._part, self.path)
        finally:
            if self._file is not None:
                # A full disk refuses the rest of the buffer here once more.
                with suppress(OSError):
                    self._file.close()
            self._file = None
            self._part.unlink(missing_ok=True)


def write_set(
    folder: Path,
    records: Callable[[Split], Iterable[Record]],
    stats: Stats,
    *,
    inputs: Iterable[Path],
    settings: Mapping[str, Any],
) -> Stats:
    """Write a data set, and check its files against each other."""
    files = [folder / f"{split}.jsonl" for split in SPLITS]
    with ExitStack() as stack:
        writers = [stack.enter_context(RecordWriter(path)) for path in files]

        def written() -> Iterator[Record]:
            for split, writer in zip(SPLITS, writers, strict=True):
                asked = leave_out_unaskable(records(split), stats.dropped)
                for record in keep_first(asked, stats.dropped):
                    writer.write(record)
                    stats.add(record)
                    yield record

        check_labels(written())
        for writer in writers:
            writer.flush()
        names = short_names(inputs)
        stats.checksums = {name: checksum(path) for path, name in names.items()}
        stats.settings |= settings
        # From here on nothing is left to fail but the disk, and no set is taken for whole.
        with writing(folder):
            (folder / "stats.json").unlink(missing_ok=True)
    with writing(folder):
        write_card(folder, stats)
    return stats
