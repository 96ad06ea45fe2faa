"""Graph LLMs that were trained alike but for one thing, side by side on the same records.

    python benchmarks/ablations.py full=FOLDER no-graph=FOLDER two-models=PLANS,ANSWERS \
        as-text=FOLDER@TEXT_DATA --data DATA [--split test] [--records 200]

Each model is a folder that ``ras-flow train graph-llm`` wrote, or ``local:default``; two, with a
comma between them, are one that plans and one that answers. ``@`` names the data set of a model
that reads another form of the same records, as ``python -m recipes convert --as-text`` writes it.

Printed are the plans with the right label, the words' F1 of the answers, and the loss a token of
the targets (nats, the target given): it tells more from few records than what was generated does.
Below the first model, in brackets, is the difference to it with its 95% interval, by resampling the
records.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from losses import target_losses
from tables import beside

from ras_flow.errors import InputError
from ras_flow.graph_llm.shared import open_graph_llm
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.data import Examples, read_split, sample
from ras_flow.training.graph_llm.evaluate import evaluate_graph_llm
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.scores import measure
from ras_flow.training.splits import Split

SEED = 7
TASKS = ("plan", "answer")


class Scored(NamedTuple):
    """One record's scores: the right label or the words' F1 in percent, and the loss."""

    score: float
    loss: float


class Contender(NamedTuple):
    """What is compared: a name, a model for each task, and the form of the records it reads."""

    name: str
    models: Sequence[str]
    data: Path


def contender(text: str, data: Path) -> Contender:
    """Read an argument ``NAME=MODEL[,MODEL][@DATA]``."""
    name, _, rest = text.partition("=")
    models, _, own = rest.partition("@")
    pair = models.split(",")
    if not all(pair) or len(pair) > len(TASKS):
        raise InputError(f"{text!r}: write NAME=FOLDER, or NAME=PLANS,ANSWERS for two models.")
    return Contender(name, pair * (len(TASKS) // len(pair)), Path(own) if own else data)


def scores(model_name: str, records: Sequence[Record]) -> list[Scored]:
    """Let a model write all records' targets, and measure its loss on them."""
    model = open_graph_llm(model_name)
    model.eval()
    graphs = None
    if model.config.gnn is not None:
        encoder = LocalSentenceEncoder(model.config.encoder_name)
        graphs = build_graphs(records, encoder)
    examples = Examples(records, graphs)
    losses = target_losses(model, (examples[row] for row in range(len(examples))))
    texts = evaluate_graph_llm(model, records, graphs=graphs, batch_size=4).texts
    found = []
    for record, text, loss in zip(records, texts, losses, strict=True):
        own = measure([record], {0: text}).scores[record["task"], "all"]
        score = own.f1 if record["task"] == "answer" else own.right
        found.append(Scored(100 * score, loss))
    return found


def main(contenders: Sequence[Contender], data: Path, split: Split, most: int) -> None:
    """Print the table, a row as soon as it is known."""
    chosen = sample(read_split([data], split), most, seed=SEED)
    ids = {task: [o["id"] for o in chosen if o["task"] == task] for task in TASKS}
    counts = " and ".join(f"{len(ids[task])} {task}s" for task in TASKS)
    print(f"{platform.machine()}, torch {torch.__version__}; {counts} of {split}, seed {SEED}\n")
    print("| model | labels right, % | loss on plans | F1 of answers, % | loss on answers |")
    print("| --- | ---: | ---: | ---: | ---: |")
    first: dict[str, list[Scored]] = {}
    for name, models, folder in contenders:
        placed = {one["id"]: one for one in read_split([folder], split)}
        cells = []
        for task, model in zip(TASKS, models, strict=True):
            found = scores(model, [placed[key] for key in ids[task]])
            reference = first.setdefault(task, found)
            for digits, pick in ((1, 0), (3, 1)):
                compared = None if reference is found else [one[pick] for one in reference]
                cells.append(beside([one[pick] for one in found], compared, digits))
        print(f"| {name} |", *(f"{one} |" for one in cells), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="+", help="NAME=FOLDER; the first is compared with")
    parser.add_argument("--data", type=Path, required=True, help="folder of a data set")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--records", type=int, default=200)
    given = parser.parse_args()
    named = [contender(text, given.data) for text in given.model]
    main(named, given.data, given.split, given.records)
