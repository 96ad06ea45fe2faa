"""After how many repeated tokens a text may be ended without losing facts.

    python benchmarks/repeats.py --data DIR [--passages 64] [--tokens 256]

The package's own extractor reads whole 2Wiki passages, of those in `triples-cpu.toml` that
`ras-flow train measure-triples --most 150` does not measure, and nothing ends its texts. Then each
is cut where `ras_flow.llms.decoding.repeats` would have cut it, for several lengths.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from ras_flow.evaluation.facts import FactPassage, holds
from ras_flow.formats.triples import parse_triples
from ras_flow.llms import decoding
from ras_flow.llms.local import LocalLanguageModel, load_tokenizer
from ras_flow.llms.tuned import SHIPPED, find_tuned
from ras_flow.prompts.extractor import source
from ras_flow.roles.extractor_forms import trained_form
from ras_flow.roles.prompting import ask
from ras_flow.training.triples.comparing import drawn
from ras_flow.training.triples.config import read_config
from ras_flow.training.triples.data import load_data

MEASURED = 150
CONFIG = Path(__file__).parents[1] / "training_configs" / "triples-cpu.toml"


def unended(passages: list[FactPassage], tokens: int) -> list[str]:
    """Return what the extractor writes where nothing ends its loops."""
    tuned = find_tuned(str(SHIPPED))
    assert tuned is not None
    form, model = trained_form(tuned.instruction), LocalLanguageModel(str(SHIPPED))
    texts = [source(one.passage["title"], one.passage["text"]) for one in passages]
    prompts = [ask(form.prefix, text) for text in texts]
    ends, decoding.repeats = decoding.repeats, lambda _: False
    made = asyncio.run(model.generate(prompts, max_new_tokens=tokens))
    decoding.repeats = ends
    return [one.text for one in made]


def main(data: Path, count: int, tokens: int) -> None:
    """Print a table."""
    config = read_config(CONFIG)
    _, stated = drawn(load_data(config.data, data), None, seed=config.data.seed)
    passages = stated[MEASURED : MEASURED + count]
    tokenizer = load_tokenizer(str(SHIPPED))
    written = [
        tokenizer.encode(text, add_special_tokens=False) for text in unended(passages, tokens)
    ]
    facts = sum(len(one.facts) for one in passages)
    print(f"{len(passages)} passages, {facts} facts, at most {tokens} new tokens\n")
    print(
        "| ended after | tokens | facts found | different triples |\n| ---: | ---: | ---: | ---: |"
    )
    for loop in (32, 48, 64, 96, tokens + 1):
        decoding.LOOP = loop
        kept = found = different = 0
        for one, ids in zip(passages, written, strict=True):
            ends = (end for end in range(loop, len(ids)) if decoding.repeats(ids[:end]))
            ids = ids[: next(ends, len(ids))]
            triples = parse_triples(tokenizer.decode(ids)).triples
            kept += len(ids)
            found += sum(holds(triples, fact) for fact in one.facts)
            different += len({json.dumps(triple) for triple in triples})
        print(f"| {loop if loop <= tokens else 'never'} | {kept:,} | {found} | {different} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the files")
    parser.add_argument("--passages", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256)
    given = parser.parse_args()
    main(given.data, given.passages, given.tokens)
