"""How often is a text that repeats a triple or loops to turn back before it is ended?

    python benchmarks/repeats.py --data DIR [--passages 64]

The package's own extractor reads whole 2Wiki passages, of those in `triples-cpu.toml` that
`ras-flow train measure-triples --most 150` does not measure (`ras_flow.llms.local.text`).
"""

from __future__ import annotations

import argparse
import asyncio
import platform
from pathlib import Path
from typing import Any

from ras_flow.datasets.facts import FactPassage, holds
from ras_flow.llms.local import tuned
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.text import ITEM
from ras_flow.parts.prompted import make_extractor
from ras_flow.parts.records import Generation
from ras_flow.support.validation import read_toml
from ras_flow.training.triples.comparing import drawn
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import load_data

MEASURED = 150
CONFIG = Path(__file__).parents[1] / "recipes" / "configs" / "triples-cpu.toml"
TURNS = (0, 1, 2, 4)


class Counted(LocalLanguageModel):
    """A model that counts the triples that it writes, those that are left out later too."""

    written = 0

    async def generate(self, prompts: Any, **settings: Any) -> list[Generation]:
        """Continue each prompt."""
        made = await super().generate(prompts, **settings)
        self.written += sum(one.text.count(f"({ITEM}") for one in made)
        return made


def row(passages: list[FactPassage], turns: int) -> str:
    """Extract with so many turns; return a row of the table."""
    tuned.TURNS = turns
    model = Counted(str(tuned.SHIPPED))
    extractor = make_extractor(model)
    made = asyncio.run(extractor.extract([one.passage for one in passages]))
    found = sum(
        holds(its.triples, fact)
        for one, its in zip(passages, made, strict=True)
        for fact in one.facts
    )
    tokens = sum(one.output_tokens for one in made)
    triples = sum(len(one.triples) for one in made)
    return f"| {turns} | {tokens:,} | {triples} | {model.written - triples} | {found} |"


def main(data: Path, count: int) -> None:
    """Print a table."""
    config = read_toml(CONFIG, TrainingConfig)
    _, stated = drawn(load_data(config.data, data), None, seed=config.data.seed)
    passages = stated[MEASURED : MEASURED + count]
    facts = sum(len(one.facts) for one in passages)
    print(f"{platform.machine()}; {len(passages)} passages, {facts} facts\n")
    print("| turns | tokens | triples | written again or not readable | facts found |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for turns in TURNS:
        print(row(passages, turns), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder of clean.jsonl and the facts"
    )
    parser.add_argument("--passages", type=int, default=64)
    given = parser.parse_args()
    main(given.data, given.passages)
