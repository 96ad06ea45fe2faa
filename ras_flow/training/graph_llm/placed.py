"""Records of data sets, each with its place: read, drawn, and checked against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.datasets.reading import read_json_lines
from ras_flow.errors import InputError
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.data.requests import as_request
from ras_flow.training.graph_llm.config import Task
from ras_flow.training.splits import Split, fraction

if TYPE_CHECKING:
    from ras_flow.graph_llm.prompt import PromptFormatter

MEASURED_SEED = 7
"""Draws the records that a model is watched by or measured on: the same for all training seeds."""


@dataclass(frozen=True)
class Placed:
    """A record and its place, file and line, for messages."""

    record: Record
    place: str


def read_split(folders: Iterable[Path], split: Split, *, task: Task = "both") -> list[Placed]:
    """Read a split of data sets."""
    found: list[Placed] = []
    for folder in folders if split == "train" else dict.fromkeys(folders):
        check_complete(folder)
        path = folder / f"{split}.jsonl"
        for number, value in read_json_lines(path):
            place = f"{path}:{number}"
            record = check_record(value, place)
            if record["split"] != split:
                raise InputError(
                    f"{place}: split: this record is for {record['split']}, in a file for {split}. "
                    "Build the data set again."
                )
            if task in ("both", record["task"]):
                found.append(Placed(record, place))
    return found


def check_complete(folder: Path) -> None:
    """Check that the build of a data set has ended, and was not killed."""
    if not (folder / "stats.json").exists():
        raise InputError(
            f"{folder} is not a complete data set: stats.json is missing. Start the build again; "
            "it keeps what it has done."
        )


def sample(records: Sequence[Placed], most: int, *, seed: int) -> list[Placed]:
    """Choose records, the same ones whatever else there is."""
    by_task: dict[str, int] = {}
    ranked: list[tuple[int, str, Placed]] = []
    drawn = sorted(records, key=lambda one: fraction(seed, "sample", one.record["id"]))
    for one in drawn:
        task = one.record["task"]
        by_task[task] = by_task.get(task, -1) + 1
        ranked.append((by_task[task], task, one))
    ranked.sort(key=lambda item: item[:2])
    return [one for _, _, one in ranked[:most]]


def check_together(records: Iterable[Placed]) -> None:
    """Check over all data sets that one input has one label, and one question one split."""
    check_labels({**one.record, "id": one.place} for one in records)


def check_questions(records: Iterable[Placed], formatter: PromptFormatter) -> None:
    """Check before training that each question fits into the window."""
    for one in records:
        record = one.record
        said = f"{record['question']} {record.get('instruction', '')}"
        # A token is at least a byte, and the fixed words take some.
        if len(said.encode("utf-8", "replace")) + 400 > formatter.config.window:
            try:
                formatter.prompt(replace(as_request(record), chain=[]))
            except InputError as error:
                raise InputError(f"{one.place}: question: {error}") from error
