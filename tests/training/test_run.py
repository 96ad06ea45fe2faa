"""A training run's folder: what is said where it cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors import SafetensorError

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.training.run import claim, finish, own_run, train_on


def system(_: Path) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def safetensors(_: Path) -> None:
    raise SafetensorError("Error while serializing: I/O error: File too large (os error 27)")


def torchs(_: Path) -> None:
    raise RuntimeError("basic_ios::clear: iostream error")


@pytest.mark.parametrize("write", [system, safetensors, torchs])
def test_a_full_disk_says_that_training_goes_on(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    run = tmp_path / "out.run"
    (run / "checkpoint-4").mkdir(parents=True)
    with pytest.raises(InputError, match=r"Free some space there, and give the same command again"):
        finish(run, tmp_path / "out", write)
    args = SimpleNamespace(output_dir=str(run))
    trainer = SimpleNamespace(args=args, train=lambda **_: write(run))
    with pytest.raises(InputError, match=str(run)):
        train_on(trainer, None)
    assert (run / "checkpoint-4").is_dir() and not (tmp_path / "out").exists()


def test_other_errors_are_told_as_they_are(tmp_path: Path) -> None:
    def wrong(_: Path) -> None:
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        finish(tmp_path / "out.run", tmp_path / "out", wrong)


def test_a_link_to_nothing_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="out is there already"), own_run(tmp_path / "out"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("content", ['{"optimizer": {"batch', "[]", "{}", '{"optimizer": 3}'])
def test_damaged_settings_of_a_run_are_named(tmp_path: Path, content: str) -> None:
    record = {"optimizer": {"batch_size": 2, "accumulation": 4}}
    assert claim(tmp_path, record, {}) == 1
    (tmp_path / "settings.json").write_text(content)
    said = rf"{tmp_path}/settings.json is damaged .*remove {tmp_path} with its checkpoints"
    with pytest.raises(ConfigurationError, match=said):
        claim(tmp_path, record, {})
