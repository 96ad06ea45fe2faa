"""transformers' Trainer, as every model here is trained with it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

from ras_flow.llms.local.adapter import without_peft_warnings
from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.support.extras import require
from ras_flow.training.callbacks import at_end, callbacks
from ras_flow.training.checkpoints import STATE
from ras_flow.training.processes import examples_a_step
from ras_flow.training.run import Logger
from ras_flow.training.settings import OptimizerSettings


def make_trainer(
    run: Path,
    settings: OptimizerSettings,
    model: Any,
    order: Any,
    train: Any,
    dev: Any,
    collate: Callable[..., Any],
    *,
    every: int,
    deadline: float | None,
    patience: int = 0,
    kind: Any = None,
    optimizer: Any = None,
    loss: Callable[..., Any] | None = None,
    log: Logger,
    **arguments: Any,
) -> Any:
    """Make a trainer that shows the examples in an order of ours and stops in time.

    ``kind`` is a subclass of Trainer; ``arguments`` go to ``transformers.TrainingArguments``.
    """
    transformers = require("transformers", extra="local")
    base: Any = kind or transformers.Trainer
    if settings.gradient_checkpointing:
        with without_peft_warnings():
            for part in model.modules():
                if isinstance(part, transformers.PreTrainedModel):
                    # Processes that train together wait for each gradient once.
                    part.gradient_checkpointing_enable({"use_reentrant": False})
    if settings.compile:
        _compile_layers(model)

    class Ordered(base):  # type: ignore[misc]
        def _get_train_sampler(self, *_: Any) -> Any:
            return order

        def _load_best_model(self) -> None:
            # Not by the path that the state names: a run may have been moved.
            self._load_from_checkpoint(str(run / f"checkpoint-{self.state.best_global_step}"))

    trainer = Ordered(
        model=model,
        args=_arguments(run, settings, len(order), every, bool(len(dev)), log, arguments),
        data_collator=collate,
        train_dataset=train,
        eval_dataset=dev if len(dev) else None,
        callbacks=callbacks(deadline=deadline, patience=patience, log=log),
        optimizers=(optimizer, None),
        compute_loss_func=loss,
    )
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def train_on(
    trainer: Any,
    settings: OptimizerSettings,
    checkpoint: Path | None,
    *,
    patience: int = 0,
    log: Logger,
    lower: str,
) -> bool:
    """Train until the run's end or a callback stops it; return whether it is at its end.

    A checkpoint that is at the run's end is loaded and not trained further.

    Raises:
        ConfigurationError: Memory ran out; ``lower`` says what else than the batch can be smaller.
    """
    log(f"going on from {checkpoint.name}" if checkpoint else "starting")
    if checkpoint is not None:
        trainer_state = require("transformers", extra="local").TrainerState
        state = trainer_state.load_from_json(str(checkpoint / STATE))
        if at_end(state, patience):
            trainer.state = state
            if trainer.args.load_best_model_at_end and state.best_global_step:
                trainer._load_best_model()
            else:
                trainer._load_from_checkpoint(str(checkpoint))
            return True
        # If processes train together, accelerate does not set the epoch that a run resumes in.
        trainer._get_train_sampler().set_epoch(int(state.epoch))
    with memory_errors_say(
        f"Memory ran out. Halve optimizer.batch_size (now {settings.batch_size}) and double "
        f"optimizer.accumulation (now {settings.accumulation}), or set "
        "optimizer.gradient_checkpointing = true, and give the same command again: it goes on from "
        f"the last checkpoint. If that is not enough, {lower}."
    ):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return at_end(trainer.state, patience)


def _compile_layers(model: Any) -> None:
    """Compile the layers for training alone: what is measured has too many other shapes."""
    torch = require("torch", extra="local")
    layer = require("transformers.modeling_layers", extra="local").GradientCheckpointingLayer
    for part in model.modules():
        if isinstance(part, layer):
            part.forward = _when_training(part, torch.compile(part.forward, dynamic=True))


def _when_training(layer: Any, compiled: Callable[..., Any]) -> Callable[..., Any]:
    eager = layer.forward
    return lambda *args, **kwargs: (compiled if layer.training else eager)(*args, **kwargs)


def _arguments(
    run: Path,
    settings: OptimizerSettings,
    an_epoch: int,
    every: int,
    watched: bool,
    log: Logger,
    more: dict[str, Any],
) -> Any:
    transformers = require("transformers", extra="local")
    require("accelerate", extra="local")
    torch = require("torch", extra="local")
    gpu = torch.cuda.is_available()
    arguments = transformers.TrainingArguments(
        output_dir=str(run),
        per_device_train_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        num_train_epochs=settings.epochs,
        max_steps=_fewer_steps(settings, an_epoch),
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.clip,
        # Set explicitly, or several processes without a GPU would each train alone.
        use_cpu=not gpu and not torch.backends.mps.is_available(),
        bf16=settings.precision == "bf16" or (settings.precision == "auto" and gpu),
        dataloader_pin_memory=gpu,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        eval_strategy="steps" if watched else "no",
        eval_steps=every,
        logging_steps=max(1, every // 10),
        logging_first_step=True,
        seed=settings.seed,
        data_seed=settings.seed,
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=True,
        report_to=[],
        **more,
    )
    if arguments.n_gpu > 1:  # transformers would give each of them a batch of its own.
        log(f"using one of {arguments.n_gpu} GPUs; start it with torchrun to train on more")
        arguments._n_gpu = 1
    return arguments


def _fewer_steps(settings: OptimizerSettings, an_epoch: int) -> int:
    """Return the steps that end before the epochs do, else -1: Trainer would go on past these."""
    epoch_steps = ceil(an_epoch / examples_a_step(settings))
    ends = 0 < settings.steps < ceil(settings.epochs * epoch_steps)
    return settings.steps if ends else -1
