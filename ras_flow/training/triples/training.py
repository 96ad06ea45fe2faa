"""Training of an extractor, on transformers' Trainer; it can stop at any step and go on later."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import Tuned, without_peft_warnings
from ras_flow.support.extras import require
from ras_flow.training.arguments import training_arguments
from ras_flow.training.callbacks import callbacks
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.order import LengthGrouped
from ras_flow.training.processes import own_gpu, processes
from ras_flow.training.run import (
    Logger,
    Progress,
    claim,
    finish,
    own_run,
    train_on,
)
from ras_flow.training.triples.config import LoraSettings, TrainingConfig
from ras_flow.training.triples.data import load_data
from ras_flow.training.triples.encoding import IGNORED, Collator, Encoder
from ras_flow.training.triples.folder import write_folder
from ras_flow.training.triples.start import first_extractor, load_adapter

CLASSES = {"causal": "AutoModelForCausalLM", "seq2seq": "AutoModelForSeq2SeqLM"}


def train(
    config: TrainingConfig,
    output: Path,
    *,
    data: Path = Path(),
    seconds: float | None = None,
    examples: int | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train an extractor, or go on where an earlier call stopped.

    Stopped and resumed as often as you like, a run ends with the same weights as without a stop
    (on the same machine). Checkpoints are in ``OUTPUT.run`` until the folder is written.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    with own_run(output) as run:
        return _train(config, run, output, data, deadline, examples, log)


def _train(
    config: TrainingConfig,
    run: Path,
    output: Path,
    data: Path,
    deadline: float | None,
    examples: int | None,
    log: Logger,
) -> Progress:
    transformers = require("transformers", extra="local")
    own_gpu()
    first = first_extractor(config)
    loaded = load_data(config.data, data)
    encoder = Encoder(_tokenizer(config), config.model, config.lengths)
    encoded = {
        part: [
            row for example in getattr(loaded.splits, part)[:examples] if (row := encoder(example))
        ]
        for part in ("train", "dev")
    }
    if not encoded["train"]:
        raise InputError("Every example is longer than the settings allow. Raise `lengths`.")
    log(f"{len(encoded['train'])} examples for training, {len(encoded['dev'])} for watching it")
    transformers.set_seed(config.optimizer.seed)
    model = _model(config, first)
    # Which token pads does not matter, since it is masked and unlearnt.
    pad = encoder.tokenizer.pad_token_id or 0
    collator = Collator(pad, causal=config.model.kind == "causal")
    told = callbacks(deadline=deadline, patience=0, log=log)
    trainer = _trainer(config, run, model, encoded, collator, told, log)
    record = {**asdict(config), "examples": examples, "began": first and first.key}
    begun = claim(run, record, encoded)
    checkpoint = last_checkpoint(run, begun)
    log(f"going on from {checkpoint.name}" if checkpoint else "starting")
    optimizer = config.optimizer
    with memory_errors_say(
        f"Memory ran out. Halve optimizer.batch_size (now {optimizer.batch_size}) and double "
        f"optimizer.accumulation (now {optimizer.accumulation}), and run it again: it goes on from "
        "the last checkpoint. If that is not enough, lower `lengths`, which needs a new output."
    ):
        finished = train_on(trainer, checkpoint)
    state = trainer.state
    if finished and trainer.is_world_process_zero():
        losses = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
        trained = {
            "began": first.key if first else "",
            "examples": len(encoded["train"]),
            "steps": state.global_step,
            "dev_loss": round(losses[-1], 4) if losses else None,
            "counts": loaded.counts(),
        }
        finish(run, output, lambda folder: write_folder(folder, trainer.model, config, trained))
    return Progress(finished, state.global_step, state.max_steps)


def _tokenizer(config: TrainingConfig) -> Any:
    tokenizer = load_tokenizer(config.model.name, chat=config.model.kind == "causal")
    if not tokenizer.is_fast:
        raise ConfigurationError(
            f"The model {config.model.name!r} has no fast tokenizer, which training needs. Name "
            "one with a tokenizer.json."
        )
    return tokenizer


def _model(config: TrainingConfig, first: Tuned | None) -> Any:
    """Return the model to train, with the adapter of the extractor that training begins with."""
    model = read_model(config.model.name, kind=CLASSES[config.model.kind])
    if config.model.kind == "seq2seq":
        model.accepts_loss_kwargs = True  # So that Trainer counts the labels of a step.
    if config.lora.rank:
        model = _with_adapter(model, config.lora, config.model.kind)
    if first:
        load_adapter(model, first)
    return model


def _with_adapter(model: Any, lora: LoraSettings, kind: str) -> Any:
    peft = require("peft", extra="local")
    targets = lora.targets if isinstance(lora.targets, str) else list(lora.targets)
    try:
        with without_peft_warnings():
            return peft.get_peft_model(
                model,
                peft.LoraConfig(
                    task_type="CAUSAL_LM" if kind == "causal" else "SEQ_2_SEQ_LM",
                    r=lora.rank,
                    lora_alpha=lora.alpha,
                    lora_dropout=lora.dropout,
                    target_modules=targets,
                ),
            )
    except ValueError as error:
        raise ConfigurationError(f"The adapter does not fit the model: {error}") from error


def _trainer(
    config: TrainingConfig,
    run: Path,
    model: Any,
    encoded: dict[str, list[dict[str, list[int]]]],
    collator: Collator,
    callbacks: list[Any],
    log: Logger,
) -> Any:
    transformers = require("transformers", extra="local")
    trainer_class = transformers.Trainer
    settings = config.optimizer
    arguments = training_arguments(
        run,
        settings,
        an_epoch=len(encoded["train"]),
        every=config.saving.every,
        watched=bool(encoded["dev"]),
        log=log,
        per_device_eval_batch_size=settings.batch_size,
    )
    order = LengthGrouped(
        [len(row["input_ids"]) for row in encoded["train"]],
        settings.batch_size * settings.accumulation * processes(),
        settings.seed,
    )

    class Ordered(trainer_class):  # type: ignore[misc, valid-type]
        def _get_train_sampler(self, *_: Any) -> LengthGrouped:
            return order

        def compute_loss(
            self,
            model: Any,
            inputs: Any,
            return_outputs: bool = False,
            num_items_in_batch: Any = None,
        ) -> Any:
            """Return the loss of a batch as its share in that of the step, token by token."""
            if config.model.kind == "causal" or num_items_in_batch is None:
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            # T5 and its kind would take the number of a step's labels, and not divide by it.
            mean, outputs = super().compute_loss(model, inputs, return_outputs=True)
            share = (inputs["labels"] != IGNORED).sum() / num_items_in_batch
            # The gradients of several processes are averaged.
            loss = mean * share * processes()
            return (loss, outputs) if return_outputs else loss

    trainer = Ordered(
        model=model,
        args=arguments,
        data_collator=collator,
        train_dataset=encoded["train"],
        eval_dataset=encoded["dev"] or None,
        callbacks=callbacks,
    )
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer
