"""The commands that clean and complete texts with triples, and measure the rules for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.parts import Extraction
from recipes.__main__ import app
from tests.cli.command import recipe
from tests.cli.model import Model
from tests.graph.world import DOCUMENTS
from tests.recipes.triples.test_completing import corpus as corpus
from tests.recipes.triples.test_completing import questions as questions
from tests.training.triples.samples import Worker, fact_rows, write_rows


def sentence(text: str, *triples: list[str], title: str = "") -> dict[str, Any]:
    return {"text": text, "src": "s", "title": title, "triples": triples}


def run_cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_triples_are_completed_with_the_evidence_of_questions(model: Model, tmp_path: Path) -> None:
    corpus, questions, out = (tmp_path / f"{name}.jsonl" for name in ("corpus", "asked", "out"))
    corpus.write_text("".join(f"{json.dumps(document)}\n" for document in DOCUMENTS))
    evidence = [["Mira Lund", "place of birth", "Narvik"], ["Mira Lund", "sex", "She"]]
    questions.write_text(json.dumps({"support": [["Mira Lund", 0]], "triples": evidence}))
    settings = ["--extractor", "openai:test", "--base-url", model.server.url, "--out", str(out)]
    done = recipe("complete-triples", str(corpus), str(questions), *settings)
    assert (done.code, done.out) == (0, f"{out}: 1 of 1 passages\n")
    row = json.loads(out.read_text())
    assert (row["src"], row["title"]) == ("completed", "Mira Lund")
    assert row["triples"] == [
        ["MIRA LUND", "occupation", "engineer"],
        ["Mira Lund", "place of birth", "Narvik"],
        ["Mira Lund", "sex", "She"],
    ]
    recipe("complete-triples", str(corpus), str(questions), *settings)
    assert model.count("extractor") == 1, "what was extracted is kept"
    none = recipe("complete-triples", str(corpus), str(questions), "--out", str(out),
                    "--extractor", "none")  # fmt: skip
    assert none.code == 1 and "makes no triples" in none.err


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
    done = run_cli("complete-triples", corpus, questions, "--out", "out.jsonl", *options)
    assert (done.exit_code, done.stdout) == (0, f"out.jsonl: {len(left)} of {len(left)} passages\n")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["title"] for row in rows] == left
    assert len(worker.asked) == len(left), "what is held out is not even extracted"


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
