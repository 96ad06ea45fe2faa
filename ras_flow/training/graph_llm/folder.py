"""The folder that training writes: the Graph LLM, its model card, and ``training.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.graph_llm.checkpoint import save_graph_llm
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.processes import examples_a_step

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


def write_folder(
    folder: Path, model: GraphLLM, config: TrainingConfig, report: Mapping[str, Any]
) -> None:
    """Write a trained Graph LLM."""
    save_graph_llm(model, folder, card=_facts(config, report), dtype=config.watch.dtype)
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    (folder / "training.json").write_text(text, encoding="utf-8")


def _facts(config: TrainingConfig, report: Mapping[str, Any]) -> dict[str, object]:
    """Return what the model card says of the training."""
    optimizer = config.optimizer
    facts: dict[str, object] = {
        "Seed": optimizer.seed,
        "Data": config.data.sets,
        "Tasks": config.model.task,
        "Left out": config.model.without or "nothing",
        "Graphs": config.model.graphs,
        "Began with": config.model.start or "new weights",
        "Training records": sum(report["records"]["train"].values()),
        "Records seen an epoch": sum(report["seen_an_epoch"].values()),
        "Steps": report["steps"],
        "Records a step": examples_a_step(optimizer),
        "Weight of labels": optimizer.label_weight,
        "Learning rates (LoRA, graph)": (optimizer.learning_rate, optimizer.graph_learning_rate),
        "Loss on dev": report["dev_loss"],
    }
    for task, sources in (report["measures"] or {}).items():
        scores = sources["all"]
        said = f"{scores['right']} right, F1 {scores['f1']}, of {scores['records']} records"
        facts[f"Measured on dev: {task}"] = said
    return facts
