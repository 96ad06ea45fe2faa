"""Labelled questions with the facts around their entities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.errors import InputError
from ras_flow.formats.triples import Spo
from ras_flow.kg.retrievers.batch import Item, Placed, Texts, number, place
from ras_flow.kg.retrievers.checkpoint import ModelSettings
from ras_flow.kg.subgraph import Subgraph
from ras_flow.training.retriever.config import DataSettings
from ras_flow.training.retriever.graphs import Graph, read_graph
from ras_flow.training.retriever.questions import Labelled, read_labelled
from ras_flow.training.retriever.supervise import CARD
from ras_flow.training.splits import Split, fraction


@dataclass(frozen=True)
class Example:
    """A labelled question on its subgraph."""

    record: Labelled
    graph: Subgraph

    @property
    def wanted(self) -> set[Spo]:
        """The facts to find, also those that the subgraph lacks."""
        return {(s, p, o) for s, p, o in self.record["positives"]}

    def labels(self) -> npt.NDArray[np.float32]:
        """Return 1 for each triple to find."""
        wanted = self.wanted
        found = [self.graph.fact(at) in wanted for at in range(len(self.graph))]
        return np.array(found, dtype=np.float32)


def recall_at(top: int, scores: npt.NDArray[Any], example: Example) -> float:
    """Return the share of the facts to find that are among the best; ties go by position."""
    best = np.argsort(-scores, kind="stable")[:top]
    found = {example.graph.fact(int(at)) for at in best}
    return len(found & example.wanted) / len(example.wanted)


def read_examples(
    settings: DataSettings, base: Path, split: Split, *, most: int | None = None
) -> list[Example]:
    """Read the questions of a split that have a candidate fact."""
    examples: list[Example] = []
    for name in settings.sets:
        folder = base / name
        graphs: dict[str, Graph] = {}
        around: dict[tuple[str, ...], Subgraph] = {}
        records = [
            record
            for record in read_labelled(folder / f"{split}.jsonl")
            if not settings.only or record["source"] in settings.only
        ]
        if split == "train" and settings.share < 1:
            records = [r for r in records if fraction(0, "share", r["id"]) < settings.share]
        records.sort(key=lambda record: fraction(0, "order", record["id"]))
        for record in records[:most]:
            graph, names = record["graph"], record["entities"]
            if graph not in graphs:
                graphs[graph] = read_graph(folder / "graphs" / f"{graph}.tsv")
            if (key := (graph, *names)) not in around:
                around[key] = graphs[graph].around(names, settings.depth, settings.most)
            if len(around[key]):
                examples.append(Example(record, around[key]))
    if not examples and split == "train":
        raise InputError("The data sets have no training question with a fact around its entities.")
    return examples


def read_cards(settings: DataSettings, base: Path) -> dict[str, Any]:
    """Return who refined each source of the data sets, and how right the labels are."""
    found: dict[str, Any] = {}
    for name in settings.sets:
        try:
            card = json.loads((base / name / CARD).read_text(encoding="utf-8"))
            for source, refiner in card["refiners"].items():
                found[source] = {"refiner": refiner, **card["against_gold"][f"{source}/train"]}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise InputError(
                f"{base / name / CARD} cannot be read ({type(error).__name__}). Make the labels "
                "again with `ras-flow data supervise`."
            ) from error
    return found


def make_items(examples: Sequence[Example], model: ModelSettings, texts: Texts) -> list[Item]:
    """Turn examples into numbers; those on the same subgraph share it."""
    placed: dict[int, Placed] = {}
    items = []
    for example in examples:
        key = id(example.graph)
        if key not in placed:
            placed[key] = place(example.graph, texts, model.rounds, named=model.entity_text)
        items.append(Item(number(example.record["question"], texts), placed[key], example.labels()))
    return items
