"""Tiny random Graph LLMs and small graphs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from ras_flow.graph_llm.attributes import attribute_graph
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.config import GnnConfig, GraphLLMConfig, LoraConfig
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.llms.local.tokenizer import forget_tokenizer
from ras_flow.parts import AttributedGraph, ChainLink
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Hop, Triple
from ras_flow.testing import HashEncoder
from tests.llms.tiny import save_tiny_model

LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
GNN = GnnConfig(hidden=16, layers=2, heads=2)

BRIDGE = [
    [("Aurora Bridge", "designer", "Mira Lund"), ("Aurora Bridge", "year", "1961")],
    [("Mira Lund", "place of birth", "Narvik"), ("Narvik", "country", "Norway")],
]
LOOP = [[("Ouroboros", "eats", "Ouroboros"), ("Ouroboros", "is a", "snake")]]
APART = [[("a", "p", "b"), ("c", "q", "d"), ("e", "r", "f")]]
HALF = [[("a", "p", "b")], []]
FAILED: list[list[tuple[str, str, str]]] = [[], []]


def chain(*hops: Sequence[tuple[str, str, str]]) -> list[ChainLink]:
    """Return a subquery chain with these triples."""
    return [
        ChainLink(f"query {i}", [Triple(subject=s, predicate=p, object=o, passages=[])
                                 for s, p, o in hop])
        for i, hop in enumerate(hops)
    ]  # fmt: skip


def graph(*hops: Sequence[tuple[str, str, str]], dimension: int = 8) -> AttributedGraph:
    """Return the attributed graph of these triples, as the loop builds it."""
    triples: dict[str, Triple] = {}
    for i, hop in enumerate(hops):
        for s, p, o in hop:
            known = triples.get(triple_id(s, p, o), {"passages": []})["passages"]
            triples[triple_id(s, p, o)] = Triple(
                subject=s, predicate=p, object=o, passages=[*known, f"passage {i}"]
            )
    chained = [
        Hop(index=i, subquery=f"query {i}", passages=[f"passage {i}"], scores=[1.0])
        for i in range(len(hops))
    ]
    return asyncio.run(attribute_graph(triples, chained, HashEncoder(dimension)))


def config(base: Path, **changes: Any) -> GraphLLMConfig:
    """Return a tiny configuration over a base model's folder."""
    values: dict[str, Any] = {
        "base": str(base),
        "encoder": HashEncoder.identity,
        "encoder_dimension": 8,
        "gnn": GNN,
        "lora": LoraConfig(targets=LINEAR),
        "projector_hidden": 32,
        "window": 1500,
    }
    return GraphLLMConfig(**(values | changes))


def build(base: Path, seed: int = 0, **changes: Any) -> GraphLLM:
    """Build one with weights that matter: LoRA starts at zero, and so would go unnoticed."""
    torch.manual_seed(seed)
    model = build_graph_llm(config(base, **changes))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.05)
    return model


def save_base(folder: Path, kind: str = "llama") -> Path:
    """Save a tiny random base model of a type, with the tiny Llama's tokenizer."""
    save_tiny_model(folder, window=2000)
    if kind != "llama":
        configured, causal = {
            "gpt2": (GPT2Config, GPT2LMHeadModel),
            "gemma3": (Gemma3TextConfig, Gemma3ForCausalLM),
            "qwen2": (Qwen2Config, Qwen2ForCausalLM),
            "qwen3": (Qwen3Config, Qwen3ForCausalLM),
        }[kind]
        torch.manual_seed(7)
        made = causal(
            configured(
                vocab_size=261,
                hidden_size=24,
                intermediate_size=48,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                head_dim=6,
                max_position_embeddings=2000,
                initializer_range=0.6,
                eos_token_id=0,
                pad_token_id=1,
            )
        )
        made.generation_config.do_sample = True
        made.generation_config.temperature = 5.0
        made.save_pretrained(folder)
    forget_tokenizer(str(folder))
    return folder
