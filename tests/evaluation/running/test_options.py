"""`ras-flow eval`: asking again what failed, and comparing one benchmark, or in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.cli.commands import app
from ras_flow.errors import InputError, RunError
from tests.evaluation.running.small import QUESTIONS, World

SETTINGS = """
[settings]
top_k = 2
[benchmarks.bridges]
format = "jsonl"
path = "bridges.jsonl"
[benchmarks.towns]
format = "jsonl"
path = "towns.jsonl"
[systems.ras]
[systems.ras_no_retrieval]
"""


def run_cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, arguments)], catch_exceptions=False)


def evaluate(folder: Path, world: World, *options: str) -> list[dict[str, Any]]:
    """Run the evaluation of a folder with scripted parts; return what it prints as JSON."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ras_flow.cluster.parts.parts_on", lambda _: world.parts)
        done = run_cli(folder / "eval.toml", "--out", folder / "out", "--json", *options)
    assert done.exit_code == 0
    records: list[dict[str, Any]] = json.loads(done.stdout)
    return records


def write_evaluation(folder: Path) -> Path:
    (folder / "eval.toml").write_text(SETTINGS)
    born, country, harbour = QUESTIONS
    for name, rows in (("bridges", [born, harbour]), ("towns", [country])):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_evaluation(tmp_path_factory.mktemp("eval"))
    assert [one["score"] for one in evaluate(folder, World())] == [0.5, 0.0, 1.0, 0.0]
    return folder / "out"


def test_each_benchmark_is_compared(out: Path) -> None:
    sides = [f"{out}:ras", f"{out}:ras_no_retrieval"]
    both = run_cli("compare", *sides).stdout
    assert "bridges: A is ras, " in both and "towns: A is ras, " in both
    assert "only A is right: In which country is Narvik?  [country]" in both


def test_a_comparison_is_printed_as_json(out: Path) -> None:
    done = run_cli("compare", f"{out}:ras_no_retrieval", f"{out}:ras", "--json")
    assert done.exit_code == 0
    bridges, towns = json.loads(done.stdout)
    assert (bridges["benchmark"], bridges["questions"]) == ("bridges", 2)
    assert (bridges["first"], bridges["second"]) == ("ras_no_retrieval", "ras")
    assert bridges["difference"]["mean"] == -0.5 and bridges["lost"] == []
    [flip] = bridges["gained"]
    assert (flip["first"]["id"], flip["second"]["id"]) == ("born", "born")
    sides = [flip[side]["outcome"]["answer"] for side in ("first", "second")]
    assert sides == ["elsewhere", "Narvik"]
    assert flip["first"]["error_class"] == "from_memory" and flip["parted"]
    assert [flip["second"]["id"] for flip in towns["gained"]] == ["country"]


@pytest.mark.parametrize("arguments", ["report {0}", "compare {0} {0}", "compare {0}:ras {0}:ras"])
def test_an_evaluation_that_has_no_answers_yet_is_told_to_go_on(
    arguments: str, tmp_path: Path
) -> None:
    folder = write_evaluation(tmp_path)
    (folder / "towns.jsonl").unlink()
    with pytest.raises(InputError, match=r"towns\.jsonl"):
        evaluate(folder, World())
    with pytest.raises(RunError, match=r"no answers yet\. Go on with: ras-flow eval"):
        run_cli(*arguments.format(folder / "out").split())
