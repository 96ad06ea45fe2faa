"""transformers' Trainer for a Graph LLM: two learning rates, own order, trained weights only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.support.extras import require
from ras_flow.training.arguments import training_arguments
from ras_flow.training.callbacks import MEASURED
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.examples import Examples
from ras_flow.training.graph_llm.mixing import Mixed
from ras_flow.training.graph_llm.scores import Measures
from ras_flow.training.graph_llm.trained import load_trained, save_trained
from ras_flow.training.run import Logger

if TYPE_CHECKING:
    from ras_flow.graph_llm.batching import GraphBatch, Graphs
    from ras_flow.graph_llm.model import GraphLLM


def make_trainer(
    config: TrainingConfig,
    run: Path,
    model: GraphLLM,
    order: Mixed,
    train: Examples,
    dev: Examples,
    *,
    measure: Callable[[], Measures] | None,
    callbacks: list[Any],
    log: Logger,
) -> Any:
    """Make a trainer."""
    transformers = require("transformers", extra="local")
    torch = require("torch", extra="local")
    # It imports torch.
    from ras_flow.graph_llm.collate import IGNORED, Collator  # noqa: PLC0415

    settings, watch = config.optimizer, config.watch
    collate = Collator(
        model.formatter,
        max_target=config.model.target,
        label_weight=settings.label_weight,
        batch=_in_loaders(model),
    )
    learnt: Any = model
    if settings.packed:
        # Here, as it imports torch.
        from ras_flow.graph_llm.packed import PackedGraphLLM, check_packed  # noqa: PLC0415

        learnt = PackedGraphLLM(model)
        with memory_errors_say(
            "Memory ran out over the two records that optimizer.packed is checked with. Lower "
            f"model.window (now {config.model.window}), or name a smaller base model."
        ):
            check_packed(learnt, collate([train[0], train[-1]]))
        if torch.cuda.is_available():
            learnt.compile_layers()
    arguments = training_arguments(
        run,
        settings,
        an_epoch=len(order),
        every=watch.every,
        watched=bool(len(dev)),
        log=log,
        per_device_eval_batch_size=watch.batch_size,
        dataloader_num_workers=settings.workers,
        ddp_find_unused_parameters=False,
        load_best_model_at_end=bool(len(dev)) and watch.keep == "best",
        metric_for_best_model="eval_loss" if len(dev) else None,
        greater_is_better=False if len(dev) else None,
        prediction_loss_only=True,
    )
    base: Any = transformers.Trainer

    class Wrapped(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Hides the model's settings, which Trainer takes for those of transformers.

        Trainer walks through all modules several times a step; on a GPU that is a part of its time.
        """

        def __init__(self) -> None:
            super().__init__()
            self.graph_llm = learnt
            self._parameters_found = list(super().parameters())

        def forward(self, **inputs: Any) -> Any:
            return self.graph_llm(**inputs)

        def parameters(self, recurse: bool = True) -> Iterator[Any]:
            return iter(self._parameters_found)

        def train(self, mode: bool = True) -> Any:
            return self if mode == self.training == self.graph_llm.training else super().train(mode)

    class GraphTrainer(base):  # type: ignore[misc]
        def _get_train_sampler(self, *_: Any) -> Mixed:
            return order

        def create_optimizer(self, *_: Any) -> Any:
            groups = parameter_groups(model, config)
            self.optimizer = torch.optim.AdamW(
                groups, lr=settings.learning_rate, fused=torch.cuda.is_available()
            )
            return self.optimizer

        def evaluate(self, *args: Any, **kwargs: Any) -> Any:
            started = time.monotonic()
            metrics = super().evaluate(*args, **kwargs)
            if measure is not None:
                summary = measure().summary()
                self.log(summary | {MEASURED: round(time.monotonic() - started, 2)})
            return metrics

        def prediction_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
            """Return the mean of the records' losses, which no batch size changes."""
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

        def _load_best_model(self) -> None:
            load_trained(model, Path(self.state.best_model_checkpoint))

    trainer = GraphTrainer(
        model=Wrapped(),
        args=arguments,
        data_collator=collate,
        train_dataset=train,
        eval_dataset=dev if len(dev) else None,
        callbacks=callbacks,
    )
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _in_loaders(model: GraphLLM) -> Callable[[Graphs], GraphBatch] | None:
    """Return what batches graphs as the model's own encoder does; None for another encoder."""
    # Here, as they import torch.
    from ras_flow.graph_llm.batching import batch_graphs  # noqa: PLC0415
    from ras_flow.graph_llm.gnn import GraphEncoder  # noqa: PLC0415

    encoder = model.encoder if model.config.gnn else None
    if not isinstance(encoder, GraphEncoder):
        return None
    return partial(batch_graphs, config=encoder.config, dimension=encoder.dimension)


def parameter_groups(model: GraphLLM, config: TrainingConfig) -> list[dict[str, Any]]:
    """Return the trainable weights by learning rate, biases and norms without decay."""
    settings = config.optimizer
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
