"""Which checkpoint a run goes on from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.training.checkpoints import last_checkpoint

STATE = {"global_step": 3, "max_steps": 4, "log_history": []}
FILES = ("optimizer.pt", "scheduler.pt", "rng_state.pth")
OF_TWO = ("optimizer.pt", "scheduler.pt", "rng_state_0.pth", "rng_state_1.pth")


def write(folder: Path, *, files: tuple[str, ...] = FILES, state: object = STATE) -> Path:
    """Write a checkpoint."""
    folder.mkdir()
    (folder / "trained.safetensors").write_bytes(b"weights")
    for name in files:
        torch.save({}, folder / name)
    (folder / "trainer_state.json").write_text(json.dumps(state))
    return folder


def test_copies_of_checkpoints_are_not_gone_on_from(tmp_path: Path) -> None:
    for name in ("checkpoint-9", "checkpoint-10", "checkpoint-9-good"):
        write(tmp_path / name)
    for name in ("checkpoint-12", "checkpoint-best"):
        (tmp_path / name).mkdir()
    torn = write(tmp_path / "checkpoint-11")
    (torn / "trainer_state.json").write_text('{"global_st')
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["checkpoint-10", "checkpoint-9", "checkpoint-9-good", "checkpoint-best"]


@pytest.mark.parametrize("lost", ["trained.safetensors", *FILES])
def test_what_lacks_a_file_is_not_gone_on_from(tmp_path: Path, lost: str) -> None:
    first, second, third = (write(tmp_path / f"checkpoint-{step}") for step in (8, 9, 10))
    for folder in (first, third):
        (folder / lost).unlink()
    assert last_checkpoint(tmp_path) == second
    # Its weights may be the best ones, to be loaded at the end.
    assert first.is_dir() and not third.is_dir()
    (second / lost).unlink()
    said = f"{second} has no {lost.replace('trained', '.*')}, and no checkpoint before is whole"
    with pytest.raises(ConfigurationError, match=said):
        last_checkpoint(tmp_path)
    assert second.is_dir()


@pytest.mark.parametrize("state", [{}, [], STATE | {"max_steps": None}, STATE | {"log_history": 1}])
def test_a_state_that_is_none_is_damaged(tmp_path: Path, state: object) -> None:
    write(tmp_path / "checkpoint-3", state=state)
    said = "checkpoint-3/trainer_state.json is damaged, and no checkpoint before"
    with pytest.raises(ConfigurationError, match=said):
        last_checkpoint(tmp_path)
    whole = write(tmp_path / "checkpoint-2")
    assert last_checkpoint(tmp_path) == whole


@pytest.mark.parametrize(
    ("files", "begun", "now", "lost"),
    [
        (OF_TWO, 2, 2, ""),
        (OF_TWO, 2, 1, ""),
        (OF_TWO, 2, 4, ""),
        (OF_TWO, 1, 2, ""),
        (FILES, 1, 2, ""),
        (OF_TWO[:3], 2, 2, "rng_state_1.pth"),
        (OF_TWO[:3], 1, 1, "rng_state_1.pth"),
        (OF_TWO, 3, 3, "rng_state_2.pth"),
        (OF_TWO[:2], 2, 2, "rng_state.pth"),
    ],
)
def test_each_process_has_random_numbers_of_its_own(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[str, ...],
    begun: int,
    now: int,
    lost: str,
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(now))
    folder = write(tmp_path / "checkpoint-3", files=files)
    if not lost:
        assert last_checkpoint(tmp_path, begun) == folder
        return
    with pytest.raises(ConfigurationError, match=f"checkpoint-3 has no {lost}"):
        last_checkpoint(tmp_path, begun)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "checkpoint-3") / name
    packed = file.read_bytes()
    flipped = packed.replace(b"}", b"|", 1)
    for content in (b"", packed[: len(packed) // 2], packed[:-1], flipped):
        file.write_bytes(content)
        with pytest.raises(ConfigurationError, match=f"{file} cannot be read .*Remove that check"):
            last_checkpoint(tmp_path)
