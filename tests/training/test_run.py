"""A training run's folder: one training at a time, with the same settings and data."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.training.run import claim, finish, own_run
from ras_flow.training.settings import OptimizerSettings, TrainingSettings

ROWS = {"train": [1, 2], "dev": [3]}


def settings(**optimizer: float) -> TrainingSettings:
    made = OptimizerSettings(batch_size=2, accumulation=4).override(optimizer)
    return TrainingSettings(optimizer=made)


def test_one_training_at_a_time_writes_to_a_folder(tmp_path: Path) -> None:
    with own_run(tmp_path / "out") as run:
        with pytest.raises(ConfigurationError, match="Another training"), own_run(tmp_path / "out"):
            pass
        finish(run, tmp_path / "out", lambda folder: folder.mkdir())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for taken in (tmp_path, tmp_path / "link", Path("/")):
        with pytest.raises(ConfigurationError, match="exists already"), own_run(taken):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_speed_and_memory_may_change_in_a_run_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(tmp_path, settings(), ROWS, base={"width": 4})
    claim(tmp_path, settings(batch_size=1, accumulation=8), ROWS, base={"width": 4})
    monkeypatch.setenv("WORLD_SIZE", "2")
    claim(tmp_path, settings(accumulation=2), ROWS, base={"width": 4})
    with pytest.raises(ConfigurationError, match="examples of a step was 8 and is 16"):
        claim(tmp_path, settings(), ROWS, base={"width": 4})
    monkeypatch.setenv("WORLD_SIZE", "1")
    with pytest.raises(ConfigurationError, match=r"optimizer.clip was 1.0 and is 9"):
        claim(tmp_path, settings(clip=9), ROWS, base={"width": 4})
    with pytest.raises(ConfigurationError, match=r"base.width was 4 and is 5"):
        claim(tmp_path, settings(), ROWS, base={"width": 5})
    with pytest.raises(ConfigurationError, match=r"records.dev was .*The data has changed"):
        claim(tmp_path, settings(), ROWS | {"dev": [4]}, base={"width": 4})


def test_damaged_settings_of_a_run_are_named(tmp_path: Path) -> None:
    claim(tmp_path, settings(), {})
    (tmp_path / "settings.json").write_text('{"optimizer": {"batch')
    with pytest.raises(ConfigurationError, match="settings.json is damaged"):
        claim(tmp_path, settings(), {})
