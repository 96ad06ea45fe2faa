"""Statistics of a built set (paper table 4), and its card."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from ras_flow.formats.history import format_history
from ras_flow.state.kg import QueryKG
from ras_flow.support.files import write_whole
from ras_flow.support.markdown import table
from ras_flow.training.data.records import LABELS, Record
from ras_flow.training.data.requests import as_graph, as_request, target_text

CHARACTERS_A_TOKEN = 4

TASKS = ("plan", "answer")


@dataclass
class Stats:
    """Counts records as they are written.

    Attributes:
        counts: Records by source, split, and label (or "answer").
        sizes: Sizes by task and measure.
        dropped: What was left out, by reason.
        inputs: Questions by file and split.
    """

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    sizes: defaultdict[str, defaultdict[str, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    dropped: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, dict[str, int]] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count a record. Tokens are estimated at four characters each."""
        label = record["target"].get("label", "answer")
        self.counts[record["source"], record["split"], label] += 1
        request, said = as_request(record), target_text(record)
        read = format_history(request.question, request.chain, instruction=request.instruction)
        kg = QueryKG.from_triples(as_graph(record)[0])
        sizes = {
            "input tokens": _tokens(read.text),
            "output tokens": _tokens(said),
            "subqueries": len(record["chain"]),
            "nodes": len(kg.entities),
            "edges": len(kg.triples),
        }
        for name, size in sizes.items():
            self.sizes[record["task"]][name].append(size)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return {
            "records": self.by(0, 1, 2),
            "labels": self.by(2),
            "sizes": {
                task: {name: _summary(sizes) for name, sizes in self.sizes[task].items()}
                for task in TASKS
            },
            "dropped": self.dropped,
            "questions": self.inputs,
            "usage": self.usage,
            "settings": self.settings,
            "sha256": self.checksums,
        }

    def by(self, *parts: int) -> dict[str, int]:
        """Sum the counts over all but the named parts of their keys, written "a/b"."""
        sums: Counter[str] = Counter()
        for key, count in self.counts.items():
            sums["/".join(key[part] for part in parts)] += count
        return dict(sorted(sums.items()))

    def table(self) -> str:
        """Return the statistics in the form of table 4, as Markdown."""
        labels = self.by(2)
        answers = labels.get("answer", 0)
        rows = [["records", sum(labels.values()) - answers, answers]]
        for name in dict.fromkeys(name for task in TASKS for name in self.sizes[task]):
            cells = [_cell(self.sizes[task].get(name, ())) for task in TASKS]
            rows.append([f"{name} (min, mean, median, max)", *cells])
        rows += [[f"[{label}]", labels.get(label, 0), "–"] for label in LABELS]
        return table(["", "planning", "answering"], rows)


def write_card(folder: Path, stats: Stats) -> None:
    """Write ``README.md`` and, last, ``stats.json``: where that is, the set is complete."""
    names = [*LABELS, "answer"]
    counts = stats.by(0, 2)
    sources = dict.fromkeys(source for source, _, _ in sorted(stats.counts))
    rows = [[source, *(counts.get(f"{source}/{name}", 0) for name in names)] for source in sources]
    parts = [
        "# Training data for the Graph LLM",
        stats.table(),
        "Tokens are estimated at four characters each. `stats.json` has the settings, what was "
        "left out, and the questions and checksums of the input files.",
        table(["source", *names], rows),
    ]
    write_whole(folder / "README.md", "\n\n".join(parts) + "\n")
    value = json.dumps(stats.to_json(), ensure_ascii=False, indent=1)
    write_whole(folder / "stats.json", value + "\n")


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _summary(sizes: Sequence[int]) -> dict[str, float]:
    figures = min(sizes), round(mean(sizes), 1), median(sizes), max(sizes)
    return dict(zip(("min", "mean", "median", "max"), figures, strict=True))


def _cell(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:g}" for size in _summary(sizes).values()) if sizes else "–"
