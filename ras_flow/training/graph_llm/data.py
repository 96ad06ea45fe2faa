"""The data of a training run: read, checked against each other, limited, with its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.datasets.reading import read_json_lines
from ras_flow.errors import InputError
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.paths import cache_folder
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.data.requests import as_request, target_text
from ras_flow.training.graph_llm.config import Task, TrainingConfig
from ras_flow.training.graph_llm.graphs import Graphs, build_graphs, shuffled
from ras_flow.training.graph_llm.mixing import kind_of
from ras_flow.training.run import Logger
from ras_flow.training.splits import Split, fraction

if TYPE_CHECKING:
    from ras_flow.graph_llm.collate import Example
    from ras_flow.graph_llm.prompt import PromptFormatter

MEASURED_SEED = 7
"""Draws the records that a model is watched by or measured on: the same for all training seeds."""


@dataclass(frozen=True)
class TrainingData:
    """What a run learns from, and is watched by (may be empty)."""

    train: list[Record]
    dev: list[Record]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of records of each part, by source and kind."""
        parts = {"train": self.train, "dev": self.dev}
        counts = {
            part: Counter(f"{one['source']}/{kind_of(one)}" for one in records)
            for part, records in parts.items()
        }
        return {part: dict(sorted(count.items())) for part, count in counts.items()}


def load_data(config: TrainingConfig, folder: Path) -> TrainingData:
    """Read the records that settings name."""
    folders = [folder / name for name in config.data.sets]
    train = read_split(folders, "train", task=config.model.task)
    dev = read_split(folders, "dev", task=config.model.task)
    check_labels([*train, *_held(folders)])
    if config.data.most:
        train = sample(train, config.data.most, seed=config.optimizer.seed)
    if not train:
        raise InputError(f"No records to train on in {', '.join(config.data.sets)}.")
    return TrainingData(train, sample(dev, config.watch.records, seed=MEASURED_SEED))


def read_split(folders: Iterable[Path], split: Split, *, task: Task = "both") -> list[Record]:
    """Read a split of data sets."""
    found: list[Record] = []
    for folder in folders if split == "train" else dict.fromkeys(folders):
        if not (folder / "stats.json").exists():
            raise InputError(
                f"{folder} is not a complete data set: stats.json is missing. Start the build "
                "again; it keeps what it has done."
            )
        path = folder / f"{split}.jsonl"
        for number, value in read_json_lines(path):
            record = check_record(value, f"{path}:{number}")
            if record["split"] != split:
                raise InputError(
                    f"{path}:{number}: split: this record is for {record['split']}, in a file for "
                    f"{split}. Build the data set again."
                )
            if task in ("both", record["task"]):
                found.append(record)
    return found


def sample(records: Sequence[Record], most: int, *, seed: int) -> list[Record]:
    """Choose records, the same ones whatever else there is; as many of each task."""
    drawn = sorted(records, key=lambda one: fraction(seed, "sample", one["id"]))
    before: Counter[str] = Counter()
    ranked: list[tuple[int, str, Record]] = []
    for one in drawn:
        ranked.append((before[one["task"]], one["task"], one))
        before[one["task"]] += 1
    return [one for _, _, one in sorted(ranked, key=lambda item: item[:2])[:most]]


def check_questions(records: Iterable[Record], formatter: PromptFormatter) -> None:
    """Check before training that each question fits into the window."""
    for record in records:
        said = f"{record['question']} {record.get('instruction', '')}"
        # A token is at least a byte, and the fixed words take some.
        if len(said.encode("utf-8", "replace")) + 400 > formatter.config.window:
            try:
                formatter.prompt(replace(as_request(record), chain=[]))
            except InputError as error:
                raise InputError(f"The question of {record['id']}: {error}") from error


class Examples:
    """Records by position as the examples that a Graph LLM learns from, as Trainer reads them."""

    def __init__(self, records: Sequence[Record], graphs: Graphs | None) -> None:
        self.records = records
        self._graphs = graphs

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, position: int) -> Example:
        """Return what the model is asked and what it is to write."""
        # It is defined beside the collator, which imports torch.
        from ras_flow.graph_llm.collate import Example  # noqa: PLC0415

        record = self.records[position]
        request = as_request(record)
        if self._graphs is not None:
            request = replace(request, graph=self._graphs[position])
        return Example(request, target_text(record))

    def lengths(self) -> list[int]:
        """Return about how many characters the model reads of each record."""
        return [_length(record) for record in self.records]


def examples_of(
    config: TrainingConfig, records: Sequence[Record], encoder: SentenceEncoder, log: Logger
) -> Examples:
    """Return records with their graphs, or those of others where the settings shuffle them."""
    if "graph" in config.model.without:
        return Examples(records, None)
    graphs = graphs_of(records, encoder)
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
    plans = [one for one in read_split(sets, "train", task="plan") if one["chain"]]
    if not plans:
        raise InputError(f"No plans after a search in {', '.join(config.pretrain.sets)}.")
    check_labels([*plans, *_held([data / name for name in config.data.sets])])
    return examples_of(config, plans, encoder, log)


def graphs_of(records: Sequence[Record], encoder: SentenceEncoder) -> Graphs:
    """Build the graphs of records; vectors are kept in the cache folder."""
    return build_graphs(records, encoder, cache_folder() / "embeddings")


def _held(folders: Sequence[Path]) -> list[Record]:
    """Read what is measured on; a set need not bring its ``test`` along."""
    tested = [folder for folder in folders if (folder / "test.jsonl").is_file()]
    return [*read_split(folders, "dev"), *read_split(tested, "test")]


def _length(record: Record) -> int:
    texts = [record["question"]]
    for link in record["chain"]:
        texts.append(link["subquery"])
        for item in (*link["triples"], *link.get("passages", ())):
            texts += [f"{part} || " for part in item]
    return sum(map(len, texts))
