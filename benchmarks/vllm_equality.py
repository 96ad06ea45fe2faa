"""Whether a Graph LLM writes on a vLLM server what it writes in this process, and how fast.

    ras-flow export local:default --out EXPORT
    vllm serve EXPORT --served-model-name graph-llm-... --dtype float32 --enable-prompt-embeds ...
    VLLM_BASE_URL=http://localhost:8000/v1 python benchmarks/vllm_equality.py EXPORT \
        --model local:default --data graph-llm-data [--split test] [--records 120]

The prompts are records that ``ras-flow data`` wrote, plans and answers, with their graphs. All are
sent at once, up to ``--at-once`` requests under way. Texts that differ are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.roles import GraphAnswerer, GraphLLMSource, GraphPlanner
from ras_flow.graph_llm.served import ServedGraphLLM
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import AnswerRequest, PlanRequest
from ras_flow.training.data.requests import as_request
from ras_flow.training.graph_llm.data import read_split, sample
from ras_flow.training.graph_llm.graphs import build_graphs

Request = PlanRequest | AnswerRequest


async def written(source: GraphLLMSource, requests: Sequence[Request]) -> list[str]:
    """Return what it plans, and then what it answers."""
    plans = [one for one in requests if isinstance(one, PlanRequest)]
    answers = [one for one in requests if isinstance(one, AnswerRequest)]
    replies = await asyncio.gather(
        GraphPlanner(source).plan(plans), GraphAnswerer(source).answer(answers)
    )
    return [reply.text for some in replies for reply in some]


def read(source: GraphLLMSource, data: Path, split: str, most: int) -> list[Request]:
    """Return what is asked, with graphs."""
    records = sample(read_split([data], split), most, seed=7)
    graphs = build_graphs(records, LocalSentenceEncoder(source.config.encoder_name))
    asked = map(as_request, records)
    return [replace(one, graph=graphs[row]) for row, one in enumerate(asked)]


async def both(
    there: GraphLLMSource, here: GraphLLMSource, requests: Sequence[Request]
) -> list[tuple[list[str], float]]:
    """Return what each writes, and its seconds."""
    made = []
    for source in (there, here):
        await written(source, requests[:2])  # Loads what is to be loaded.
        start = perf_counter()
        made.append((await written(source, requests), perf_counter() - start))
    return made


def main() -> None:
    """Ask both, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export", type=Path)
    parser.add_argument("--model", default="local:default")
    parser.add_argument("--data", type=Path, required=True, help="folder of a data set")
    parser.add_argument("--split", choices=("train", "dev", "test"), default="test")
    parser.add_argument("--records", type=int, default=120)
    parser.add_argument("--at-once", type=int, default=16)
    given = parser.parse_args()
    here = find_graph_llm(given.model)
    if here is None:
        raise ConfigurationError(f"{given.model} is not a Graph LLM: name one.")
    there = ServedGraphLLM(given.export, timeout=600, max_concurrency=given.at_once)
    requests = read(here, given.data, given.split, given.records)
    (theirs, their_seconds), (ours, our_seconds) = asyncio.run(both(there, here, requests))
    pairs = list(zip(theirs, ours, strict=True))
    for their, our in pairs:
        if their != our:
            print(f"vLLM: {their!r}\nhere: {our!r}")
    same = sum(their == our for their, our in pairs)
    print(f"{platform.machine()}, {os.cpu_count()} cores; {given.model}")
    print(f"{same} of {len(pairs)} texts are the same, word for word ({len(set(ours))} different).")
    for name, taken in (("vLLM", their_seconds), ("this process", our_seconds)):
        print(f"{name}: {taken:.1f} s, {len(pairs) / taken:.2f} texts a second")


if __name__ == "__main__":
    main()
