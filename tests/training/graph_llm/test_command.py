"""`ras-flow train graph-llm`: what its options change in what is trained, written and measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ras_flow.cli.commands import app
from ras_flow.errors import ConfigurationError
from ras_flow.support.validation import read_toml
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.run import Progress
from tests.training.graph_llm.samples import ENCODER, records, report, write_set


@pytest.fixture(scope="module", autouse=True)
def small_encoder() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("training", "evaluate"):
            name = f"ras_flow.training.graph_llm.{module}.LocalSentenceEncoder"
            patch.setattr(name, lambda _: ENCODER)
        yield


@pytest.fixture(scope="module")
def settings(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings beside their data; records for testing are of a source of their own."""
    folder = tmp_path_factory.mktemp("command")
    write_set(folder / "set", records(), records(1, first=4))
    test = records(2, first=6, split="test", source="elsewhere")
    (folder / "set/test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in test))
    path = folder / "small.toml"
    path.write_text(
        f"""
        [data]
        sets = ["set"]
        [model]
        base = "{base}"
        encoder = "x"
        projector_hidden = 16
        window = 600
        [gnn]
        hidden = 16
        layers = 1
        heads = 2
        [lora]
        targets = ["q_proj", "v_proj"]
        r = 4
        [optimizer]
        epochs = 1000
        steps = 4
        [watch]
        records = 2
        generate = 0
        """
    )
    return path


def graph_llm(settings: Path, *more: str | Path) -> Result:
    arguments = ["train", "graph-llm", settings, *more, "--data", settings.parent]
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_a_run_stops_in_time_and_goes_on_in_a_folder_named_as_its_settings(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stopped = graph_llm(settings, "--steps", "2", "--minutes", "0.0001")
    assert (stopped.exit_code, stopped.stdout) == (75, "")
    assert stopped.stderr.endswith("stopped at step 1 of 2; run it again to go on\n")
    assert [path.name for path in tmp_path.glob("small*")] == ["small.run"]
    finished = graph_llm(settings, "--steps", "2")
    assert "going on from checkpoint-1" in finished.stderr
    assert (finished.exit_code, finished.stdout) == (0, "small\n"), finished.output
    assert report(Path("small"))["steps"] == 2


def test_options_change_the_settings_that_they_name_and_no_others(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[TrainingConfig] = []

    def train(config: TrainingConfig, *_: object, **__: object) -> Progress:
        given.append(config)
        return Progress(True, 1, 1)

    monkeypatch.setattr("ras_flow.training.graph_llm.training.train_graph_llm", train)
    ablation = ["--no-lora", "--shuffle-graphs", "--task", "answer"]
    for options in (ablation, ["--no-graph"], ["--steps", "1", "--seed", "9", "--records", "3"]):
        assert graph_llm(settings, "out", *options).exit_code == 0
    before = read_toml(settings, TrainingConfig)
    changes: list[dict[str, dict[str, Any]]] = [
        {"model": {"without": ("lora",), "graphs": "shuffled", "task": "answer"}},
        {"model": {"without": ("graph",)}},
        {"optimizer": {"steps": 1, "seed": 9}, "data": {"most": 3}},
    ]
    assert given == [
        before.override({at: getattr(before, at).override(some) for at, some in one.items()})
        for one in changes
    ]


def test_a_trained_folder_is_measured_on_the_split_and_records_asked_for(
    settings: Path, unbroken: Path
) -> None:
    before = {path.name for path in settings.parent.iterdir()}
    measure = ["--evaluate", unbroken, "--split", "test", "--records", "4"]
    done = graph_llm(settings, *measure, "--json")
    assert done.exit_code == 0, done.output
    measured = json.loads(done.stdout)
    assert {task: set(sources) - {"after a search"} for task, sources in measured.items()} == {
        "answer": {"all", "elsewhere"},
        "plan": {"all", "elsewhere"},
    }
    assert [measured[task]["all"]["records"] for task in ("plan", "answer")] == [2, 2]
    assert sum(measured["plan"]["all"]["labels"].values()) == 2

    shown = graph_llm(settings, *measure, "--task", "answer")
    assert shown.exit_code == 0 and "plans:" not in shown.stdout
    [row] = [line.split() for line in shown.stdout.splitlines() if "elsewhere" in line]
    assert row[:2] == ["elsewhere", "2"]
    assert {path.name for path in settings.parent.iterdir()} == before, "nothing is trained"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "sing"], "task"),
        (["--evaluate", "nowhere", "--split", "train"], "train"),
        (["--evaluate", "local:default", "--no-graph"], "--no-graph"),
        (["--index", "nowhere"], "--index"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(
    settings: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    refused = graph_llm(settings, tmp_path / "out", *options)
    assert isinstance(refused.exception, ConfigurationError) and said in str(refused.exception)
    assert not list(tmp_path.glob("out*"))
