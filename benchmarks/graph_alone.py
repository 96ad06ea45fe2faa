"""What a graph encoder can tell by itself: whether the graph suffices, without any language model.

    python benchmarks/graph_alone.py --data graph-llm-short-data [--measure graph-llm-played-data]
        [--split test] [--epochs 3]

The encoder of graph-llm.toml is trained alone (`ras_flow/training/graph_llm/pretrain.py`) on
the plans after a search of `train`, once on entities and relations, as in the paper, and once with
the subqueries as nodes of their hops. Printed are the labels that it then has right on another
split, of the same data set or of another, and how often a graph that suffices is ranked above one
that does not (AUC: 50% is chance), for each seed.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from sklearn.metrics import roc_auc_score

from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.gnn import GraphEncoder
from ras_flow.llms.sentence_encoder import MINILM, LocalSentenceEncoder
from ras_flow.support.paths import cache_folder
from ras_flow.training.graph_llm.config import PretrainSettings
from ras_flow.training.graph_llm.data import Examples, read_split
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.pretrain import LaterPlans, pretrain_graph_encoder
from ras_flow.training.splits import Split

GNN = GnnConfig(hidden=384, layers=3, heads=8, tokens="per_hop")


def main(
    data: Sequence[Path],
    measured: Path,
    split: Split,
    settings: PretrainSettings,
    seeds: Sequence[int],
) -> None:
    """Print the table, a row as soon as it is known."""
    encoder = LocalSentenceEncoder(MINILM)
    parts = []
    sets: tuple[tuple[Sequence[Path], Split], ...] = ((data, "train"), ([measured], split))
    for folders, name in sets:
        placed = [one for one in read_split(folders, name, task="plan") if one["chain"]]
        graphs = build_graphs(placed, encoder, cache_folder() / "embeddings")
        parts.append(LaterPlans(Examples(placed, graphs)))
    train, watched = parts
    labels = [label for _, label in watched]
    most = max(sum(labels), len(labels) - sum(labels)) / len(labels)
    print(f"{platform.machine()}, torch {torch.__version__}; {len(train)} plans to learn from")
    print(f"{len(labels)} plans of {split}; always the more frequent label: {most:.1%}\n")
    print("| nodes | seed | labels right | AUC |")
    print("| --- | ---: | ---: | ---: |")
    for queries in (False, True):
        for seed in seeds:
            torch.manual_seed(seed)
            gnn = GraphEncoder(GNN.override({"queries": queries}), encoder.dimension)
            model: Any = SimpleNamespace(encoder=gnn)
            said = pretrain_graph_encoder(model, train, watched, settings, seed=seed)
            right = sum((one > 0) == label for one, label in zip(said, labels, strict=True))
            nodes = "entities and subqueries" if queries else "entities"
            area = roc_auc_score(labels, said)
            print(f"| {nodes} | {seed} | {right / len(labels):.1%} | {area:.1%} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="to learn from")
    parser.add_argument("--measure", type=Path, help="to measure on, if not the first of these")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8, 9])
    given = parser.parse_args()
    measured = given.measure or given.data[0]
    main(given.data, measured, given.split, PretrainSettings(epochs=given.epochs), given.seeds)
