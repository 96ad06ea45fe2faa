"""What a Graph LLM makes of its soft tokens: are they told apart, and does it read them?

    python benchmarks/soft_tokens.py MODEL --data graph-llm-data [--split test] [--records 100]

``MODEL`` is a folder that ``ras-flow train graph-llm`` wrote, or ``local:default``.

Two things are printed. How alike the soft tokens of different records are, as mean cosines, beside
those of an encoder with new weights, as made and as training begins (spread): tokens that are all
the same cannot tell anything. And the loss a token of the targets (nats, the target given), as the
mean over records, with each record's own graph, with another one's, and with none, both with the
triples written out in the prompt, as the model was trained, and without them: what the model reads
of the graph is the difference between the columns, in brackets with its 95% interval by resampling
the records.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import torch
from losses import target_losses
from tables import beside

from ras_flow.errors import InputError
from ras_flow.graph_llm.collate import Example
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.shared import open_graph_llm
from ras_flow.graph_llm.soft_tokens import graph_part
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import AttributedGraph, ChainLink
from ras_flow.training.graph_llm.data import Examples, read_split, sample
from ras_flow.training.graph_llm.graphs import build_graphs, shuffled
from ras_flow.training.graph_llm.start import spread_soft_tokens
from ras_flow.training.splits import Split

Graph = AttributedGraph | None
SEED = 7


def losses(model: GraphLLM, examples: Sequence[Example], graphs: Sequence[Graph]) -> list[float]:
    """Return the loss on each target, in nats a token."""
    given = (
        replace(example, request=replace(example.request, graph=graph))
        for example, graph in zip(examples, graphs, strict=True)
    )
    return target_losses(model, given)


def without_triples(example: Example) -> Example:
    """Return what is asked with the searches of its chain, and none of the facts they found."""
    chain = [ChainLink(link.subquery, [], []) for link in example.request.chain]
    return replace(example, request=replace(example.request, chain=chain))


def alikeness(tokens: Sequence[torch.Tensor]) -> float:
    """Return the mean cosine of the last soft tokens of different graphs."""
    rows = torch.nn.functional.normalize(torch.stack([some[-1] for some in tokens]), dim=1)
    cosines = rows @ rows.T
    return float((cosines.sum() - cosines.trace()) / (len(rows) * (len(rows) - 1)))


@torch.inference_mode()
def main(name: str, data: Path, split: Split, most: int) -> None:
    """Print both tables."""
    model = open_graph_llm(name)
    if model.config.gnn is None:
        raise InputError(f"{name} was trained without a graph encoder: it has no soft tokens.")
    model.eval()
    filled = [
        one
        for one in sample(read_split([data], split), 8 * most, seed=SEED)
        if any(link["triples"] for link in one["chain"])
    ]
    chosen, rest = filled[:most], filled[most:]
    encoder = LocalSentenceEncoder(model.config.encoder_name)
    graphs = build_graphs(chosen, encoder)
    other = shuffled(graphs, SEED)
    own = [graphs[row] for row in range(len(chosen))]
    anothers = [other[row] for row in range(len(chosen))]
    print(f"{platform.machine()}, torch {torch.__version__}; {name}; {len(chosen)} of {split}\n")

    words = model.base.get_input_embeddings().weight
    made = {"trained": model.soft_tokens(own)}
    trained = model.encoder, model.projector
    torch.manual_seed(SEED)
    new = graph_part(model.config, words.shape[1]).eval()
    model.encoder, model.projector = new["encoder"], new["projector"]
    made["new weights"] = model.soft_tokens(own)
    unseen = build_graphs(rest, encoder)
    spread_soft_tokens(model, [unseen[row] for row in range(len(rest))])
    made["new weights, spread over other graphs"] = model.soft_tokens(own)
    model.encoder, model.projector = trained
    print("| graph encoder | mean cosine of different records' soft tokens | size beside a word |")
    print("| --- | ---: | ---: |")
    for what, tokens in made.items():
        size = mean(float(some.norm(dim=1).mean()) for some in tokens)
        ratio = size / float(words.norm(dim=1).mean()) if what == "trained" else 1.0
        print(f"| {what} | {alikeness(tokens):.3f} | {ratio:.2f} |")

    every = Examples(chosen, None)
    asked = [every[row] for row in range(len(every))]
    ways = {"written out": asked, "left out": [without_triples(one) for one in asked]}
    print("\n| task | triples in the prompt | own graph | another's | none |")
    print("| --- | --- | ---: | ---: | ---: |")
    for task in ("plan", "answer"):
        rows = [row for row, one in enumerate(chosen) if one["task"] == task]
        for way, examples in ways.items():
            asked_here = [examples[row] for row in rows]
            with_own, *others = (
                losses(model, asked_here, [some[row] for row in rows])
                for some in (own, anothers, [None] * len(own))
            )
            cells = [beside(with_own, None, 4), *(beside(one, with_own, 4) for one in others)]
            print(f"| {task} ({len(rows)}) | {way} |", *(f"{one} |" for one in cells), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, required=True, help="folder of a data set")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--records", type=int, default=100)
    given = parser.parse_args()
    main(given.model, given.data, given.split, given.records)
