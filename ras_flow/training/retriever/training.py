"""Training of a retriever, on transformers' Trainer; it can stop at any step and go on later."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.kg.retrievers import checkpoint
from ras_flow.kg.retrievers.batch import Item, Texts, stack
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.extras import require
from ras_flow.training.callbacks import MEASURED
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.order import LengthGrouped
from ras_flow.training.processes import examples_a_step, own_gpu
from ras_flow.training.retriever.config import TrainingConfig
from ras_flow.training.retriever.data import Example, make_items, read_cards, read_examples
from ras_flow.training.retriever.measuring import recall_at
from ras_flow.training.retriever.paths import PathItem, make_path_items, stack_paths
from ras_flow.training.run import Logger, Progress, claim, finish, own_run
from ras_flow.training.trainer import make_trainer, train_on


def train_retriever(
    config: TrainingConfig,
    output: Path,
    *,
    data: Path = Path(),
    seconds: float | None = None,
    encoder: SentenceEncoder | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train a retriever, or go on where an earlier call stopped.

    However often it is stopped and resumed, a run ends with the same weights as without a stop (on
    the same machine). Checkpoints are in ``OUTPUT.run`` until the folder is written.

    Not to be called from a running event loop.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with own_run(output) as run:
        return _train(config, run, output, data, deadline, encoder, log)


def _train(
    config: TrainingConfig,
    run: Path,
    output: Path,
    data: Path,
    deadline: float | None,
    encoder: SentenceEncoder | None,
    log: Logger,
) -> Progress:
    own_gpu()
    settings, watch = config.optimizer, config.watch
    encoder = encoder or LocalSentenceEncoder(config.model.encoder)
    train = read_examples(config.data, data, "train")
    dev = read_examples(config.data, data, "dev", most=watch.questions)
    cards = read_cards(config.data, data)
    log(f"{len(train)} questions for training, {len(dev)} for watching it")
    texts = Texts()
    by_path = config.model.kind == "path"
    parts = {"train": train, "dev": dev}
    items: dict[str, Sequence[Any]] = {
        part: make_path_items(some, texts) if by_path else make_items(some, config.model, texts)
        for part, some in parts.items()
    }
    claim(
        run,
        config,
        {part: (one.record for one in some) for part, some in parts.items()},
        encoder=encoder.identity,
    )
    vectors = _vectors(run, encoder, list(texts.rows), log)
    require("transformers", extra="local").set_seed(settings.seed)
    more = {"degrees": _degrees(items["train"])} if config.model.kind == "entity" else {}
    model = config.model.build(encoder.dimension, **more)
    collate = partial(stack_paths if by_path else stack, vectors=vectors)
    order = LengthGrouped(
        [item.size for item in items["train"]],
        examples_a_step(settings),
        settings.seed,
    )
    trainer = make_trainer(
        run,
        settings,
        model,
        order,
        items["train"],
        items["dev"],
        collate,
        every=watch.every,
        deadline=deadline,
        patience=watch.patience,
        kind=_kind(run, dev, items["dev"], collate, watch.top, vectors),
        log=log,
        load_best_model_at_end=bool(dev),
        metric_for_best_model="eval_recall" if dev else None,
        greater_is_better=True if dev else None,
    )
    finished = train_on(
        trainer,
        settings,
        last_checkpoint(run),
        patience=watch.patience,
        log=log,
        lower="lower data.most, which needs a new output",
    )
    state = trainer.state
    if finished and trainer.is_world_process_zero():
        trained = {
            "labels": cards,
            "questions": {part: len(some) for part, some in parts.items()},
            "seed": settings.seed,
            "steps": state.best_global_step or state.global_step,
            f"recall@{watch.top} on dev": state.best_metric,
            "settings": config.model_dump(mode="json"),
        }
        finish(
            run,
            output,
            lambda folder: checkpoint.save(
                folder, model, config.model, encoder.identity, encoder.dimension, trained
            ),
        )
    return Progress(finished, state.global_step, state.max_steps)


def _vectors(
    run: Path, encoder: SentenceEncoder, texts: list[str], log: Logger
) -> npt.NDArray[np.float32]:
    """Embed texts, once a run."""
    kept = run / "vectors.npy"
    if kept.is_file():
        found: npt.NDArray[np.float32] = np.load(kept)
        if found.shape == (len(texts), encoder.dimension):
            return found
    log(f"embedding {len(texts)} texts")
    found = asyncio.run(encoder.encode(texts))
    scratch = run / "unfinished.npy"
    np.save(scratch, found)
    os.replace(scratch, kept)
    return found


def _kind(
    run: Path,
    examples: Sequence[Example],
    items: Sequence[Any],
    collate: Callable[[Sequence[Any]], dict[str, Any]],
    top: int,
    vectors: npt.NDArray[np.float32],
) -> Any:
    """Return a Trainer that measures loss and recall question by question."""
    torch = require("torch", extra="local")
    base: Any = require("transformers", extra="local").Trainer

    def facts_by_path(model: Any, item: PathItem, graph: Subgraph) -> Any:
        from ras_flow.kg.retrievers.path import score_facts  # noqa: PLC0415

        asked, relations = vectors[item.question], vectors[item.relations]
        return score_facts(model, torch.from_numpy(asked), torch.from_numpy(relations), graph)

    class RetrieverTrainer(base):  # type: ignore[misc]
        control: Any

        def evaluate(self, *_: Any, **__: Any) -> Any:
            started = time.monotonic()
            self.model.eval()
            losses, recalls = [], []
            with torch.inference_mode():
                for example, item in zip(examples, items, strict=True):
                    made = self.model(**self._prepare_inputs(collate([item])))
                    losses.append(float(made["loss"]))
                    if isinstance(item, PathItem):
                        scores = facts_by_path(self.model, item, example.graph)
                    else:
                        scores = made["scores"].cpu().numpy()
                    recalls.append(recall_at(top, scores, example))
            metrics = {
                "eval_loss": float(np.mean(losses)),
                "eval_recall": float(np.mean(recalls)),
                MEASURED: time.monotonic() - started,
            }
            self.log(metrics)
            self.control = self.callback_handler.on_evaluate(
                self.args, self.state, self.control, metrics
            )
            return metrics

        def _load_best_model(self) -> None:
            # Not by the path that the state names: a run may have been moved.
            self._load_from_checkpoint(str(run / f"checkpoint-{self.state.best_global_step}"))

    return RetrieverTrainer


def _degrees(items: Sequence[Item]) -> Any:
    """Return how many nodes have each degree, messages going both ways."""
    torch = require("torch", extra="local")
    graphs = {id(item.graph): item.graph for item in items}.values()
    counts = np.bincount(
        np.concatenate(
            [
                np.bincount(graph.triples[:, [0, 2]].ravel(), minlength=len(graph.entities))
                for graph in graphs
            ]
        )
    )
    return torch.from_numpy(counts)
