"""Which checkpoint a run goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.training.checkpoints import last_checkpoint

FILES = ("optimizer.pt", "scheduler.pt", "rng_state.pth")


def write(folder: Path) -> Path:
    """Write a checkpoint."""
    folder.mkdir()
    (folder / "trained.safetensors").write_bytes(b"weights")
    for name in FILES:
        torch.save({}, folder / name)
    (folder / "trainer_state.json").write_text("{}")
    return folder


def test_the_newest_that_was_written_to_its_end_counts(tmp_path: Path) -> None:
    for name in ("checkpoint-9", "checkpoint-10", "checkpoint-9-copy"):
        write(tmp_path / name)
    (tmp_path / "checkpoint-12").mkdir()
    torn = write(tmp_path / "checkpoint-11")
    (torn / "trainer_state.json").write_text('{"global_st')
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["checkpoint-10", "checkpoint-9", "checkpoint-9-copy"]


def test_of_several_processes_the_first_alone_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkpoint-12").mkdir()
    for rank in ("1", "0"):
        monkeypatch.setenv("RANK", rank)
        assert last_checkpoint(tmp_path) is None
        assert (tmp_path / "checkpoint-12").exists() is (rank == "1")


@pytest.mark.parametrize("lost", ["trained.safetensors", *FILES])
def test_a_file_that_is_missing_is_told(tmp_path: Path, lost: str) -> None:
    write(tmp_path / "checkpoint-9")
    (write(tmp_path / "checkpoint-10") / lost).unlink()
    with pytest.raises(ConfigurationError, match="checkpoint-10 is damaged: .* is missing"):
        last_checkpoint(tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "checkpoint-3") / name
    whole = file.read_bytes()
    for content in (b"", whole[:-1], whole.replace(b"}", b"|", 1)):
        file.write_bytes(content)
        with pytest.raises(ConfigurationError, match=f"checkpoint-3 is damaged: {name}"):
            last_checkpoint(tmp_path)
