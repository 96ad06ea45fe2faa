"""Where a data set may be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.training.data.records import Record
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import check_folder, own_set, write_set
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.splits import Split
from tests.training.data.test_records import PLAN


def test_nothing_but_a_data_set_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for name in (".", "notes.txt", "notes.txt/out"):
        with pytest.raises(InputError):
            check_folder(tmp_path / name)
    out = tmp_path / "out"
    check_folder(out)
    out.mkdir()
    check_folder(out)
    # What a build that was killed leaves.
    (out / "README.md").touch()
    (out / "train.jsonl.lock").touch()
    check_folder(out)


def test_a_set_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    with own_set(tmp_path / "out"), pytest.raises(ConfigurationError, match="Another build"):
        own_set(tmp_path / "out").__enter__()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"question": "Who else?"}, InputError),  # Two of one id.
        ({"id": " ", "question": "Who else?"}, InputError),
        (None, KeyError),
    ],
)
def test_a_set_is_written_whole_or_stays_as_it_was(
    tmp_path: Path, changes: dict[str, Any] | None, error: type[Exception]
) -> None:
    broken = False

    def records(split: Split) -> Iterator[Record]:
        if split == "train":
            yield PLAN
        if broken:
            if changes is None:
                raise KeyError
            yield {**PLAN, **changes}  # type: ignore[typeddict-item]

    write_set(tmp_path, records, Stats(), inputs=[], settings={})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert read_split([tmp_path], "train") == [PLAN]
    broken = True
    with pytest.raises(error):
        write_set(tmp_path, records, Stats(), inputs=[], settings={})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
