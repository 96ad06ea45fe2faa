"""Statistics of a built set (paper table 4), and its card."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from ras_flow.formats.history import format_history
from ras_flow.state.kg import QueryKG
from ras_flow.support.files import write_whole
from ras_flow.training.data.records import LABELS, Record
from ras_flow.training.data.requests import as_graph, as_request, target_text

CHARACTERS_A_TOKEN = 4


@dataclass
class Stats:
    """Counts records as they are written.

    Attributes:
        counts: Records by source, split, and label (or "answer").
        hops: Plans by label and length of the chain.
        numbers: Sizes by task and measure.
        dropped: What was left out, by reason.
        inputs: Questions by file and split.
    """

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    hops: Counter[tuple[str, int]] = field(default_factory=Counter)
    numbers: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, dict[str, int]] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Count a record. Tokens are estimated at four characters each."""
        task, target, chain = record["task"], record["target"], record["chain"]
        label = target.get("label", "answer")
        self.counts[record["source"], record["split"], label] += 1
        if task == "plan":
            self.hops[label, len(chain)] += 1
        said = target_text(record)
        kg = QueryKG.from_triples(as_graph(record)[0])
        sizes = {
            "input tokens": _tokens(_text(record)),
            "output tokens": _tokens(said),
            "subqueries": len(chain),
            "nodes": len(kg.entities),
            "edges": len(kg.triples),
        }
        if label == "SUBQ":
            sizes["[SUBQ] tokens"] = _tokens(said)
        for name, size in sizes.items():
            self.numbers.setdefault((task, name), []).append(size)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return {
            "records": self.by(0, 1, 2),
            "labels": self.by(2),
            "hops": {
                label: {
                    str(hop): n for (name, hop), n in sorted(self.hops.items()) if name == label
                }
                for label in LABELS
            },
            "sizes": {
                task: {name: _summary(n) for (of, name), n in self.numbers.items() if of == task}
                for task in ("plan", "answer")
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
        rows = [("records", str(sum(labels.values()) - answers), str(answers))]
        for name in "input tokens,output tokens,subqueries,[SUBQ] tokens,nodes,edges".split(","):
            plan, answer = (_cell(self.numbers.get((task, name))) for task in ("plan", "answer"))
            rows.append((f"{name} (min, mean, median, max)", plan, answer))
        rows += [(f"[{label}]", str(labels.get(label, 0)), "–") for label in LABELS]
        lines = ["| | planning | answering |", "| --- | --- | --- |"]
        return "\n".join(lines + [f"| {a} | {b} | {c} |" for a, b, c in rows])


def write_card(folder: Path, stats: Stats) -> None:
    """Write ``README.md`` and, last, ``stats.json``: where that is, the set is complete."""
    names = [*LABELS, "answer"]
    sources: dict[str, Counter[str]] = {}
    for (source, _, label), count in stats.counts.items():
        sources.setdefault(source, Counter())[label] += count
    lines = [
        "# Training data for the Graph LLM",
        "",
        stats.table(),
        "",
        "Tokens are estimated at four characters each. `stats.json` has the settings, what was "
        "left out, and the questions and checksums of the input files.",
        "",
        f"| source | {' | '.join(names)} |",
        f"| --- |{' --- |' * len(names)}",
        *(
            f"| {source} | {' | '.join(str(counts[name]) for name in names)} |"
            for source, counts in sorted(sources.items())
        ),
    ]
    write_whole(folder / "README.md", "\n".join(lines) + "\n")
    value = json.dumps(stats.to_json(), ensure_ascii=False, indent=1)
    write_whole(folder / "stats.json", value + "\n")


def _text(record: Record) -> str:
    """Return what the model reads, without the fixed prompt around it."""
    request = as_request(record)
    return format_history(request.question, request.chain, instruction=request.instruction).text


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _summary(sizes: list[int]) -> dict[str, float]:
    return {
        "min": min(sizes),
        "mean": round(mean(sizes), 1),
        "median": median(sizes),
        "max": max(sizes),
    }


def _cell(sizes: list[int] | None) -> str:
    return ", ".join(f"{size:g}" for size in _summary(sizes).values()) if sizes else "–"
