"""Small data sets about places that do not exist, and settings that train in seconds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ras_flow.graph_llm.config import GnnConfig, LoraConfig
from ras_flow.support.validation import Settings
from ras_flow.testing import HashEncoder
from ras_flow.training.graph_llm.config import (
    DataSettings,
    ModelSettings,
    OptimizerSettings,
    TrainingConfig,
    WatchSettings,
)

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
    changed = {
        name: part.override(values) if isinstance(part, Settings) else replace(part, **values)
        for name, values in changes.items()
        for part in [getattr(made, name)]
    }
    return replace(made, **changed)
