"""Records to the files of a data set, each complete or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from ras_flow.errors import InputError
from ras_flow.support.files import checksum, whole_file, writing
from ras_flow.training.data.labels import check_labels, keep_first, leave_out_unaskable
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.data.stats import Stats, write_card
from ras_flow.training.lock import writer_lock
from ras_flow.training.splits import SPLITS, Split

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_OURS = ("train.jsonl", "stats.json", "store.sqlite")
"""What a folder of a data set has, be it complete or not, and how its other files begin."""


def check_folder(folder: Path, ours: tuple[str, ...] = _OURS) -> None:
    """Check before any work that a data set can be written to a folder."""
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error}. Name another.") from error
    if names and not any(name.startswith(ours) for name in names):
        raise InputError(f"{folder} holds something else than a data set. Name an empty folder.")


def own_set(folder: Path) -> AbstractContextManager[None]:
    """Lock the folder of a data set until the set is written."""
    return writer_lock(folder / "train.jsonl")


def write_set(
    folder: Path,
    records: Callable[[Split], Iterable[Record]],
    stats: Stats,
    *,
    inputs: Iterable[Path],
    settings: Mapping[str, Any],
) -> Stats:
    """Write a data set, and check its files against each other."""
    with writing(folder), ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        files = [stack.enter_context(whole_file(folder / f"{split}.jsonl")) for split in SPLITS]

        def written() -> Iterator[Record]:
            for split, file in zip(SPLITS, files, strict=True):
                ids: set[str] = set()
                asked = leave_out_unaskable(records(split), stats.dropped)
                for record in keep_first(asked, stats.dropped):
                    file.write(_line(record, ids))
                    stats.add(record)
                    yield record

        check_labels(written())
        for file in files:
            file.flush()
        stats.checksums = {name: checksum(path) for path, name in short_names(inputs).items()}
        stats.settings |= settings
        # Without it, a set whose files are not all replaced does not count as complete.
        (folder / "stats.json").unlink(missing_ok=True)
    with writing(folder):
        write_card(folder, stats)
    return stats


def short_names(paths: Iterable[Path]) -> dict[Path, str]:
    """Return for each path its last part, with as many before it as tell it from the others."""
    known = dict.fromkeys(paths)

    def name(path: Path) -> str:
        for count in range(1, len(path.parts)):
            last = path.parts[-count:]
            if [other.parts[-count:] for other in known].count(last) == 1:
                return "/".join(last)
        return str(path)

    return {path: name(path) for path in known}


def _line(record: Record, ids: set[str]) -> str:
    check_record(record, record["id"])
    if record["id"] in ids:
        raise InputError(
            f"{record['id']}: two records have this id. Give each question of a source its own id."
        )
    ids.add(record["id"])
    return json.dumps(record, ensure_ascii=False) + "\n"
