"""The loss of a Graph LLM without padding (§3.4): what its ``forward`` says, sooner on a GPU.

The rows of a batch are laid end to end, and attention alone sees them apart. LoRA is added to the
weights once a batch, (W + B A) x, where peft computes W x + B (A x): without dropout between, these
are the same. What is left are the base's own layers, which are compiled.
"""

from __future__ import annotations

from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ras_flow.errors import ConfigurationError
from ras_flow.extras import require
from ras_flow.graph_llm.collate import IGNORED, Collated
from ras_flow.graph_llm.model import GraphLLM, loss_of
from ras_flow.graph_llm.soft import Graphs

NAME = "ras_flow_packed"
"""The name of our attention among those of transformers."""


@dataclass(frozen=True)
class Rows:
    """Where tokens that are laid end to end stand in their rows.

    Attributes:
        places: Of each token, in rows of ``longest`` tokens; shape (tokens,).
        count: How many rows there are.
        longest: Tokens of the longest.
    """

    places: torch.Tensor
    count: int
    longest: int


_SEES = nn.functional.scaled_dot_product_attention

_ROWS: ContextVar[Rows] = ContextVar("rows")


class PackedGraphLLM(nn.Module):
    """Computes the loss of a Graph LLM, whose weights it shares.

    Args:
        model: The model, with LoRA and without dropout in it.
        compiled: Compile the layers, which takes a minute at first, and is then faster on a GPU.

    Raises:
        ConfigurationError: The model has no LoRA, or dropout in it.
    """

    def __init__(self, model: GraphLLM, *, compiled: bool = False) -> None:
        super().__init__()
        if model.config.lora is None or model.config.lora.dropout:
            raise ConfigurationError(
                "optimizer.packed takes a model with LoRA, and without its dropout. Set "
                "lora.dropout = 0, or leave optimizer.packed out."
            )
        transformers = require("transformers", extra="local")
        transformers.AttentionInterface.register(NAME, _attention)
        body = model.base.base_model
        with torch.device("meta"):
            # Of a copy: it writes the attention's name into what it is given.
            config = deepcopy(body.config)
            layers = transformers.AutoModel.from_config(config, attn_implementation=NAME)
        if compiled:
            for layer in layers.layers:
                layer.compile(dynamic=True)
        self.graph_llm = model
        # In a list: it has no weights of its own, so it is no part of this module.
        self._layers = [layers.train()]
        parts = (*layers.named_parameters(), *layers.named_buffers())
        self._names = [name for name, _ in parts]
        self._adapted = {
            name: module for name, module in body.named_modules() if hasattr(module, "lora_A")
        }

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        graphs: Graphs,
        labels: torch.Tensor,
        weights: torch.Tensor | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> dict[str, torch.Tensor]:
        """Return the ``loss``; arguments and errors are those of :meth:`.GraphLLM.forward`."""
        kept = attention_mask.bool()
        lengths = attention_mask.sum(1)
        at = (attention_mask.cumsum(1) - 1)[kept]
        longest = int(lengths.max())
        row = torch.repeat_interleave(torch.arange(len(lengths), device=at.device), lengths)
        told = _ROWS.set(Rows(row * longest + at, len(lengths), longest))
        try:
            output = torch.func.functional_call(
                self._layers[0],
                self._weights(),
                kwargs={
                    "inputs_embeds": self.graph_llm.embed(input_ids, graphs)[kept].unsqueeze(0),
                    "position_ids": at.unsqueeze(0),
                    "use_cache": False,
                },
                strict=True,
            )
        finally:
            _ROWS.reset(told)
        # A label is what follows the token before it; a row begins with its prompt.
        learned = labels[kept] != IGNORED
        before = output.last_hidden_state[0][learned.nonzero().squeeze(1) - 1]
        logits = self.graph_llm.base.get_output_embeddings()(before)
        return {
            "loss": loss_of(
                logits,
                labels[kept][learned],
                None if weights is None else weights[kept][learned],
                num_items_in_batch,
            )
        }

    def _weights(self) -> dict[str, torch.Tensor]:
        """Return the weights of the layers, LoRA added to those that it adapts."""
        body = self.graph_llm.base.base_model
        device = body.device.type
        autocast = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device) if autocast else torch.float32
        held = {**dict(body.named_parameters()), **dict(body.named_buffers())}
        made = {}
        for name in self._names:
            owner, _, own = name.rpartition(".")
            adapted = self._adapted.get(owner)
            value = held[name if adapted is None else f"{owner}.base_layer.{own}"]
            if adapted is not None and own == "weight":
                value = (value + adapted.get_delta_weight("default")).to(dtype)
            made[name] = value
        return made


def check_packed(packed: PackedGraphLLM, batch: Collated) -> None:
    """Check that a base model can be trained so.

    Args:
        packed: The model.
        batch: A few examples.

    Raises:
        ConfigurationError: The loss of the examples is not that of the model's own ``forward``.
    """
    model = packed.graph_llm
    training = model.training
    model.eval()
    with torch.no_grad():
        here = {
            name: value.to(model.device) if isinstance(value, torch.Tensor) else value
            for name, value in batch.items()
        }
        own, other = model(**here)["loss"], packed(**here)["loss"]
    model.train(training)
    if not torch.isclose(own, other, rtol=1e-2):
        raise ConfigurationError(
            f"{model.config.base!r} cannot be trained with optimizer.packed: the loss would be "
            f"{float(other):.4f} where it is {float(own):.4f}. Leave it out."
        )


def _attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    return _attend(query[0], key[0], value[0], dropout, scaling), None


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout: float,
    scaling: float | None,
) -> torch.Tensor:
    """Let each token see those before it in its row.

    Args:
        query: Shape (heads, tokens, width of a head).
        key: The same, of as many heads or a part of them.
        value: Like ``key``.
        dropout: Share of what is seen that is left out by chance.
        scaling: Of the products; None for the usual one.

    Returns:
        Shape (1, tokens, heads, width of a head).
    """
    rows = _ROWS.get()

    def apart(tokens: torch.Tensor) -> torch.Tensor:
        heads, _, width = tokens.shape
        empty = tokens.new_zeros(heads, rows.count * rows.longest, width)
        placed = empty.index_copy(1, rows.places, tokens)
        return placed.view(heads, rows.count, rows.longest, width).transpose(0, 1)

    # Padding is at the ends of rows, where no token of theirs sees it.
    seen = _SEES(
        apart(query),
        apart(key),
        apart(value),
        dropout_p=dropout,
        is_causal=True,
        scale=scaling,
        enable_gqa=len(key) < len(query),
    )
    flat = seen.transpose(1, 2).reshape(rows.count * rows.longest, len(query), -1)
    return flat[rows.places].unsqueeze(0)
