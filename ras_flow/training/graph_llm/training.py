"""Training of a Graph LLM (§3.4, appendix D.2); it can stop at any step and go on later."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import base_facts, save_graph_llm
from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.extras import require
from ras_flow.training.callbacks import dev_losses
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.data import (
    MEASURED_SEED,
    check_questions,
    examples_of,
    graphs_of,
    load_data,
    plans_for_pretraining,
    sample,
)
from ras_flow.training.graph_llm.evaluate import evaluate_graph_llm, token_limit
from ras_flow.training.graph_llm.graphs import nearest_records
from ras_flow.training.graph_llm.mixing import Mixed
from ras_flow.training.graph_llm.scores import Measures
from ras_flow.training.graph_llm.start import first_model, start_graph
from ras_flow.training.graph_llm.trainer import graph_trainer
from ras_flow.training.processes import examples_a_step, own_gpu
from ras_flow.training.run import Logger, Progress, claim, finish, own_run
from ras_flow.training.trainer import train_on

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


def train_graph_llm(
    config: TrainingConfig,
    output: Path,
    *,
    data: Path = Path(),
    seconds: float | None = None,
    encoder: SentenceEncoder | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train a Graph LLM, or go on where an earlier call stopped.

    However often it is stopped and resumed, a run ends with the same weights as without a stop (on
    the same machine). Checkpoints are in ``OUTPUT.run`` until the folder is written: trained
    weights and the state of the optimizer, never the base model. If there are ``dev`` records, the
    weights with the lowest loss on them are kept, unless ``watch.keep`` says otherwise.

    Not to be called from a running event loop.
    """
    own_gpu()
    deadline = None if seconds is None else time.monotonic() + seconds
    optimizer, watch = config.optimizer, config.watch
    with own_run(output) as run:
        with _reading(config):
            loaded = load_data(config, data)
        encoder = encoder or LocalSentenceEncoder(config.model.encoder)
        made_of = config.graph_llm(encoder.identity, encoder.dimension)
        require("transformers", extra="local").set_seed(optimizer.seed)
        model, began = first_model(config.model.start, made_of)
        asked = sample(loaded.dev, watch.generate, seed=MEASURED_SEED)
        _check_window(config, model, asked)
        check_questions([*loaded.train, *loaded.dev], model.formatter)
        facts = {"base": base_facts(model.base), "encoder": encoder.identity, "began_with": began}
        parts = {"train": loaded.train, "dev": loaded.dev}
        claim(run, config, parts, **facts)
        with _reading(config):
            train = examples_of(config, loaded.train, encoder, log)
            dev = examples_of(config, loaded.dev, encoder, log)
            measure = _measure(config, model, asked, encoder)
        checkpoint = last_checkpoint(run)
        if model.config.gnn and not began and checkpoint is None:
            with _reading(config):
                plans = plans_for_pretraining(config, data, train, encoder, log)
            start_graph(config, model, plans, train, dev, log)
        order = Mixed(
            loaded.train,
            train.lengths(),
            config.mix,
            step=examples_a_step(optimizer),
            seed=optimizer.seed,
        )
        log(f"{len(order)} of {len(train)} records an epoch, {len(dev)} for watching")
        trainer = graph_trainer(
            config, run, model, order, train, dev, measure=measure, deadline=deadline, log=log
        )
        lower = "lower watch.batch_size; or model.window, which needs a new output"
        finished = train_on(
            trainer, optimizer, checkpoint, patience=watch.patience, log=log, lower=lower
        )
        state = trainer.state
        if finished and trainer.is_world_process_zero():
            kept, loss = _kept(state, watch.keep)
            report = {
                "settings": {**config.model_dump(mode="json"), **facts},
                "records": loaded.counts(),
                "seen_an_epoch": {f"{s}/{kind}": n for (s, kind), n in order.counts.items()},
                "steps": state.global_step,
                "kept_step": kept,
                "dev_loss": loss,
                "measures": measure().as_record() if measure else None,
                "history": state.log_history,
            }
            finish(run, output, lambda folder: write_folder(folder, model, config, report))
        return Progress(finished, state.global_step, state.max_steps)


def _reading(config: TrainingConfig) -> AbstractContextManager[None]:
    """Say what to lower if memory runs out over records, their graphs or texts."""
    most = config.data.most or "all"
    return memory_errors_say(
        "Memory ran out while records were read and the texts of their graphs embedded. Lower "
        f"data.most (now {most}) or watch.records (now {config.watch.records}), name fewer "
        "data.sets, or hide a GPU that is too small (CUDA_VISIBLE_DEVICES=)."
    )


def _kept(state: Any, keep: str) -> tuple[int, float | None]:
    """Return the step whose weights are kept, and their loss on ``dev``, if it was measured."""
    if keep == "best" and state.best_metric is not None:
        return state.best_global_step, state.best_metric
    losses = dev_losses(state.log_history)
    return state.global_step, losses[-1] if losses else None


def _check_window(config: TrainingConfig, model: GraphLLM, asked: Sequence[Record]) -> None:
    limit = getattr(model.base.config.get_text_config(), "max_position_embeddings", None)
    after = max([config.model.target, *(token_limit(one) for one in asked)])
    if limit is not None and config.model.window + after > limit:
        raise ConfigurationError(
            f"model.window ({config.model.window} tokens) and the {after} tokens that may follow "
            f"it, of a target (model.target = {config.model.target}) or of what the model writes "
            f"as it is measured, exceed the {limit} that {config.model.base!r} can read. Lower "
            "model.window."
        )


def _measure(
    config: TrainingConfig, model: GraphLLM, asked: Sequence[Record], encoder: SentenceEncoder
) -> Callable[[], Measures] | None:
    """Return what measures the model on a few records, or None without records."""
    if not asked:
        return None
    records = nearest_records(asked, encoder, model.config.max_triples)
    graphs = None if model.config.gnn is None else graphs_of(records, encoder)

    def measure() -> Measures:
        return evaluate_graph_llm(
            model,
            records,
            encoder=encoder,
            graphs=graphs,
            shuffle=config.optimizer.seed if config.model.graphs == "shuffled" else None,
            batch_size=config.watch.batch_size,
        )

    return measure


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
