"""Text-to-text training on transformers' Trainer; it can stop at any step and go on later."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.graph_llm.manifest import is_checkpoint, read_manifest
from ras_flow.llms.local.adapter import ADAPTER, ADAPTER_SETTINGS, without_peft_warnings
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import Tuned, extractor_name, find_tuned
from ras_flow.support.extras import require
from ras_flow.support.paths import path_named
from ras_flow.training.callbacks import dev_losses
from ras_flow.training.checkpoints import last_checkpoint
from ras_flow.training.order import LengthGrouped
from ras_flow.training.processes import examples_a_step, own_gpu
from ras_flow.training.run import Logger, Progress, claim, finish, own_run
from ras_flow.training.texts.config import LoraSettings, ModelSettings, TextTraining
from ras_flow.training.texts.encoding import Encoder, Rows, batches_of, mean_loss
from ras_flow.training.texts.folder import Card, write_folder
from ras_flow.training.trainer import make_trainer, train_on

CLASSES = {"causal": "AutoModelForCausalLM", "seq2seq": "AutoModelForSeq2SeqLM"}


@dataclass(frozen=True)
class Prepared:
    """Encoded examples of ``train`` and ``dev``, and how many of each part and source there are."""

    rows: Mapping[str, Rows]
    counts: Mapping[str, Mapping[str, int]]


def train(
    config: TextTraining,
    output: Path,
    prepare: Callable[[Encoder], Prepared],
    card: Card,
    *,
    seconds: float | None = None,
    examples: int | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train a model, or go on where an earlier call stopped.

    ``prepare`` cuts the data to so many ``examples``; a run goes on with the same number only.
    """
    own_gpu()
    deadline = None if seconds is None else time.monotonic() + seconds
    settings, kind = config.optimizer, config.model.kind
    with own_run(output) as run:
        first = first_model(config)
        began = first.key if first else ""
        encoder = Encoder(training_tokenizer(config.model), kind, config.lengths)
        prepared = prepare(encoder)
        encoded = prepared.rows
        if not encoded["train"]:
            raise InputError("Every example is longer than the settings allow. Raise `lengths`.")
        log(f"{len(encoded['train'])} examples for training, {len(encoded['dev'])} for watching it")
        require("transformers", extra="local").set_seed(settings.seed)
        model = _model(config, first)
        order = LengthGrouped(
            [len(row["input_ids"]) for row in encoded["train"]],
            examples_a_step(settings),
            settings.seed,
        )
        trainer = make_trainer(
            run,
            settings,
            model,
            order,
            encoded["train"],
            encoded["dev"],
            batches_of(encoder.tokenizer, model, kind),
            every=config.saving.every,
            deadline=deadline,
            loss=mean_loss if kind == "seq2seq" else None,
            log=log,
            per_device_eval_batch_size=settings.batch_size,
            ddp_find_unused_parameters=False,
        )
        claim(run, config, encoded, examples=examples, began=began)
        checkpoint = last_checkpoint(run)
        lower = "lower `lengths`, which needs a new output"
        finished = train_on(trainer, settings, checkpoint, log=log, lower=lower)
        state = trainer.state
        if finished and trainer.is_world_process_zero():
            losses = dev_losses(state.log_history)
            trained = {
                "began": began,
                "examples": len(encoded["train"]),
                "steps": state.global_step,
                "dev_loss": round(losses[-1], 4) if losses else None,
                "counts": prepared.counts,
            }
            finish(
                run,
                output,
                lambda folder: write_folder(folder, trainer.model, config, trained, card),
            )
        return Progress(finished, state.global_step, state.max_steps)


def training_tokenizer(model: ModelSettings) -> Any:
    """Return a model's tokenizer that can pad batches."""
    causal = model.kind == "causal"
    tokenizer = load_tokenizer(model.name, chat=causal)
    if not tokenizer.is_fast:
        raise ConfigurationError(
            f"The model {model.name!r} has no fast tokenizer, which training needs. Name one with "
            "a tokenizer.json."
        )
    # Targets end together, so that the logits of the prompts before them need not be computed.
    tokenizer.padding_side = "left" if causal else "right"
    # Any token will do: padding is masked and not learnt from.
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def _model(config: TextTraining, first: Tuned | None) -> Any:
    """Return the model to train, with the adapter of the model that training begins with."""
    model = read_model(config.model.name, config.model.dtype, kind=CLASSES[config.model.kind])
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


def first_model(config: TextTraining) -> Tuned | None:
    """Return the trained model that training begins with."""
    start = config.model.start
    if not start:
        return None
    tuned = _started_from(extractor_name(start).removeprefix("local:"), config)
    if not config.lora.rank:
        raise ConfigurationError(
            "model.start goes on with an adapter, and lora.rank = 0 trains the whole model. Name a "
            "model to train in model.name, or set lora.rank."
        )
    if tuned is None or not tuned.adapter:
        raise ConfigurationError(
            f"model.start = {start!r} is not an adapter. Name local:default, or local: with a "
            "folder that `ras-flow train` wrote with a `lora.rank`."
        )
    for name, want, found in (
        ("model.name", config.model.name, tuned.base),
        ("model.kind", config.model.kind, tuned.kind),
        ("the instructions", dict(config.instructions), tuned.instructions),
    ):
        if want != found:
            raise ConfigurationError(
                f"{start!r} of model.start was trained with {name} = {found!r}, and "
                f"the settings say {want!r}. Set it so, or leave model.start out."
            )
    return tuned


def _started_from(name: str, config: TextTraining) -> Tuned | None:
    """Return a trained model; a Graph LLM's adapter as if it had the settings' instructions."""
    folder = path_named(name)
    if not is_checkpoint(folder):
        return find_tuned(name)
    manifest = read_manifest(folder)
    return Tuned(
        folder=folder,
        kind="causal",
        base=manifest.config.base,
        adapter=manifest.config.lora is not None,
        instructions=dict(config.instructions),
        max_new_tokens=config.lengths.target,
        files={n: own for n, own in manifest.files.items() if n in (ADAPTER_SETTINGS, ADAPTER)},
    )


def load_adapter(model: Any, tuned: Tuned) -> None:
    """Give a new adapter the weights of a trained one."""
    tuned.check_files(tuned.folder, tuned.files)
    peft = require("peft", extra="local")
    found = peft.LoraConfig.from_pretrained(str(tuned.folder))
    wanted = model.peft_config["default"]
    weights = peft.load_peft_weights(str(tuned.folder), device="cpu")
    here = {
        name: tuple(weight.shape) for name, weight in peft.get_peft_model_state_dict(model).items()
    }
    same = {name: tuple(weight.shape) for name, weight in weights.items()} == here
    if not same or found.lora_alpha != wanted.lora_alpha:
        raise ConfigurationError(
            f"The adapter in {tuned.folder} has rank {found.r}, alpha {found.lora_alpha} and "
            f"{len(weights)} weights, the settings make one of rank {wanted.r}, alpha "
            f"{wanted.lora_alpha} and {len(here)} weights. Set [lora] as it was trained, or leave "
            "model.start out."
        )
    peft.set_peft_model_state_dict(model, weights)
