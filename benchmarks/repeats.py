"""What is to be done with a text that only repeats itself: end it, and when, or let it turn back?

    python benchmarks/repeats.py --data DIR [--passages 64]

The package's own extractor reads whole 2Wiki passages, of those in `triples-cpu.toml` that
`ras-flow train measure-triples --most 150` does not measure: a text ends once so many tokens repeat
a block, and before that turns back so many times (`ras_flow.llms.text`).
"""

from __future__ import annotations

import argparse
import asyncio
import platform
from pathlib import Path

from ras_flow.evaluation.facts import FactPassage, holds
from ras_flow.llms import text, tuned
from ras_flow.llms.local import LocalLanguageModel
from ras_flow.roles.extractors import make_extractor
from ras_flow.training.triples.comparing import drawn
from ras_flow.training.triples.config import read_config
from ras_flow.training.triples.data import load_data

MEASURED = 150
CONFIG = Path(__file__).parents[1] / "training_configs" / "triples-cpu.toml"
WAYS = ((64, 0), (64, 1), (64, 2), (64, 4), (64, 8))
"""After how many tokens a text ends, and how often it turns back before."""


def row(passages: list[FactPassage], loop: int, turns: int) -> str:
    """Extract in one way; return a row of the table."""
    text.LOOP, tuned.TURNS = loop, turns
    extractor = make_extractor(LocalLanguageModel(str(tuned.SHIPPED)))
    made = asyncio.run(extractor.extract([one.passage for one in passages]))
    found = sum(
        holds(its.triples, fact)
        for one, its in zip(passages, made, strict=True)
        for fact in one.facts
    )
    tokens = sum(one.output_tokens for one in made)
    triples = sum(len(one.triples) for one in made)
    end = "never" if loop > 1_000 else str(loop)
    return f"| {end} | {turns} | {tokens:,} | {triples} | {found} |"


def main(data: Path, count: int) -> None:
    """Print a table."""
    config = read_config(CONFIG)
    _, stated = drawn(load_data(config.data, data), None, seed=config.data.seed)
    passages = stated[MEASURED : MEASURED + count]
    facts = sum(len(one.facts) for one in passages)
    print(f"{platform.machine()}; {len(passages)} passages, {facts} facts\n")
    print("| ends after | turns | tokens | triples | facts found |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for loop, turns in WAYS:
        print(row(passages, loop, turns), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the files")
    parser.add_argument("--passages", type=int, default=64)
    given = parser.parse_args()
    main(given.data, given.passages)
