"""Small data sets about places that do not exist, and settings that train in seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from ras_flow.graph_llm.config import GnnConfig, LoraConfig
from ras_flow.testing import HashEncoder
from ras_flow.training.graph_llm.config import (
    DataSettings,
    ModelSettings,
    OptimizerSettings,
    TrainingConfig,
    WatchSettings,
)
from ras_flow.training.graph_llm.training import train_graph_llm
from ras_flow.training.run import Progress

ENCODER = HashEncoder(8)
PLACES = ["Narvik", "Oulu", "Lindau", "Halden"]


def record(
    number: int, task: str, target: dict[str, str], *hops: Any, **more: Any
) -> dict[str, Any]:
    """Return a record about a person whose number it has."""
    chain = [{"subquery": f"q{i}", "triples": list(hop)} for i, hop in enumerate(hops)]
    return {
        "id": f"{task}-{number}-{len(hops)}",
        "source": "places",
        "split": "train",
        "task": task,
        "question": f"Where was P{number} born?",
        "chain": chain,
        "target": target,
        **more,
    }


def records(count: int = 4, *, first: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Return for each person a first plan, a plan after an empty hop, one after two, an answer.

    The first person's number is ``first``: no question may be both learnt from and measured on.
    """
    made = []
    for number in range(first, first + count):
        place = PLACES[number % len(PLACES)]
        hop = [[f"P{number}", "born in", place], [f"P{number}", "met", "Bo"]]
        made += [
            record(number, "plan", {"label": "SUBQ", "subquery": "it"}, **more),
            record(number, "plan", {"label": "SUBQ", "subquery": f"P{number}?"}, [], **more),
            record(number, "plan", {"label": "SUFFICIENT"}, [], hop, **more),
            record(number, "answer", {"answer": place}, hop, **more),
        ]
    return made


def write_set(
    folder: Path, train: list[dict[str, Any]], dev: list[dict[str, Any]] | None = None
) -> Path:
    """Write a data set as `ras-flow data` does."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"train": train, "dev": [{**one, "split": "dev"} for one in dev or []]}
    for split, rows in parts.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text)
    (folder / "stats.json").write_text("{}")
    return folder


def config(base: Path, **changes: Any) -> TrainingConfig:
    """Return settings; a change like ``model={"task": "plan"}`` is of single values."""
    made = TrainingConfig(
        data=DataSettings(sets=("set",)),
        model=ModelSettings(base=str(base), encoder="x", projector_hidden=16, window=600),
        gnn=GnnConfig(hidden=16, layers=1, heads=2),
        lora=LoraConfig(targets=("q_proj", "v_proj"), r=4),
        optimizer=OptimizerSettings(
            learning_rate=1e-2,
            graph_learning_rate=1e-2,
            batch_size=2,
            accumulation=2,
            epochs=1_000.0,
            steps=4,
        ),
        watch=WatchSettings(every=2, records=4, generate=2),
    )
    return made.override(
        {name: getattr(made, name).override(values) for name, values in changes.items()}
    )


FILES = ("adapter_model.safetensors", "gnn.safetensors")


def train(
    base: Path, data: Path, output: Path, seconds: float | None = None, **changes: Any
) -> Progress:
    """Train with the settings of :func:`config`."""
    settings = config(base, **changes)
    return train_graph_llm(settings, output, data=data, seconds=seconds, encoder=ENCODER)


def report(output: Path) -> Any:
    """Return what a finished training reports."""
    return json.loads((output / "training.json").read_text())


def losses(output: Path) -> list[tuple[int, str, float]]:
    """Return what a finished training has logged, but for times."""
    names = ("loss", "eval_loss", "grad_norm", "answer_f1")
    rows = report(output)["history"]
    return [(row["step"], n, row[n]) for row in rows for n in names if n in row]


def same_weights(one: Path, other: Path) -> bool:
    """Tell whether two trained folders hold the same weights, bit by bit."""
    for name in FILES:
        ours, theirs = load_file(one / name), load_file(other / name)
        if ours.keys() != theirs.keys() or not all(torch.equal(ours[k], theirs[k]) for k in ours):
            return False
    return True
