"""Training of a Graph LLM (§3.3, appendix D.2); it can stop at any step and go on later."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.components import SentenceEncoder
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.extras import require
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import base_facts, save_graph_llm
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms import load_language_model
from ras_flow.llms.generation import memory_errors_say
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.paths import cache_folder
from ras_flow.retrieval import open_retriever
from ras_flow.training.callbacks import callbacks
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.evaluate import evaluate_graph_llm, evaluate_language_model
from ras_flow.training.graph_llm.examples import (
    Examples,
    Placed,
    check_apart,
    check_first_plans,
    check_questions,
    read_split,
    sample,
)
from ras_flow.training.graph_llm.graphs import Graphs, build_graphs, nearest_records, shuffled
from ras_flow.training.graph_llm.mixing import Mixed, kind_of
from ras_flow.training.graph_llm.next_passage import find_next
from ras_flow.training.graph_llm.pretrain import LaterPlans, pretrain_graph_encoder
from ras_flow.training.graph_llm.scores import Measures
from ras_flow.training.graph_llm.spread import spread_soft_tokens
from ras_flow.training.graph_llm.start import first_model
from ras_flow.training.graph_llm.trained import WEIGHTS, load_trained
from ras_flow.training.graph_llm.trainer import make_trainer
from ras_flow.training.processes import own_gpu, processes
from ras_flow.training.run import Logger, Progress, claim, last_checkpoint, train_on

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

REPORT = "training.json"
"""Settings, losses and measures, in the finished folder."""

SPREAD_OVER = 256
"""About how many records' graphs new soft tokens are spread over."""


