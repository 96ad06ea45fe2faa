"""Options of the commands that train and measure extractors, and complete their labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.cli.commands import app
from ras_flow.parts import Extraction
from ras_flow.training.run import Progress
from tests.training.triples.samples import Worker, fact_rows, write_rows
from tests.training.triples.test_completing import corpus as corpus
from tests.training.triples.test_completing import questions as questions


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
@pytest.mark.parametrize("number", ["0", "-5"])
def test_less_than_one_is_no_number_of_steps_or_examples(
    settings: Path, option: str, number: str
) -> None:
    refused = run_cli("train", "triples", settings, "out", option, number)
    assert refused.exit_code == 2 and option in refused.stderr


@pytest.mark.parametrize(("options", "size"), [([], 16), (["--batch-size", "5"], 5)])
def test_measuring_decodes_as_many_texts_at_once_as_are_asked_for(
    settings: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], size: int
) -> None:
    given: dict[str, Any] = {}

    async def compare(*_: object, **options: Any) -> tuple[list[Any], list[Any]]:
        given.update(options)
        return [], []

    monkeypatch.setattr("ras_flow.training.triples.comparing.compare", compare)
    done = run_cli("train", "measure-triples", settings, "out", *options)
    assert done.exit_code == 0 and "aims" in done.stdout
    assert given["batch_size"] == size


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ([], ["Salt Road (film)", "Aino Laine", "Leda Koskinen"]),
        (["--held-out", "film.jsonl"], ["Aino Laine", "Leda Koskinen"]),
        (["--held-out", "film.jsonl", "--held-out", "leda.jsonl"], ["Aino Laine"]),
        (["--held-out-if", "measured"], ["Salt Road (film)", "Aino Laine"]),
        (["--most-words", "10"], ["Aino Laine", "Leda Koskinen"]),
    ],
)
def test_labels_are_completed_for_what_is_not_held_out(
    corpus: Path,
    questions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    left: list[str],
) -> None:
    for name, title in (("film", "Salt Road (film)"), ("leda", "Leda Koskinen")):
        kept = {**fact_rows()[0], "docs": [{"title": title, "sents": []}]}
        write_rows(tmp_path / f"{name}.jsonl", [kept])
    worker = Worker(lambda _: Extraction([], [], None, 1, 1))

    async def get_extractor(*_: object) -> Worker:
        return worker

    monkeypatch.setattr("ras_flow.parts.chosen.Parts.get_extractor", get_extractor)
    monkeypatch.chdir(tmp_path)
    done = run_cli("data", "complete-triples", corpus, questions, "--out", "out.jsonl", *options)
    assert (done.exit_code, done.stdout) == (0, f"out.jsonl: {len(left)} of {len(left)} passages\n")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["title"] for row in rows] == left
    assert len(worker.asked) == len(left), "what is held out is not even extracted"
