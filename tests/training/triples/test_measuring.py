"""Figures of extractors whose outputs are known, and the comparison on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner, Result

from ras_flow.cli.commands import app
from ras_flow.datasets.facts import read_facts
from ras_flow.formats.triples import Spo
from ras_flow.parts import Extraction
from ras_flow.support.calls import CallCache
from ras_flow.training.triples.comparing import figures
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import extract_raw, passages_of
from tests.llms.tiny import save_tiny_model
from tests.training.triples.samples import Worker, fact_rows, rows, write_rows


def knowing(known: dict[str, list[Spo]]) -> Worker:
    """Know some passages' triples by heart."""
    return Worker(lambda passage: Extraction(known.get(passage["text"], []), output_tokens=3))


FACTS: list[Spo] = [("Ann", "met", "Bo"), ("Ann", "born in", "Oslo")]


async def test_measures(tmp_path: Path) -> None:
    examples = [Example(str(i), "s", "", f"Text {i}", tuple(FACTS)) for i in range(2)]
    facts = read_facts(write_rows(tmp_path / "f.jsonl", fact_rows()))
    film, person = (fact.passage["text"] for fact in facts)
    good = knowing(
        {
            "Text 0": FACTS,
            "Text 1": FACTS[:1],
            film: [("Salt Road", "directed by", "Aino Laine")],
            person: [("Aino Laine", "from", "Oulu")],
        }
    )
    weak = knowing({"Text 0": [("She", "met", "Bo")], film: [("Salt Road", "by", "Aino Laine")]})
    passages = passages_of(examples, facts)
    trained, base = [
        figures(name, await extract_raw(known, passages, CallCache(None)), examples, facts)
        for name, known in (("t", good), ("b", weak))
    ]
    assert trained["sources"]["all"]["normalised_recall"] == 0.75
    shares = ("unparsable", "fact_recall", "pronoun_subjects")
    assert [trained[name] for name in shares] == [0, 1, 0]
    assert [base[name] for name in shares] == [0.5, 0.5, 0.5]
    assert trained["output_tokens"] == 12


def run_cli(arguments: list[str]) -> Result:
    return CliRunner().invoke(app, arguments)


def test_train_and_measure_on_the_command_line(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "model", window=1500)
    write_rows(tmp_path / "houses.jsonl", rows())
    write_rows(tmp_path / "2wiki.jsonl", fact_rows())
    (tmp_path / "run.toml").write_text(
        f"""
        [data]
        files = ["houses.jsonl"]
        facts = ["2wiki.jsonl"]
        test = 0.3
        [model]
        name = "{tmp_path / "model"}"
        [optimizer]
        batch_size = 4
        [lengths]
        target = 128
        """
    )
    out = tmp_path / "out"
    command = ["train", "triples", str(tmp_path / "run.toml"), str(out), "--data", str(tmp_path)]
    first = run_cli([*command, "--steps", "2", "--minutes", "0"])
    assert first.exit_code == 75 and "stopped at step 1 of 2" in first.output
    second = run_cli([*command, "--steps", "2"])
    assert second.exit_code == 0 and "going on from checkpoint-1" in second.output
    config, kept = str(tmp_path / "run.toml"), tmp_path / "kept"
    command = ["train", "measure-triples", config, str(out), "--data", str(tmp_path)]
    command += ["--most", "3", "--most-base", "2", "--keep", str(kept)]
    measured = run_cli(command)
    assert measured.exit_code == 0, measured.output
    assert re.search(r"of \d+ answer-bearing facts found", measured.output)
    metrics = json.loads((out / "metrics.json").read_text())
    assert [figures["sources"]["all"]["texts"] for figures in metrics] == [3, 3, 2, 2]
    assert "with an example" in (out / "README.md").read_text()

    assert run_cli(command).exit_code == 0
    assert json.loads((out / "metrics.json").read_text()) == metrics
