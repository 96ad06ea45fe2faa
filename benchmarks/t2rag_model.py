"""How well a model plays T²RAG's two roles on rows of `python -m recipes convert-t2rag`.

    python -m benchmarks.t2rag_model data/t2rag.jsonl local:default --split test --most 100

A decomposition is right where its clues join the question's names and each other as the gold ones
do; relations and names of slots may differ. A slot is right where its value is the gold one
(normalised), and the base model is asked with T²RAG's prompts and examples.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.llms import load_language_model
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.t2rag.formats.decomposition import parse_decomposition
from ras_flow.t2rag.formats.resolution import parse_resolution
from ras_flow.t2rag.parts import STOP, is_trained
from ras_flow.t2rag.prompts import decompose, resolve
from ras_flow.t2rag.settings import SHIPPED

PROMPTS = {"decompose": decompose, "resolve": resolve}
AT_ONCE = 16


def shape(clues: Iterable[Spo]) -> Counter[tuple[object, object]]:
    """Return how clues join names and slots, whatever slots and relations are called."""
    listed = list(clues)

    def of(field: str, depth: int) -> object:
        if not field.startswith("?"):
            return normalize_name(field.partition(" (")[0])
        found = sorted(
            (side, repr(of(other, depth - 1)))
            for subject, _, object_ in listed
            for side, own, other in (("o", object_, subject), ("s", subject, object_))
            if own == field and depth
        )
        return tuple(found)

    return Counter((of(subject, 3), of(object_, 3)) for subject, _, object_ in listed)


def decomposed(output: str, gold: str) -> dict[str, int]:
    """Judge a decomposition."""
    made, wanted = parse_decomposition(output), parse_decomposition(gold)
    return {
        "rows": 1,
        "usable": made.problem is None and bool(made.clues),
        "right": shape(made.clues) == shape(wanted.clues),
        "same number": len(made.clues) == len(wanted.clues),
        "lines": len(wanted.clues),
    }


def resolved(output: str, gold: str, view: str) -> dict[str, int]:
    """Judge the lines of a resolution."""
    made, wanted = parse_resolution(output), parse_resolution(gold)
    written = {(v.clue, normalize_name(v.value)): v for v in made.values}
    right = [v for v in wanted.values if (v.clue, normalize_name(v.value)) in written]
    slots = {v.clue for v in wanted.values}
    numbers = {place: list(v.numbers) for place, v in written.items()}
    cited = [v for v in right if numbers[v.clue, normalize_name(v.value)] == list(v.numbers)]
    verdicts = {(v.clue, v.supported) for v in made.verdicts}
    return {
        "rows": 1,
        "slots": len(slots),
        "filled rightly": len({v.clue for v in right}),
        "cited rightly": len({v.clue for v in cited}),
        "filled": len({v.clue for v in made.values}),
        "nothing to write": gold == "none",
        "nothing written": gold == "none" and not (made.values or made.verdicts),
        "claims": len(wanted.verdicts),
        "judged rightly": sum((v.clue, v.supported) in verdicts for v in wanted.verdicts),
        "stated": sum(normalize_name(v.value) in normalize_name(view) for v in made.values),
    }


async def measure(
    model: LanguageModel, rows: list[dict[str, str]], keep: Path | None
) -> dict[str, Counter[str]]:
    """Ask for all rows, some at a time; count by task and source."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for start in range(0, len(rows), 6 * AT_ONCE):  # Alike ones together, in mixed parts.
        part = rows[start : start + 6 * AT_ONCE]
        rows[start : start + 6 * AT_ONCE] = sorted(
            part, key=lambda row: (row["task"], len(row["input"]))
        )
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        prompts = [_prompt(model, row) for row in some]
        made = await model.generate(prompts, max_new_tokens=128, stop=STOP)
        for row, one in zip(some, made, strict=True):
            text = one.text.strip()
            judged = (
                decomposed(text, row["output"])
                if row["task"] == "decompose"
                else resolved(text, row["output"], row["input"])
            )
            for name in (row["source"], "all"):
                found[f"{row['task']}: {name}"].update(judged)
            if keep:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**row, "made": text}, ensure_ascii=False) + "\n")
        print(f"{start + len(some)} of {len(rows)}", file=sys.stderr)
    return found


def _prompt(model: LanguageModel, row: Mapping[str, str]) -> list[Any]:
    prompts = PROMPTS[row["task"]]
    told = prompts.TRAINED_INSTRUCTION if is_trained(model) else prompts.INSTRUCTION
    return ask(few_shot(told, []), row["input"])


def main(
    rows: Path,
    model: Annotated[str, typer.Argument(help="As runs name it; `shipped` for the adapter.")],
    split: str = "test",
    most: Annotated[int, typer.Option(help="Rows of each task and source.")] = 100,
    keep: Path | None = None,
) -> None:
    """Print a table of counts."""
    taken: Counter[tuple[str, str]] = Counter()
    chosen = []
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        place = row["task"], row["source"]
        if row["split"] == split and taken[place] < most:
            taken[place] += 1
            chosen.append(row)
    loaded = load_language_model(f"local:{SHIPPED}" if model == "shipped" else model)
    began = time.monotonic()
    found = asyncio.run(measure(loaded, chosen, keep))
    for name, counts in sorted(found.items()):
        print(name, ", ".join(f"{what} {count}" for what, count in counts.items()))
    print(f"{len(chosen)} rows in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    typer.run(main)
