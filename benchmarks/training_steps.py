"""Time and memory of a Graph LLM's training on a base of a known shape, with random weights.

    python benchmarks/training_steps.py recipes/configs/graph-llm-larger.toml qwen2.5-7b
    python benchmarks/training_steps.py CONFIG llama-3.2-3b --layers 4 --tokens 400 --batch-size 1

Nothing is downloaded but the tokenizer of the default base. Records are made up, and each fills the
window (``--tokens``). The first line is arithmetic for the whole shape, with what a layer keeps for
its gradients as counted on two. The second is measured, of as many ``--layers`` as fit: the seconds
of a step without the first, tokens read in a second, and the peak of the GPU's memory, or of the
process's on a CPU. The trainer is that of ``ras-flow train graph-llm``, without measurements.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import peft
import torch
from transformers import AutoConfig, AutoModelForCausalLM, TrainerCallback

from ras_flow.graph_llm.config import LoraConfig
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.soft_tokens import graph_part
from ras_flow.llms.local.adapter import without_peft_warnings
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.support.validation import read_toml
from ras_flow.testing import HashEncoder
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.data import Examples
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.mixing import Mixed
from ras_flow.training.graph_llm.trainer import graph_trainer
from ras_flow.training.processes import examples_a_step

QWEN = {"model_type": "qwen2", "num_hidden_layers": 28, "max_position_embeddings": 32768}
LLAMA = {"model_type": "llama", "max_position_embeddings": 131072, "vocab_size": 128256}
_SIZES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
SHAPES: dict[str, dict[str, Any]] = {
    "smollm2-135m": LLAMA
    | dict(zip(_SIZES, (576, 1536, 9, 3), strict=True))
    | {"vocab_size": 49152, "num_hidden_layers": 30, "tie_word_embeddings": True},
    "qwen2.5-1.5b": QWEN
    | dict(zip(_SIZES, (1536, 8960, 12, 2), strict=True))
    | {"vocab_size": 151936, "tie_word_embeddings": True},
    "llama-3.2-3b": LLAMA
    | dict(zip(_SIZES, (3072, 8192, 24, 8), strict=True))
    | {"num_hidden_layers": 28, "tie_word_embeddings": True},
    "qwen2.5-7b": QWEN
    | dict(zip(_SIZES, (3584, 18944, 28, 4), strict=True))
    | {"vocab_size": 152064, "tie_word_embeddings": False},
    "llama-3.1-8b": LLAMA
    | dict(zip(_SIZES, (4096, 14336, 32, 8), strict=True))
    | {"num_hidden_layers": 32, "tie_word_embeddings": False},
}
GB = 1e9
TOKENS = 128
"""Of a text by which a layer is measured."""


def base_of(shape: str, dtype: str, device: str, **changes: int) -> Any:
    """Make a base model of a shape with random weights, or with none on the device ``meta``."""
    with torch.device(device):
        return AutoModelForCausalLM.from_config(
            AutoConfig.for_model(**SHAPES[shape] | changes), dtype=getattr(torch, dtype)
        )


def with_lora(base: Any, lora: LoraConfig) -> Any:
    """Put new adapters into a base."""
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM", r=lora.r, lora_dropout=lora.dropout, target_modules=lora.targets
    )
    with without_peft_warnings():
        return peft.get_peft_model(base, settings)


def saved(config: TrainingConfig, shape: str, layers: int) -> float:
    """Return the bytes a token that so many layers keep for their gradients."""
    changes = {"num_hidden_layers": layers, "vocab_size": 1000}
    base = base_of(shape, config.model.dtype, "meta", **changes).to_empty(device="cpu")
    for tensor in (*base.parameters(), *base.buffers()):
        tensor.data.fill_(0.01)
    model = with_lora(base.requires_grad_(False), config.lora).train()
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        place = tensor.untyped_storage().data_ptr()
        if place not in weights:
            kept[place] = tensor
        return tensor

    words = torch.ones(1, TOKENS, base.config.hidden_size, dtype=base.dtype, requires_grad=True)
    mask = torch.ones(1, TOKENS, dtype=torch.long)
    mask[:, 0] = 0
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16),
    ):
        model(inputs_embeds=words, attention_mask=mask, use_cache=False, logits_to_keep=1)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values()) / TOKENS


def arithmetic(config: TrainingConfig, shape: str, dimension: int) -> str:
    """Say what the whole shape takes, in GB, if every record fills window and target."""
    base = base_of(shape, config.model.dtype, "meta")
    sizes, rows = base.config, config.optimizer.batch_size
    count = sum(one.numel() for one in base.parameters())
    lora = with_lora(base, config.lora).get_nb_trainable_parameters()[0]
    made = graph_part(config.graph_llm("", dimension), sizes.hidden_size)
    graph = sum(one.numel() for one in made.parameters())
    tokens, layers = config.model.window + config.model.target, sizes.num_hidden_layers
    layer = rows * tokens * (saved(config, shape, 2) - saved(config, shape, 1)) / GB
    weights = count * base.dtype.itemsize / GB
    # Each with its gradient and two moments, in float32.
    trained = (lora + graph) * 16 / GB
    inputs = layers * rows * tokens * sizes.hidden_size * 2 / GB
    # In bfloat16, and as float32 with its softmax and gradient.
    logits = rows * config.model.target * sizes.vocab_size * (2 + 3 * 4) / GB
    both = weights + trained + logits
    return (
        f"{shape}: {count / 1e9:.2f}B weights {weights:.1f} GB; {lora / 1e6:.0f}M of LoRA and "
        f"{graph / 1e6:.0f}M of the graph {trained:.1f} GB; logits {logits:.1f} GB; inputs of the "
        f"layers for {rows} × {tokens} tokens {inputs:.1f} GB and one layer {layer:.1f} GB. In all "
        f"{both + inputs + layer:.0f} GB, without gradient checkpointing "
        f"{both + layers * layer:.0f} GB"
    )


def made(count: int, tokens: int) -> list[Record]:
    """Make up records with more triples than fit into so many tokens."""
    each = tokens // 30
    return [
        Record(
            id=str(number),
            source="made",
            split="train",
            task="answer",
            question=f"Who was the third of those who met {number}?",
            chain=[
                {
                    "subquery": f"Who met number {hop}?",
                    "triples": [[f"P{number}-{hop}", "met", f"No. {i}"] for i in range(each)],
                }
                for hop in range(3)
            ],
            target={"answer": "the woman who had been there twice before " * 2},
        )
        for number in range(count)
    ]


class Clock(TrainerCallback):
    """Notes when each step ends."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note the time."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ends.append(time.monotonic())


