"""Where a data set may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.training.data.writer import check_folder, own_set


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
