"""A tiny random Llama of 256 byte tokens: exact, instant, senseless."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from ras_flow.llms.local import model as local
from ras_flow.llms.local import weights
from ras_flow.parts import Message
from ras_flow.support.files import checksum

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"]


def save_tiny_model(folder: Path, *, window: int = 700, width: int = 32) -> Path:
    """Save one with a chat template, and with sampling switched on by default."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*SPECIAL, *alphabet])}
    inner = Tokenizer(models.BPE(vocabulary, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        additional_special_tokens=SPECIAL[2:],
        chat_template=TEMPLATE,
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window,
        initializer_range=0.6,
        eos_token_id=0,
        pad_token_id=1,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.do_sample = True
    model.generation_config.temperature = 5.0
    model.save_pretrained(folder)
    return folder


def save_extractor(folder: Path) -> Path:
    """Save a tiny model as one that was trained to extract."""
    save_tiny_model(folder)
    record = {
        "format": 1,
        "kind": "causal",
        "base": "some/model",
        "adapter": False,
        "instructions": {"": ""},
        "max_new_tokens": 9,
        "files": {file.name: checksum(file) for file in folder.iterdir()},
    }
    (folder / "trained.json").write_text(json.dumps(record))
    return folder


def chat(text: str, examples: int = 1) -> list[Message]:
    prompt: list[Message] = [{"role": "system", "content": "Rules."}]
    for i in range(examples):
        prompt.append({"role": "user", "content": f"in {i}"})
        prompt.append({"role": "assistant", "content": f"out {i}"})
    return [*prompt, {"role": "user", "content": text}]


def load(name: str) -> local.LoadedModel:
    return local.load_model(name, weights.fingerprint(name))
