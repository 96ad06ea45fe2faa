"""How many facts of pages that training never read does an extractor find, and with what predicate?

    python benchmarks/facts.py local:default local:FOLDER [--out FILE]

The pages are gold pages of development and untouched questions of `graph-llm-next-mix.toml` that no
training question shares: with 2WikiMultihopQA's evidence, with the facts of MuSiQue's steps, and of
HotpotQA with the answer. A fact counts as found whatever stands between its ends
(`ras_flow.datasets.facts`), "was born in" for a place of death too; so of 2WikiMultihopQA's it is
also counted how many have a predicate with a word that fits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from ras_flow.datasets.facts import holds
from ras_flow.formats.normalize import has_name
from ras_flow.formats.triples import Spo
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.tuned import extractor_name
from ras_flow.parts.prompted import make_extractor
from ras_flow.parts.records import Extraction, Generation
from ras_flow.state.schema import Passage, make_passage
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import load_config
from recipes.graph_llm.inputs import read_inputs

MIX = Path(__file__).parents[1] / "recipes" / "configs" / "graph-llm-next-mix.toml"
MOST = {"2wiki": 200, "hotpotqa": 200, "musique": 100}
MOST_WORDS = 299
AT_ONCE = 32
BIRTH, DEATH, MADE = ("born", "birth"), ("death", "died", "killed"), ("date", "is", "was", "year")
CHILD, PARENT = ("child", "daughter", "son"), ("father", "mother", "parent")
NATION = ("citizen", "country", "from", "is", "nation", "origin", "was")
FITTING: dict[str, tuple[str, ...]] = {
    "child": (*CHILD, *PARENT),
    "composer": ("compos", "music", "score", "written"),
    "country": (*NATION, "city", "in", "located"),
    "country of citizenship": (*NATION, "occupation"),
    "country of origin": (*NATION, "genre"),
    "date of birth": BIRTH,
    "date of death": (*DEATH, "lived", "until"),
    "director": ("direct", "film by"),
    "father": (*CHILD, *PARENT, "born to"),
    "mother": (*CHILD, *PARENT, "born to"),
    "performer": ("album", "artist", "by", "perform", "record", "song", "single", "sung"),
    "place of birth": (*BIRTH, "from", "native"),
    "place of death": DEATH,
    "publication date": (*MADE, "film", "premier", "publi", "releas"),
    "sibling": ("brother", "sibling", "sister"),
    "spouse": ("consort", "husband", "marri", "spouse", "wed", "widow", "wife"),
}
"""Beginnings of words, one of which a triple's predicate has if it states the relation."""


class Page(NamedTuple):
    """A page and what is to be found in it: facts, or answers."""

    source: str
    passage: Passage
    facts: set[Spo]
    answers: set[str]


def pages_of(mix: Path) -> list[Page]:
    """Return the pages that no training question shares, the same ones each time."""
    cases = read_inputs(load_config(mix)).cases
    read = {id for of in cases for case in of["train"] for id in _passages(case)}
    pages: dict[str, Page] = {}
    for case in (one for of in cases for split in ("dev", "test") for one in of[split]):
        for id, (passage, stated) in _passages(case).items():
            text = passage["text"]
            if case.source not in MOST or id in read or len(text.split()) > MOST_WORDS:
                continue
            page = pages.setdefault(id, Page(case.source, passage, set(), set()))
            if case.source != "hotpotqa":
                page.facts.update(fact for fact in stated if has_name(text, fact[2]))
            elif case.answer not in ("yes", "no") and has_name(text, case.answer):
                page.answers.add(case.answer)
    drawn: dict[str, list[Page]] = {source: [] for source in MOST}
    for id in sorted(pages, key=lambda id: md5(id.encode(), usedforsecurity=False).digest()):
        page = pages[id]
        if (page.facts or page.answers) and len(drawn[page.source]) < MOST[page.source]:
            drawn[page.source].append(page)
    return [page for of in drawn.values() for page in of]


def _passages(case: Case) -> dict[str, tuple[Passage, list[Spo]]]:
    found: dict[str, tuple[Passage, list[Spo]]] = {}
    for step in case.steps:
        if step.page.text:
            passage = make_passage(step.page.title, step.page.text)
            found.setdefault(passage["id"], (passage, []))[1].extend(step.short)
    return found


class Counted(LocalLanguageModel):
    """A model that counts the triples that it writes, those that are left out later too."""

    written = 0

    async def generate(self, prompts: Any, **settings: Any) -> list[Generation]:
        """Continue each prompt."""
        made = await super().generate(prompts, **settings)
        self.written += sum(one.text.count("(S>") for one in made)
        return made


async def extract(model: Counted, pages: list[Page]) -> list[Extraction]:
    """Extract the pages, those of a similar length together."""
    extractor = make_extractor(model)
    made: list[Extraction] = []
    for at in range(0, len(pages), AT_ONCE):
        made += await extractor.extract([page.passage for page in pages[at : at + AT_ONCE]])
    return made


def fits(triple: Spo, relation: str) -> bool:
    """Tell whether a triple's predicate has a word that fits a relation."""
    return any(f" {word}" in f" {triple[1].lower()}" for word in FITTING[relation])


def counted(page: Page, made: Extraction) -> list[int]:
    """Return a page's counts, in the order of the table's columns."""
    triples = [(s, p, o) for s, p, o in made.triples]
    holding = {fact: [one for one in triples if holds([one], fact)] for fact in page.facts}
    named = {fact: ones for fact, ones in holding.items() if fact[1] in FITTING}
    ends = [end for s, _, o in triples for end in (s, o)]
    told = [any(has_name(end, answer) for end in ends) for answer in page.answers]
    fitting = [any(fits(one, fact[1]) for one in ones) for fact, ones in named.items()]
    found = [bool(ones) for ones in holding.values()] + told
    right = [sum(found), len(found), sum(fitting), len(fitting)]
    return [1, *right, len(triples), made.output_tokens]


def main(names: list[str], out: Path | None) -> None:
    """Print a table, a row for each set."""
    pages = sorted(pages_of(MIX), key=lambda one: len(one.passage["text"]))
    print("| extractor | set | pages | found | of | fitting predicate | of | triples | tokens |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    kept = {}
    for name in names:
        model = Counted(extractor_name(name).removeprefix("local:"), batch_size=16)
        made = asyncio.run(extract(model, pages))
        for source in MOST:
            rows = [
                counted(page, one)
                for page, one in zip(pages, made, strict=True)
                if page.source == source
            ]
            sums = " | ".join(f"{sum(column):,}" for column in zip(*rows, strict=True))
            print(f"| {name} | {source} | {sums} |", flush=True)
        again = model.written - sum(len(one.triples) for one in made)
        print(f"| {name} | written again, or not readable: {again} of {model.written} |||||||||")
        kept[name] = [
            {**page.passage, "facts": [*page.facts, *page.answers], "triples": one.triples}
            for page, one in zip(pages, made, strict=True)
        ]
    if out:
        out.write_text(json.dumps(kept, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extractors", nargs="+", help="as runs name them")
    parser.add_argument("--out", type=Path, help="JSON file for the pages and their triples")
    given = parser.parse_args()
    main(given.extractors, given.out)
