"""The commands that clean and complete texts with triples, and measure the rules for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.parts import Extraction
from recipes.__main__ import app
from tests.recipes.triples.test_completing import mix as mix
from tests.training.triples.samples import Worker, write_rows


def sentence(text: str, *triples: list[str], title: str = "") -> dict[str, Any]:
    return {"text": text, "src": "s", "title": title, "triples": triples}


def run_cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_triples_are_completed_with_the_evidence_of_questions(
    mix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(lambda passage: Extraction([(passage["title"], "born in", "Oulu")]))

    async def get_extractor(*_: object) -> Worker:
        return worker

    monkeypatch.setattr("ras_flow.parts.chosen.Parts.get_extractor", get_extractor)
    out = tmp_path / "out.jsonl"
    done = run_cli("complete-triples", mix, "--out", out, "--most-words", "10")
    assert (done.exit_code, done.stdout) == (0, f"{out}: 2 of 2 passages\n")
    rows = {row["title"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert rows.keys() == {"Aino Laine", "Leda Koskinen"}
    assert rows["Aino Laine"]["src"] == "completed"
    assert rows["Aino Laine"]["triples"] == [
        ["Aino Laine", "born in", "Oulu"],
        ["Aino Laine", "died in", "Turku"],
    ]
    asked = len(worker.asked)
    run_cli("complete-triples", mix, "--out", out, "--most-words", "10")
    assert len(worker.asked) == asked == 2, "what was extracted is kept"
    none = run_cli("complete-triples", mix, "--out", out, "--extractor", "none")
    assert none.exit_code == 1


def test_each_rule_is_measured_on_kept_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"Ann {number}" for number in range(20)]
    rows = [sentence(f"{name} met Bo.", [name, "met", "Bo"], title=name) for name in names]
    write_rows(tmp_path / "texts.jsonl", rows)
    (tmp_path / "run.toml").write_text('[data]\nfiles = ["texts.jsonl"]\ntest = 0.5\n')
    worker = Worker(lambda _: Extraction([("She", "met", "Bo")], [], None, 1, 1))
    monkeypatch.setattr("recipes.__main__.trained_extractor", lambda *_, **__: (None, worker))
    command = ["measure-rules", tmp_path / "run.toml", tmp_path, "--data", tmp_path]
    told = run_cli(*command, "--keep", tmp_path / "kept")
    assert told.exit_code == 0, told.output
    rows_told = [line.split(" | ")[0] for line in told.stdout.splitlines()]
    assert {"| no rule", "| only: nothing", "| only: pronoun"} <= set(rows_told)
    asked = len(worker.asked)
    assert run_cli(*command, "--keep", tmp_path / "kept").stdout == told.stdout
    assert asked and len(worker.asked) == asked
