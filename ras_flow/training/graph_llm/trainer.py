"""transformers' Trainer for a Graph LLM: two learning rates, and trained weights only."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.support.extras import require
from ras_flow.training.callbacks import MEASURED
from ras_flow.training.graph_llm.config import OptimizerSettings, TrainingConfig
from ras_flow.training.graph_llm.data import Examples
from ras_flow.training.graph_llm.mixing import Mixed
from ras_flow.training.graph_llm.scores import Measures
from ras_flow.training.graph_llm.trained import load_trained, save_trained
from ras_flow.training.run import Logger
from ras_flow.training.trainer import make_trainer

if TYPE_CHECKING:
    from ras_flow.graph_llm.batching import GraphBatch, Graphs
    from ras_flow.graph_llm.model import GraphLLM


def graph_trainer(
    config: TrainingConfig,
    run: Path,
    model: GraphLLM,
    order: Mixed,
    train: Examples,
    dev: Examples,
    *,
    measure: Callable[[], Measures] | None,
    deadline: float | None,
    log: Logger,
) -> Any:
    """Make a trainer."""
    torch = require("torch", extra="local")
    base: Any = require("transformers", extra="local").Trainer
    # It imports torch.
    from ras_flow.graph_llm.collate import IGNORED, Collator  # noqa: PLC0415

    settings, watch = config.optimizer, config.watch

    class Wrapped(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Hides the model's ``config``, which Trainer would take for one of transformers."""

        def __init__(self) -> None:
            super().__init__()
            self.graph_llm = model

        def forward(self, **inputs: Any) -> Any:
            return self.graph_llm(**inputs)

    class GraphTrainer(base):  # type: ignore[misc]
        def evaluate(self, *args: Any, **kwargs: Any) -> Any:
            started = time.monotonic()
            metrics = super().evaluate(*args, **kwargs)
            if measure is not None:
                self.log(measure().summary() | {MEASURED: time.monotonic() - started})
            return metrics

        def prediction_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
            """Return the mean of the records' losses, which does not depend on the batch size."""
            inputs = self._prepare_inputs(inputs)
            counts = (inputs["labels"] != IGNORED).sum(1, keepdim=True)
            shares = {"weights": inputs["weights"] / counts, "num_items_in_batch": len(counts)}
            with torch.no_grad(), self.compute_loss_context_manager():
                loss = model(**{**inputs, **shares})["loss"]
            return loss, None, None

        def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
            save_trained(model, Path(output_dir or run))

        def _load_from_checkpoint(self, folder: str, *_: Any) -> None:
            load_trained(model, Path(folder))

    return make_trainer(
        run,
        settings,
        Wrapped(),
        order,
        train,
        dev,
        Collator(
            model.formatter,
            max_target=config.model.target,
            label_weight=settings.label_weight,
            batch=_in_loaders(model),
        ),
        every=watch.every,
        deadline=deadline,
        patience=watch.patience,
        kind=GraphTrainer,
        optimizer=torch.optim.AdamW(parameter_groups(model, settings), lr=settings.learning_rate),
        log=log,
        per_device_eval_batch_size=watch.batch_size,
        dataloader_num_workers=settings.workers,
        ddp_find_unused_parameters=False,
        load_best_model_at_end=len(dev) > 0 and watch.keep == "best",
        metric_for_best_model="eval_loss",
        prediction_loss_only=True,
    )


def _in_loaders(model: GraphLLM) -> Callable[[Graphs], GraphBatch] | None:
    """Return what batches graphs as the model's own encoder does; None for another encoder."""
    # They import torch.
    from ras_flow.graph_llm.batching import batch_graphs  # noqa: PLC0415
    from ras_flow.graph_llm.gnn import GraphEncoder  # noqa: PLC0415

    encoder = model.encoder if model.config.gnn else None
    if not isinstance(encoder, GraphEncoder):
        return None
    return partial(batch_graphs, config=encoder.config, dimension=encoder.dimension)


def parameter_groups(model: GraphLLM, settings: OptimizerSettings) -> list[dict[str, Any]]:
    """Return the trainable weights by learning rate, biases and norms without decay."""
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            graph = name.startswith(("encoder.", "projector."))
            rate = settings.graph_learning_rate if graph else settings.learning_rate
            decay = settings.weight_decay if weight.ndim > 1 else 0.0
            groups.setdefault((rate, decay), []).append(weight)
    return [
        {"params": weights, "lr": rate, "weight_decay": decay}
        for (rate, decay), weights in groups.items()
    ]
