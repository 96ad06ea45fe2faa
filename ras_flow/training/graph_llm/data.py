"""The data of a training run: read, checked against each other, limited, with its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ras_flow.errors import InputError
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.paths import cache_folder
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.config import TrainingConfig
from ras_flow.training.graph_llm.examples import Examples
from ras_flow.training.graph_llm.graphs import Graphs, build_graphs, shuffled
from ras_flow.training.graph_llm.mixing import kind_of
from ras_flow.training.graph_llm.placed import (
    MEASURED_SEED,
    Placed,
    check_together,
    read_split,
    sample,
)
from ras_flow.training.run import Logger


@dataclass(frozen=True)
class TrainingData:
    """What a run learns from, and is watched by (may be empty)."""

    train: list[Placed]
    dev: list[Placed]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of records of each part, by source and kind."""
        return {"train": _by_kind(self.train), "dev": _by_kind(self.dev)}


def load_data(config: TrainingConfig, folder: Path) -> TrainingData:
    """Read the records that settings name."""
    folders = [folder / name for name in config.data.sets]
    train = read_split(folders, "train", task=config.model.task)
    dev = read_split(folders, "dev", task=config.model.task)
    check_together([*train, *_held(folders)])
    if config.data.most:
        train = sample(train, config.data.most, seed=config.optimizer.seed)
    if not train:
        raise InputError(f"No records to train on in {', '.join(config.data.sets)}.")
    return TrainingData(train, sample(dev, config.watch.records, seed=MEASURED_SEED))


def examples_of(
    config: TrainingConfig, records: Sequence[Placed], encoder: SentenceEncoder, log: Logger
) -> Examples:
    """Return records with their graphs, or those of others where the settings shuffle them."""
    if "graph" in config.model.without:
        return Examples(records, None)
    graphs = graphs_of([one.record for one in records], encoder)
    log(f"{len(graphs.vectors)} texts of {len(records)} graphs are embedded")
    if config.model.graphs == "shuffled":
        graphs = shuffled(graphs, config.optimizer.seed)
    return Examples(records, graphs)


def plans_for_pretraining(
    config: TrainingConfig, data: Path, train: Examples, encoder: SentenceEncoder, log: Logger
) -> Examples:
    """Return what the graph encoder learns from alone: what all learn from, or sets of its own."""
    sets = [data / name for name in config.pretrain.sets]
    if not sets or not config.pretrain.epochs:
        return train
    plans = [one for one in read_split(sets, "train", task="plan") if one.record["chain"]]
    if not plans:
        raise InputError(f"No plans after a search in {', '.join(config.pretrain.sets)}.")
    check_together([*plans, *_held([data / name for name in config.data.sets])])
    return examples_of(config, plans, encoder, log)


def graphs_of(records: Sequence[Record], encoder: SentenceEncoder) -> Graphs:
    """Build the graphs of records; vectors are kept in the cache folder."""
    return build_graphs(records, encoder, cache_folder() / "embeddings")


def _held(folders: Sequence[Path]) -> list[Placed]:
    """Read what is measured on; a set need not bring its ``test`` along."""
    tested = [folder for folder in folders if (folder / "test.jsonl").is_file()]
    return [*read_split(folders, "dev"), *read_split(tested, "test")]


def _by_kind(records: Sequence[Placed]) -> dict[str, int]:
    counts = Counter(f"{one.record['source']}/{kind_of(one.record)}" for one in records)
    return dict(sorted(counts.items()))