def measured(config: TrainingConfig, shape: str, layers: int, encoder: HashEncoder) -> str:
    """Train for some steps, and say what they took."""
    gpu = torch.cuda.is_available()
    place = "cuda" if gpu else "cpu"
    base = base_of(shape, config.model.dtype, place, num_hidden_layers=layers)
    tokenizer = load_tokenizer(SMOLLM2, chat=False)
    model = GraphLLM(config.graph_llm(encoder.identity, encoder.dimension), base, tokenizer)
    step = examples_a_step(config.optimizer)
    records = made(step * config.optimizer.steps, config.model.window)
    train = Examples(records, build_graphs(records, encoder))
    prompt = len(model.formatter.prompt(train[0].request).input_ids)
    order = Mixed(records, train.lengths(), config.mix, step=step, seed=7)
    clock = Clock()
    with tempfile.TemporaryDirectory() as run:
        trainer = graph_trainer(
            config,
            Path(run),
            model,
            order,
            train,
            Examples([], None),
            measure=None,
            deadline=None,
            log=print,
        )
        trainer.add_callback(clock)
        trainer.train()
    seconds = median(b - a for a, b in zip(clock.ends, clock.ends[1:], strict=False))
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    peak = torch.cuda.max_memory_allocated() if gpu else process
    return (
        f"{layers} layers, {step} records of {prompt} tokens: {seconds:.2f} s a step, "
        f"{step * prompt / seconds:.0f} tokens/s, peak {peak / GB:.1f} GB of the "
        f"{'GPU' if gpu else 'process'}"
    )


def main() -> None:
    """Print both lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--layers", type=int, help="all by default; 0 for the arithmetic alone")
    parser.add_argument("--tokens", type=int, help="of a prompt; model.window by default")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--no-checkpointing", action="store_true")
    parser.add_argument("--no-compiling", action="store_true")
    given = parser.parse_args()
    config = read_toml(given.config, TrainingConfig)
    changed: dict[str, Any] = {"accumulation": given.accumulation, "steps": given.steps}
    if given.batch_size:
        changed["batch_size"] = given.batch_size
    if given.no_checkpointing:
        changed["gradient_checkpointing"] = False
    if given.no_compiling:
        changed["compile"] = False
    optimizer = config.optimizer.override(changed | {"workers": 0, "epochs": 1000.0})
    model = config.model.override({"window": given.tokens} if given.tokens else {})
    watch = config.watch.override({"every": 1000})
    config = config.override({"optimizer": optimizer, "model": model, "watch": watch})
    encoder = HashEncoder(384)
    print(arithmetic(config, given.shape, encoder.dimension))
    layers = SHAPES[given.shape]["num_hidden_layers"] if given.layers is None else given.layers
    if layers:
        print(measured(config, given.shape, layers, encoder))


if __name__ == "__main__":
    main()
