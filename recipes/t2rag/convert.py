"""All that T²RAG's adapter learns from: rows of a task, an input and an output, by split."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from ras_flow.datasets.reading import read_rows
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.support.files import write_whole
from ras_flow.t2rag.formats.decomposition import format_decomposition
from ras_flow.t2rag.prompts.decompose import decompose_view
from ras_flow.training.splits import SPLITS, Split, fraction
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import Inputs, read_inputs
from recipes.graph_llm.sources.texts import mentions
from recipes.t2rag.gold import Gold, of_answered, of_case, of_musique, of_steps, slot_name
from recipes.t2rag.rounds import Pages, claimed, play
from recipes.t2rag.wordings import Names, questions

DECOMPOSED = {"2wiki": 1000, "musique": 450, "pathquestion": 100, "steps": 230, "qed": 250}
"""Training questions of each source at most, for decompose; others in proportion."""
WORDED = 900
RESOLVED = {
    "2wiki texts": 700,
    "2wiki": 250,
    "musique texts": 300,
    "musique": 60,
    "qed texts": 350,
    "openie texts": 350,
}
"""Rounds of each source, for resolve; MuSiQue's and 2Wiki's texts are played more than once."""
RESOLVABLE = ("2wiki", "musique", "qed", "openie")
HELD_OUT = 0.5
MOST_ANSWER = 7
"""Words of a value at most."""
BACKWARDS = 0.2
"""Share of the passages of which a subject is asked for."""
CLAIMS = 0.15
"""Share of the rounds of one clue that check a claim instead."""

TextRow = dict[str, str]


def rows_of(config: MixConfig, share: float = 1.0) -> Iterator[TextRow]:
    """Yield the rows of all splits; ``share`` scales the number of each source."""
    inputs = read_inputs(config)
    golds = list(_golds(config, inputs))
    told = {_asked(clue) for gold in golds if gold.split != "train" for clue in gold.clues}
    golds = [g for g in golds if g.source not in ("steps", "qed") or _new(g, told)]
    for split in SPLITS:
        part = [gold for gold in golds if gold.split == split]
        yield from _decomposed(part, split, share, config.seed)
    kept = {page.title for gold in golds if gold.split != "train" for page in gold.pages}
    golds += _of_pages(inputs, kept, config.seed)
    for split in SPLITS:
        pages = Pages(inputs.all_pages(split))
        part = [gold for gold in golds if gold.split == split]
        yield from _resolved(part, pages, split, share, config.seed)


def write_rows(path: Path, rows: Iterable[TextRow], seed: int) -> Counter[tuple[str, str, str]]:
    """Write rows as JSON lines, mixed; return how many there are by split, task and source."""
    listed = list({(row["task"], row["input"]): row for row in rows}.values())
    Random(seed).shuffle(listed)
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed))
    return Counter((row["split"], row["task"], row["source"]) for row in listed)


def _golds(config: MixConfig, inputs: Inputs) -> Iterator[Gold]:
    """Yield the questions of a mix with their clues."""
    for source, cases in zip(config.sources, inputs.cases, strict=True):
        splits = {case.id: split for split in SPLITS for case in cases[split]}
        for split in SPLITS:
            for case in cases[split]:
                if case.source == "qed":
                    yield from _of_reading(case, split)
                elif case.source != "musique" and (gold := of_case(case, split)):
                    yield gold
        if "musique" in {case.source for part in cases.values() for case in part}:
            for row in read_rows(source.file):
                if of := splits.get(row.text("id")):
                    if gold := of_musique(row, of):
                        yield gold
                    yield from of_steps(row, of)


def _of_reading(case: Case, split: Split) -> Iterator[Gold]:
    """Make the clue of a question that one paragraph answers."""
    page = case.steps[0].page
    names = [page.title, page.title.partition(" (")[0]]
    gold = of_answered(case.id, case.question, case.answer, names, split, "qed")
    if gold and len(case.answer.split()) <= MOST_ANSWER:
        yield replace(gold, pages=(page,))


def _of_pages(inputs: Inputs, kept: Collection[str], seed: int) -> Iterator[Gold]:
    """Ask for a field of a triple that an extractor found in a passage."""
    for split in SPLITS:
        for page in inputs.pages[split]:
            rng = Random(f"{seed}\0{page.title}\0{page.text}")
            facts = [
                fact
                for fact in page.triples
                if len(fact[2].split()) <= MOST_ANSWER and mentions(page.text, fact[2])
            ]
            if not page.title or not facts or (split == "train" and page.title in kept):
                continue
            subject, relation, object = rng.choice(facts)
            same = [f[2] for f in facts if f[:2] == (subject, relation)]
            slot = f"?{slot_name(relation)}"
            clue, values = (subject, relation, slot), tuple(dict.fromkeys(same))
            question = f"{subject} {relation} what?"
            if len(same) == 1 and rng.random() < BACKWARDS and mentions(page.text, subject):
                clue, values = (slot, relation, object), (subject,)
                question = f"What {relation} {object}?"
            yield Gold("openie", page.title, split, question, (clue,), (values,), (page,))


def _decomposed(golds: Sequence[Gold], split: Split, share: float, seed: int) -> Iterator[TextRow]:
    if split == "train":
        golds = [*golds, *questions(_names(golds), round(WORDED * share), seed)]
    for source, some in _by_source(golds, seed).items():
        for gold in some[: _most(DECOMPOSED.get(source, WORDED), split, share)]:
            yield {
                "id": gold.id,
                "source": source,
                "split": split,
                "task": "decompose",
                "input": decompose_view(gold.question),
                "output": format_decomposition(gold.clues),
            }


def _resolved(
    golds: Sequence[Gold], pages: Pages, split: Split, share: float, seed: int
) -> Iterator[TextRow]:
    rng = Random(f"{seed}\0{split}\0claims")
    sources = _by_source([g for g in golds if g.source in RESOLVABLE and g.pages], seed)
    for name, some in sources.items():
        texts = [gold for gold in some if any(page.text for page in gold.pages)]
        others = [gold for gold in some if not any(page.text for page in gold.pages)]
        for kind, listed in ((f"{name} texts", texts), (name, others)):
            values = [value for gold in listed for value in gold.values[0]]
            most = _most(RESOLVED.get(kind, 0), split, share)
            for number in range(most if listed else 0):
                if split != "train" and number >= len(listed):
                    break
                gold = listed[number % len(listed)]
                if len(gold.clues) == 1 and rng.random() < CLAIMS:
                    gold = claimed(gold, rng.sample(values, min(3, len(values))), rng)
                if made := play(gold, pages, seed, number // len(listed)):
                    yield {
                        "id": f"{gold.id}/{number // len(listed)}",
                        "source": kind,
                        "split": split,
                        "task": "resolve",
                        "input": made.view,
                        "output": made.reply,
                    }


def _by_source(golds: Iterable[Gold], seed: int) -> dict[str, list[Gold]]:
    found: dict[str, list[Gold]] = {}
    for gold in sorted(golds, key=lambda gold: fraction(seed, "t2rag", gold.source, gold.id)):
        found.setdefault(gold.source, []).append(gold)
    return found


def _most(count: int, split: Split, share: float) -> int:
    """Return how many of a split go with so many for training; held-out ones are few anyway."""
    return round(count * share * (1.0 if split == "train" else HELD_OUT))


def _names(golds: Iterable[Gold]) -> Names:
    """Return the names that training questions have, by what they are the subject or value of."""
    works: dict[str, None] = {}
    people: dict[str, None] = {}
    places: dict[str, None] = {}
    for gold in golds:
        if gold.source != "2wiki":
            continue
        for clue, found in zip(gold.clues, gold.values, strict=True):
            if clue[1] in ("director", "performer", "composer", "publisher"):
                works |= dict.fromkeys([clue[0]])
                people |= dict.fromkeys(found)
            elif clue[1] in ("place of birth", "place of death", "country"):
                places |= dict.fromkeys(found)
    return Names(*([n for n in some if not n.startswith("?")] for some in (works, people, places)))


def _asked(clue: Spo) -> tuple[str, str]:
    known = clue[2] if clue[0].startswith("?") else clue[0]
    return normalize_name(known), normalize_name(clue[1])


def _new(gold: Gold, told: Collection[tuple[str, str]]) -> bool:
    return gold.split != "train" or _asked(gold.clues[0]) not in told
