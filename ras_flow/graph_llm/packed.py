"""The loss of a Graph LLM without padding (§3.4): what its ``forward`` says, sooner.

Over a small base a GPU waits for what it is told more than it computes. So here it is told less,
and a CPU has less to compute:

* The rows of a batch are laid end to end, and attention alone sees them apart.
* LoRA is added to the weights once a batch, those of all layers together: (W + B A) x, where peft
  computes W x + B (A x). Without dropout between, these are the same.
* The layers are those of a Llama, written down once more as two functions around attention, which
  are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.batching import GraphBatch, Graphs
from ras_flow.graph_llm.collate import IGNORED, Collated
from ras_flow.graph_llm.model import GraphLLM, loss_of

_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
_MLP = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Rows:
    """Where tokens that are laid end to end stand in their rows.

    Attributes:
        places: Of each token, in rows as long as the longest; shape (tokens,).
        lengths: Tokens of each row.
    """

    places: torch.Tensor
    lengths: list[int]


class PackedGraphLLM(nn.Module):
    """Computes the loss of a Graph LLM, whose weights it shares.

    It keeps a copy of the layers' frozen weights.
    """

    def __init__(self, model: GraphLLM) -> None:
        super().__init__()
        _check(model)
        self.graph_llm = model
        body = model.base.base_model
        self._layers = {
            name: [
                getattr(layer.self_attn if name in _ATTENTION else layer.mlp, name)
                for layer in body.layers
            ]
            for name in (*_ATTENTION, *_MLP)
        }
        self._frozen = {
            name: torch.stack([_base_of(linear).weight.detach() for linear in linears])
            for name, linears in self._layers.items()
        }
        self._before: Callable[..., Any] = _before
        self._after: Callable[..., Any] = _after

    def compile_layers(self) -> None:
        """Compile the layers, which takes some seconds at the first batch."""
        self._before, self._after = torch.compile(_before), torch.compile(_after)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        graphs: Graphs | GraphBatch,
        labels: torch.Tensor,
        weights: torch.Tensor | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> dict[str, torch.Tensor]:
        """Return the ``loss``; arguments and errors are those of :meth:`.GraphLLM.forward`."""
        kept = attention_mask.bool()
        lengths = attention_mask.sum(1)
        at = (attention_mask.cumsum(1) - 1)[kept]
        row = torch.repeat_interleave(torch.arange(len(lengths), device=at.device), lengths)
        rows = Rows(row * lengths.max() + at, lengths.tolist())
        states = self._states(self.graph_llm.embed(input_ids, graphs)[kept], at, rows)
        # A label is what follows the token before it; a row begins with its prompt.
        learned = labels[kept] != IGNORED
        logits = self.graph_llm.base.get_output_embeddings()(
            states[learned.nonzero().squeeze(1) - 1]
        )
        return {
            "loss": loss_of(
                logits,
                labels[kept][learned],
                None if weights is None else weights[kept][learned],
                num_items_in_batch,
            )
        }

    def _states(self, words: torch.Tensor, at: torch.Tensor, rows: Rows) -> torch.Tensor:
        """Return what the last layer makes of embeddings."""
        body = self.graph_llm.base.base_model
        device = words.device.type
        half = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
        with torch.autocast(device, enabled=False):
            states = words.float()
            cos, sin = (part[0].unsqueeze(1) for part in body.rotary_emb(states, at.unsqueeze(0)))
            attend = _attend_by_row if device == "cpu" else _attend_padded
            for layer, merged in zip(body.layers, self._merged(half or states.dtype), strict=True):
                qkv, out, gate_up, down = merged
                first, second = layer.input_layernorm, layer.post_attention_layernorm
                epsilon = first.variance_epsilon
                width = layer.self_attn.head_dim
                heads = layer.self_attn.o_proj.in_features // width
                query, key, value = self._before(
                    states, first.weight, qkv, cos, sin, epsilon, width, heads
                )
                seen = attend(query, key, value, rows, layer.self_attn.scaling)
                states = self._after(states, seen, out, second.weight, gate_up, down, epsilon)
            return _normed(states, body.norm.weight, body.norm.variance_epsilon)

    def _merged(self, dtype: torch.dtype) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield of each layer the weights with LoRA added, those that read the same as one."""
        made = {name: self._with_lora(name).to(dtype) for name in self._layers}
        together = (
            torch.cat([made["q_proj"], made["k_proj"], made["v_proj"]], dim=1),
            made["o_proj"],
            torch.cat([made["gate_proj"], made["up_proj"]], dim=1),
            made["down_proj"],
        )
        return zip(*(weight.unbind() for weight in together), strict=True)

    def _with_lora(self, name: str) -> torch.Tensor:
        """Return the weights of a kind of linear layers, shape (layers, out, in)."""
        linears = self._layers[name]
        if not hasattr(linears[0], "lora_A"):
            return self._frozen[name]
        down, up = (
            torch.stack([part["default"].weight for part in parts])
            for parts in zip(*((one.lora_A, one.lora_B) for one in linears), strict=True)
        )
        scaling: float = linears[0].scaling["default"]
        return self._frozen[name] + scaling * torch.bmm(up, down)


