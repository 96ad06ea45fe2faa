"""Options of the commands that train and measure extractors, and complete their labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.cli.commands import app
from ras_flow.training.run import Progress


def run_cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text('[data]\nfiles = ["houses.jsonl"]\n')
    return path


@pytest.mark.parametrize(("options", "examples"), [([], None), (["--examples", "3"], 3)])
def test_training_takes_as_many_examples_as_are_asked_for(
    settings: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], examples: int | None
) -> None:
    given: dict[str, Any] = {}

    def train(*_: object, **options: Any) -> Progress:
        given.update(options)
        return Progress(True, 1, 1)

    monkeypatch.setattr("ras_flow.training.triples.training.train", train)
    done = run_cli("train", "triples", settings, "out", *options)
    assert (done.exit_code, done.stdout) == (0, "out\n")
    assert given["examples"] == examples


@pytest.mark.parametrize("option", ["--steps", "--examples"])
def test_less_than_one_is_no_number_of_steps_or_examples(settings: Path, option: str) -> None:
    refused = run_cli("train", "triples", settings, "out", option, "0")
    assert refused.exit_code == 2 and option in refused.stderr


@pytest.mark.parametrize(("options", "size"), [([], 16), (["--batch-size", "5"], 5)])
def test_measuring_decodes_as_many_texts_at_once_as_are_asked_for(
    settings: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], size: int
) -> None:
    given: dict[str, Any] = {}

    async def compare(*_: object, **options: Any) -> list[Any]:
        given.update(options)
        return []

    monkeypatch.setattr("ras_flow.training.triples.comparing.compare", compare)
    done = run_cli("train", "measure-triples", settings, "out", *options)
    assert done.exit_code == 0
    assert given["batch_size"] == size
