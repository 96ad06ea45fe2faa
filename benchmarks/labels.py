"""Does the language model know when the graph suffices, and is that from the soft tokens?

    python benchmarks/labels.py local:default --data graph-llm-short-data [--split test]

Of plans after a search, the model is asked which of [SUFFICIENT] and [SUBQ] is likelier at the
first token in which they differ. Printed are the labels that are right so, how many of the others
would stop the run too early or too late, and how often a graph that suffices is ranked above one
that does not (AUC: 50% is chance), with each plan's own graph as soft tokens, and with another
plan's. The triples are written out in the prompt all the same.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from pathlib import Path

import torch
from sklearn.metrics import roc_auc_score

from ras_flow.errors import InputError
from ras_flow.graph_llm.collate import IGNORED, Example
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.shared import open_graph_llm
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.training.graph_llm.data import Examples, read_split, sample
from ras_flow.training.graph_llm.graphs import build_graphs, nearest_records, shuffled
from ras_flow.training.splits import Split

SEED = 7


@torch.inference_mode()
def margin(model: GraphLLM, example: Example) -> float:
    """Return by how much the logit of [SUFFICIENT] exceeds that of [SUBQ]."""
    request = example.request
    yes, no = (model.formatter.target(label) for label in ("[SUFFICIENT]", "[SUBQ]"))
    at = next(i for i, (one, other) in enumerate(zip(yes, no, strict=False)) if one != other)
    ids = torch.tensor([[*model.formatter.prompt(request).input_ids, *yes[: at + 1]]])
    # Only the last token is a target: the logits kept are those that predict it.
    labels = torch.full_like(ids, IGNORED)
    labels[0, -1] = yes[at]
    logits = model(ids, torch.ones_like(ids), [request.graph], labels).logits[0, 0]
    return float(logits[yes[at]] - logits[no[at]])


def main(name: str, data: Path, split: Split, most: int, graphs: Sequence[str]) -> None:
    """Print the table, a row as soon as it is known."""
    model = open_graph_llm(name)
    if model.config.gnn is None:
        raise InputError(f"{name} was trained without a graph encoder: it has no soft tokens.")
    model.eval()
    later = [one for one in read_split([data], split, task="plan") if one["chain"]]
    chosen = sample(later, most, seed=SEED)
    labels = [one["target"]["label"] == "SUFFICIENT" for one in chosen]
    encoder = LocalSentenceEncoder(model.config.encoder_name)
    chosen = nearest_records(chosen, encoder, model.config.max_triples)
    own = build_graphs(chosen, encoder)
    given = {"own": own, "another's": shuffled(own, SEED)}
    common = max(sum(labels), len(labels) - sum(labels)) / len(labels)
    print(f"{platform.machine()}, torch {torch.__version__}; {name}")
    print(f"{len(labels)} plans of {split}; always the more frequent label: {common:.1%}\n")
    print("| graph | labels right | too early | too late | AUC |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for which in graphs:
        examples = Examples(chosen, given[which])
        said = [margin(model, examples[row]) for row in range(len(chosen))]
        stops = [one > 0 for one in said]
        early = sum(stop and not label for stop, label in zip(stops, labels, strict=True))
        late = sum(label and not stop for stop, label in zip(stops, labels, strict=True))
        right = 1 - (early + late) / len(labels)
        area = roc_auc_score(labels, said)
        print(f"| {which} | {right:.1%} | {early} | {late} | {area:.1%} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="local:default, or a folder that training wrote")
    parser.add_argument("--data", type=Path, required=True, help="folder of a data set")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--most", type=int, default=200, help="plans at most")
    parser.add_argument("--graphs", nargs="+", default=["own", "another's"])
    given = parser.parse_args()
    main(given.model, given.data, given.split, given.most, given.graphs)
