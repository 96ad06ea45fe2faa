"""Training of a retriever, on transformers' Trainer; it can stop at any step and go on later."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ras_flow.errors import InputError
from ras_flow.kg.retrievers import checkpoint
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.extras import require
from ras_flow.training.callbacks import MEASURED
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.order import LengthGrouped
from ras_flow.training.processes import examples_a_step, own_gpu
from ras_flow.training.retriever.config import TrainingConfig
from ras_flow.training.retriever.data import Example, read_cards, read_examples, recall_at
from ras_flow.training.retriever.tasks import Task, make_task
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
    """Train a retriever, or go on where an earlier call stopped, outside of any event loop."""
    own_gpu()
    deadline = None if seconds is None else time.monotonic() + seconds
    encoder = encoder or LocalSentenceEncoder(config.model.encoder)
    settings, watch = config.optimizer, config.watch
    with own_run(output) as run:
        train = read_examples(config.data, data, "train")
        dev = read_examples(config.data, data, "dev", most=watch.questions)
        if config.model.kind in ("path", "lm"):
            train, dev = ([one for one in some if one.record["paths"]] for some in (train, dev))
            if not train:
                raise InputError(
                    f"No training question has a path, which model.kind = {config.model.kind!r} "
                    "learns from. Label with a refiner that chooses paths, or set another kind."
                )
        cards = read_cards(config.data, data)
        log(f"{len(train)} questions for training, {len(dev)} for watching it")
        parts = {"train": train, "dev": dev}
        records = {part: (one.record for one in some) for part, some in parts.items()}
        claim(run, config, records, encoder=encoder.identity)
        task = make_task(config, train, dev, encoder, log)
        order = LengthGrouped(task.sizes, examples_a_step(settings), settings.seed)
        trainer = make_trainer(
            run,
            settings,
            task.model,
            order,
            task.train,
            task.dev,
            task.collate,
            every=watch.every,
            deadline=deadline,
            patience=watch.patience,
            kind=_kind(dev, task, watch.top),
            log=log,
            load_best_model_at_end=bool(dev),
            metric_for_best_model="eval_recall",
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
            known = (task.model, config.model, encoder.identity, encoder.dimension, trained)
            finish(run, output, lambda folder: checkpoint.save(folder, *known))
        return Progress(finished, state.global_step, state.max_steps)


def _kind(examples: Sequence[Example], task: Task, top: int) -> Any:
    """Return a Trainer that measures loss and recall question by question."""
    torch = require("torch", extra="local")
    base: Any = require("transformers", extra="local").Trainer

    class RetrieverTrainer(base):  # type: ignore[misc]
        control: Any

        def evaluate(self, *_: Any, **__: Any) -> Any:
            started = time.monotonic()
            self.model.eval()
            losses, recalls = [], []
            with torch.inference_mode():
                for example, item in zip(examples, task.dev, strict=True):
                    made = self.model(**self._prepare_inputs(task.collate([item])))
                    losses.append(float(made["loss"]))
                    question, graph = example.record["question"], example.graph
                    scores = self.model.score_facts(question, graph, task.vectors)
                    recalls.append(recall_at(top, scores, example))
            metrics = {
                "eval_loss": float(np.mean(losses)),
                "eval_recall": float(np.mean(recalls)),
                MEASURED: time.monotonic() - started,
            }
            self.log(metrics)
            known = (self.args, self.state, self.control, metrics)
            self.control = self.callback_handler.on_evaluate(*known)
            return metrics

    return RetrieverTrainer
