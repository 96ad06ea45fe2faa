"""What training begins with: new weights, or those of a model that was trained before."""

from __future__ import annotations

from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.tuned import Tuned, check_files, extractor_name, find_tuned
from ras_flow.support.extras import require
from ras_flow.training.texts.config import TextTraining


def first_model(config: TextTraining) -> Tuned | None:
    """Return the trained model that training begins with."""
    start = config.model.start
    if not start:
        return None
    tuned = find_tuned(extractor_name(start).removeprefix("local:"))
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


def load_adapter(model: Any, tuned: Tuned) -> None:
    """Give a new adapter the weights of a trained one."""
    check_files(tuned.folder, tuned.files)
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
