"""How long a training step of a Graph LLM takes, with and without padding.

    python benchmarks/training_step.py graph-llm-data [--records 64] [--steps 10] [--compiled]

Forward and backward of the same records, of similar length unless `--mixed`: by the model itself,
and as `optimizer.packed` computes it. New weights over SmolLM2-135M-Instruct, of the shipped sizes;
on a GPU, or with `--bf16`, in bfloat16. Printed are the median of the steps, what the first took,
and the GPU's memory.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch

from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.collate import Collator
from ras_flow.graph_llm.packed import PackedGraphLLM
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.examples import Examples
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.placed import read_split, sample
from ras_flow.training.settings import read_config

SEED = 7
SETTINGS = Path(__file__).parents[1] / "recipes" / "configs" / "graph-llm.toml"


def timed(step: Callable[[], None], count: int) -> tuple[float, float, float]:
    """Return the median seconds of ``count`` steps, those of one before, and gigabytes of a GPU."""
    gpu = torch.cuda.is_available()
    seconds = []
    for _ in range(count + 1):
        started = time.perf_counter()
        step()
        if gpu:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    memory = torch.cuda.max_memory_allocated() / 1e9 if gpu else 0.0
    if gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return median(seconds[1:]), seconds[0], memory


def main(data: Path, records: int, steps: int, compiled: bool, bf16: bool, mixed: bool) -> None:
    """Print the table, a row as soon as it is known."""
    config = read_config(TrainingConfig, SETTINGS)
    encoder = LocalSentenceEncoder(config.model.encoder)
    model = build_graph_llm(config.graph_llm(encoder.identity, encoder.dimension)).train()
    pool = sample(read_split([data], "train"), 50 * records, seed=SEED)
    lengths = Examples(pool, None).lengths()
    order = sorted(range(len(pool)), key=lengths.__getitem__)
    middle = len(order) // 2
    chosen = pool[:records] if mixed else [pool[at] for at in order[middle : middle + records]]
    examples = Examples(chosen, build_graphs([one.record for one in chosen], encoder))
    collate = Collator(model.formatter, label_weight=config.optimizer.label_weight)
    batch: dict[str, Any] = dict(collate([examples[row] for row in range(len(chosen))]))
    for name, value in batch.items():
        batch[name] = value.to(model.device) if isinstance(value, torch.Tensor) else value
    ways: dict[str, Any] = {"by the model itself": model, "packed": PackedGraphLLM(model)}
    if compiled:
        ways["packed, compiled"] = PackedGraphLLM(model)
        ways["packed, compiled"].compile_layers()
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()
    size = tuple(batch["input_ids"].shape)
    print(f"{device}, torch {torch.__version__}; {len(chosen)} records of {size[1]} tokens\n")
    print("| | seconds a step | first | GB | times as fast |")
    print("| --- | ---: | ---: | ---: | ---: |")
    own, kind = 0.0, model.device.type
    for name, forward in ways.items():

        def step(forward: Any = forward) -> None:
            with torch.autocast(kind, torch.bfloat16, enabled=bf16 or kind != "cpu"):
                loss = forward(**batch)["loss"]
            loss.backward()
            model.zero_grad()

        seconds, first, memory = timed(step, steps)
        own = own or seconds
        print(
            f"| {name} | {seconds:.3f} | {first:.1f} | {memory:.1f} | {own / seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of a data set")
    parser.add_argument("--records", type=int, default=64, help="records of a step")
    parser.add_argument("--steps", type=int, default=10, help="steps that are timed")
    parser.add_argument("--compiled", action="store_true", help="also with compiled layers")
    parser.add_argument("--bf16", action="store_true", help="in bfloat16 on a CPU, too")
    parser.add_argument("--mixed", action="store_true", help="records of any length")
    main(**vars(parser.parse_args()))