@dataclass(frozen=True)
class _Data:
    train: list[Placed]
    dev: list[Placed]


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

    Stopped and resumed as often as you like, a run ends with the same weights as without a stop
    (on the same machine). Checkpoints are in ``OUTPUT.run`` until the folder is written: trained
    weights and the state of the optimizer, never the base model. Of a run with ``dev`` records,
    the weights with the lowest loss on them are kept.

    Not to be called from a running event loop.

    Args:
        config: The settings.
        output: The folder to write, which must not be there yet.
        data: Where the data sets are.
        seconds: Stop in time for this many seconds; None trains to the end.
        encoder: Replaces the sentence encoder that the settings name.
        log: Told what happens, a line at a time.

    Returns:
        How far the run is.

    Raises:
        ConfigurationError: The output is there, a setting does not fit, the run that was begun has
            other settings, or memory ran out.
        InputError: The data cannot be read, or is empty; the message names file and line.
        MissingExtraError: A package of the extra ``local`` is not installed.
    """
    started = time.monotonic()
    transformers = require("transformers", extra="local")
    if output.exists():
        raise ConfigurationError(f"{output} is there already. Remove it, or name another folder.")
    run = output.with_name(f"{output.name}.run")
    own_gpu()
    loaded = _read(config, data)
    encoder = encoder or LocalSentenceEncoder(config.model.encoder)
    settings = config.graph_llm(encoder.identity, encoder.dimension)
    transformers.set_seed(config.optimizer.seed)
    model, began = first_model(config.model.start, settings, new_graph=config.model.new_graph)
    _check_window(config, model)
    check_questions([*loaded.train, *loaded.dev], model.formatter)
    record = {**config.as_record(), "base": base_facts(model.base), "encoder": encoder.identity}
    record |= {"began_with": began}
    parts = {"train": loaded.train, "dev": loaded.dev}
    claim(run, record, {part: (one.record for one in rows) for part, rows in parts.items()})
    train, dev = (_examples(config, part, encoder, log) for part in (loaded.train, loaded.dev))
    checkpoint = last_checkpoint(run)
    new_graph = model.config.gnn is not None and (config.model.new_graph or not began)
    if new_graph and checkpoint is None:
        _start_graph(config, model, _plans(config, data, train, encoder, log), train, dev, log)
    order = Mixed(
        [one.record for one in loaded.train],
        train.lengths(),
        config.mix,
        step=config.optimizer.batch_size * config.optimizer.accumulation * processes(),
        seed=config.optimizer.seed,
    )
    log(f"{len(order)} of {len(train)} records an epoch, {len(dev)} for watching")
    measure = _measure(config, model, loaded.dev, encoder)
    trainer = make_trainer(
        config,
        run,
        model,
        order,
        train,
        dev,
        measure=measure,
        callbacks=callbacks(
            deadline=None if seconds is None else started + seconds,
            patience=config.watch.patience,
            log=log,
        ),
        log=log,
    )
    log(f"going on from {checkpoint.name}" if checkpoint else "starting")
    with memory_errors_say(
        "Memory ran out. Halve optimizer.batch_size (now "
        f"{config.optimizer.batch_size}) and double optimizer.accumulation (now "
        f"{config.optimizer.accumulation}), or halve watch.batch_size (now "
        f"{config.watch.batch_size}), and run it again: it goes on from the last checkpoint. If "
        "that is not enough, lower model.window, which needs a new output."
    ):
        finished = train_on(trainer, checkpoint, patience=config.watch.patience)
        state = trainer.state
        if finished and trainer.is_world_process_zero():
            report = {
                "settings": record,
                "records": {"train": _counts(loaded.train), "dev": _counts(loaded.dev)},
                "seen_an_epoch": {f"{s}/{kind}": n for (s, kind), n in order.counts.items()},
                "steps": state.global_step,
                "best_step": state.best_global_step,
                "dev_loss": state.best_metric,
                "measures": measure().as_record() if measure else None,
                "history": state.log_history,
            }
            _write(model, output, run, config, report)
    return Progress(finished, state.global_step, state.max_steps)


def evaluate(
    config: TrainingConfig,
    model: str,
    *,
    data: Path = Path(),
    split: str = "dev",
    most: int | None = None,
    index: Path | None = None,
    encoder: SentenceEncoder | None = None,
    log: Logger = lambda _: None,
) -> Measures:
    """Measure a model on a split of the data that settings name.

    Not to be called from a running event loop.

    Args:
        config: The settings; with ``model.graphs = "shuffled"`` each record gets another's graph.
        model: A folder that training wrote, a checkpoint of a run that is not at its end
            (``OUTPUT.run/checkpoint-500``, with the run's settings), or a Graph LLM's name, such
            as ``local:default``; or a language model's name, such as ``local:`` with a base model
            or ``openai:gpt-5-mini``, which then plans and answers by few-shot prompts.
        data: Where the data sets are.
        split: ``dev`` or ``test``.
        most: At most so many records, of both tasks alike; None for all.
        index: A passage index in which BM25 searches for the next gold passage by the subqueries;
            None to leave that out.
        encoder: Replaces the sentence encoder that the Graph LLM names.
        log: Told how far it is.

    Returns:
        The figures.

    Raises:
        ConfigurationError: The model cannot be loaded, or there is no such split.
        InputError: The data cannot be read, or is empty.
        CorpusIndexError: The index is missing, corrupt, or of another version or encoder.
    """
    retriever = open_retriever(index, "bm25") if index else None
    if split not in ("dev", "test"):
        raise ConfigurationError(f"There is no split {split!r} to measure on, only dev and test.")
    task = config.model.task
    records = read_split(
        [data / name for name in config.data.sets],
        "test" if split == "test" else "dev",
        task=task,
    )
    if most is not None:
        records = sample(records, most, seed=config.optimizer.seed)
    if not records:
        raise InputError(f"There are no records for {split} in {', '.join(config.data.sets)}.")
    asked = [one.record for one in records]
    found = None if Path(model).exists() else find_graph_llm(model)
    folder = found.folder if found else Path(model)
    if not folder.exists() and ":" in model:
        measures = asyncio.run(evaluate_language_model(load_language_model(model), asked, log=log))
    else:
        if (folder / WEIGHTS).is_file():
            subject: GraphLLM | Path = _at_checkpoint(config, folder, encoder)
        else:
            subject = folder
        measures = evaluate_graph_llm(
            subject,
            asked,
            encoder=encoder,
            shuffle=config.optimizer.seed if config.model.graphs == "shuffled" else None,
            batch_size=config.watch.batch_size,
            log=log,
        )
    if retriever is None:
        return measures
    return replace(measures, next_passage=asyncio.run(find_next(asked, measures.texts, retriever)))


def _at_checkpoint(
    config: TrainingConfig, checkpoint: Path, encoder: SentenceEncoder | None
) -> GraphLLM:
    """Return the model that a run had at a checkpoint."""
    encoder = encoder or LocalSentenceEncoder(config.model.encoder)
    model = build_graph_llm(config.graph_llm(encoder.identity, encoder.dimension))
    load_trained(model, checkpoint)
    return model


def _read(config: TrainingConfig, data: Path) -> _Data:
    folders = [data / name for name in config.data.sets]
    train = read_split(folders, "train", task=config.model.task)
    dev = read_split(folders, "dev", task=config.model.task)
    if len(folders) > 1:
        tested = [folder for folder in folders if (folder / "test.jsonl").is_file()]
        check_apart(train, [*read_split(folders, "dev"), *read_split(tested, "test")])
        check_first_plans(train)
    seed = config.optimizer.seed
    if config.data.most:
        train = sample(train, config.data.most, seed=seed)
    if not train:
        raise InputError(f"There are no records to train on in {', '.join(config.data.sets)}.")
    return _Data(train, sample(dev, config.watch.records, seed=seed))


def _examples(
    config: TrainingConfig, records: Sequence[Placed], encoder: SentenceEncoder, log: Logger
) -> Examples:
    if "graph" in config.model.without:
        return Examples(records, None)
    graphs = _graphs([one.record for one in records], encoder)
    log(f"{len(graphs.vectors)} texts of {len(records)} graphs are embedded")
    if config.model.graphs == "shuffled":
        graphs = shuffled(graphs, config.optimizer.seed)
    return Examples(records, graphs)


def _plans(
    config: TrainingConfig, data: Path, train: Examples, encoder: SentenceEncoder, log: Logger
) -> Examples:
    """Return what the graph encoder learns from alone: what all learn from, or sets of its own."""
    sets = [data / name for name in config.pretrain.sets]
    if not sets or not config.pretrain.epochs:
        return train
    plans = [one for one in read_split(sets, "train", task="plan") if one.record["chain"]]
    if not plans:
        raise InputError(f"There are no plans after a search in {', '.join(config.pretrain.sets)}.")
    used = [data / name for name in config.data.sets]
    check_apart(plans, [*read_split(used, "dev"), *read_split(used, "test")])
    return _examples(config, plans, encoder, log)


def _start_graph(
    config: TrainingConfig,
    model: GraphLLM,
    plans: Examples,
    train: Examples,
    dev: Examples,
    log: Logger,
) -> None:
    """Give a new graph encoder and projector something to begin with."""
    seed = config.optimizer.seed
    pretrain_graph_encoder(
        model, LaterPlans(plans), LaterPlans(dev), config.pretrain, seed=seed, log=log
    )
    every = max(1, len(train) // SPREAD_OVER)
    some = [train[position] for position in range(0, len(train), every)]
    spread_soft_tokens(model, [example.request.graph for example in some])


def _graphs(records: Sequence[Record], encoder: SentenceEncoder) -> Graphs:
    return build_graphs(records, encoder, cache_folder() / "embeddings")


def _check_window(config: TrainingConfig, model: GraphLLM) -> None:
    limit = getattr(model.base.config.get_text_config(), "max_position_embeddings", None)
    needed = config.model.window + config.model.target
    if limit is not None and needed > limit:
        raise ConfigurationError(
            f"model.window and model.target ({config.model.window} and {config.model.target} "
            f"tokens) exceed the {limit} that {config.model.base!r} can read. Lower them."
        )


def _measure(
    config: TrainingConfig, model: GraphLLM, dev: Sequence[Placed], encoder: SentenceEncoder
) -> Callable[[], Measures] | None:
    """Return what measures the model on a few records; None where there are none."""
    chosen = sample(dev, config.watch.generate, seed=config.optimizer.seed)
    if not chosen:
        return None
    records = nearest_records([one.record for one in chosen], encoder, model.config.max_triples)
    graphs = None if model.config.gnn is None else _graphs(records, encoder)

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


def _counts(records: Sequence[Placed]) -> dict[str, int]:
    found = Counter(f"{one.record['source']}/{kind_of(one.record)}" for one in records)
    return dict(sorted(found.items()))


def _write(
    model: GraphLLM, output: Path, run: Path, config: TrainingConfig, report: Mapping[str, Any]
) -> None:
    scratch = run / "finished"
    # What a killed process may have left.
    shutil.rmtree(scratch, ignore_errors=True)
    save_graph_llm(model, scratch, card=_facts(config, report), dtype=config.watch.dtype)
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    (scratch / REPORT).write_text(text, encoding="utf-8")
    os.replace(scratch, output)
    shutil.rmtree(run)


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
        "Records a step": optimizer.batch_size * optimizer.accumulation * processes(),
        "Weight of labels": optimizer.label_weight,
        "Learning rates (LoRA, graph)": (optimizer.learning_rate, optimizer.graph_learning_rate),
        "Loss on dev": report["dev_loss"],
    }
    for task, sources in (report["measures"] or {}).items():
        scores = sources["all"]
        said = f"{scores['right']} right, F1 {scores['f1']}, of {scores['records']} records"
        facts[f"Measured on dev: {task}"] = said
    return facts