def check_packed(packed: PackedGraphLLM, batch: Collated) -> None:
    """Check that a model is computed rightly so."""
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


def _check(model: GraphLLM) -> None:
    lora, config = model.config.lora, model.base.config
    if lora is None or lora.dropout:
        raise ConfigurationError(
            "optimizer.packed takes a model with LoRA, and without its dropout. Set "
            "lora.dropout = 0, or leave optimizer.packed out."
        )
    others = ("attention_bias", "mlp_bias", "attention_dropout")
    if (
        config.model_type != "llama"
        or config.hidden_act != "silu"
        or any(getattr(config, name) for name in others)
    ):
        raise ConfigurationError(
            f"optimizer.packed takes a base model of type llama without biases or dropout, and "
            f"{model.config.base!r} is of type {config.model_type}. Leave it out."
        )
    if not set(lora.targets) <= {*_ATTENTION, *_MLP}:
        raise ConfigurationError(
            f"optimizer.packed takes LoRA on {', '.join((*_ATTENTION, *_MLP))}. Name these alone "
            "in lora.targets, or leave optimizer.packed out."
        )


def _base_of(linear: Any) -> Any:
    return getattr(linear, "base_layer", linear)


def _normed(states: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    return states * torch.rsqrt(states.square().mean(-1, keepdim=True) + epsilon) * weight


def _turned(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn heads by their positions: rotary embeddings."""
    first, second = heads.float().chunk(2, dim=-1)
    turned = heads.float() * cos + torch.cat([-second, first], dim=-1) * sin
    return turned.to(heads.dtype)


def _before(
    states: torch.Tensor,
    norm: torch.Tensor,
    qkv: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    epsilon: float,
    width: int,
    heads: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return queries, keys and values, shape (tokens, heads, width)."""
    asked = _normed(states, norm, epsilon).to(qkv.dtype) @ qkv.T
    query, key_value = asked.view(len(states), -1, width).tensor_split([heads], dim=1)
    key, value = key_value.chunk(2, dim=1)
    return _turned(query, cos, sin), _turned(key, cos, sin), value


def _attend_padded(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rows: Rows, scaling: float
) -> torch.Tensor:
    """Let each token see those before it in its row; of all, shape (tokens, heads, width)."""
    count, longest = len(rows.lengths), max(rows.lengths)

    def apart(tokens: torch.Tensor) -> torch.Tensor:
        _, heads, width = tokens.shape
        empty = tokens.new_zeros(count * longest, heads, width)
        placed = empty.index_copy(0, rows.places, tokens)
        return placed.view(count, longest, heads, width)

    # Padding is at the ends of rows, where no token of theirs sees it.
    seen = _attend(apart(query), apart(key), apart(value), scaling)
    return seen.flatten(0, 1)[rows.places]


def _attend_by_row(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, rows: Rows, scaling: float
) -> torch.Tensor:
    """Do what :func:`_attend_padded` does by more calls, without padding: sooner on a CPU."""
    parts = (torch.split(part[None], rows.lengths, dim=1) for part in (query, key, value))
    return torch.cat([_attend(q, k, v, scaling)[0] for q, k, v in zip(*parts, strict=True)])


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
) -> torch.Tensor:
    """Let each token see those before it, all of shape (rows, tokens, heads, width)."""
    seen = nn.functional.scaled_dot_product_attention(
        query.transpose(1, 2),
        key.transpose(1, 2),
        value.transpose(1, 2),
        is_causal=True,
        scale=scaling,
        enable_gqa=key.shape[2] < query.shape[2],
    )
    return seen.transpose(1, 2)


def _after(
    states: torch.Tensor,
    seen: torch.Tensor,
    out: torch.Tensor,
    norm: torch.Tensor,
    gate_up: torch.Tensor,
    down: torch.Tensor,
    epsilon: float,
) -> torch.Tensor:
    """Return the states after a layer, shape (tokens, width)."""
    states = states + (seen.flatten(1) @ out.T).float()
    gate, up = (_normed(states, norm, epsilon).to(gate_up.dtype) @ gate_up.T).chunk(2, dim=-1)
    inner = nn.functional.silu(gate.float()) * up.float()
    return states + (inner.to(down.dtype) @ down.T).float()
