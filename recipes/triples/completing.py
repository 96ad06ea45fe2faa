"""Labels completed: what an extractor makes of a passage, with the facts that it missed.

The evidence of multi-hop questions (2WikiMultihopQA's triples, MuSiQue's steps) is what an answer
rests on, but says one fact of a passage and leaves out all others; learnt from as it is, it would
teach to leave facts out. So an extractor reads the passage, its repetitions go, and a fact that it
did not find is added in words of the evidence. :mod:`.cleaning` then puts the triples in the order
of the text, leaves out what the text does not state, and marks as partial what still says too
little.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from langgraph.store.base import BaseStore

from ras_flow.datasets.facts import FactPassage, holds
from ras_flow.errors import InputError, ModelResponseError
from ras_flow.formats.normalize import has_name, normalize_name
from ras_flow.formats.text import plain
from ras_flow.formats.triples import Spo
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.training.lock import writer_lock
from ras_flow.training.triples.examples import Example, read_examples, write_examples
from ras_flow.training.triples.raw import AT_ONCE
from ras_flow.triples.cache import TripleCache
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import read_inputs

COMPLETED, WHOLE = "completed", "whole"
"""The sources of the examples that lacked a fact and of the others, for ``data.most``."""


def facts_of_mix(config: MixConfig, *, most_words: int | None = None) -> list[FactPassage]:
    """Find the short facts of a mix's training questions in the pages that state them."""
    found: dict[str, tuple[Passage, dict[Spo, None]]] = {}
    for cases in read_inputs(config).cases:
        for step in (step for case in cases["train"] for step in case.steps):
            text = step.page.text
            stated = [fact for fact in step.short if fact[1] and has_name(text, fact[2])]
            if stated and (most_words is None or len(text.split()) <= most_words):
                passage = make_passage(step.page.title, text)
                found.setdefault(passage["id"], (passage, {}))[1].update(dict.fromkeys(stated))
    if not found:
        raise InputError(
            "No page of the mix's training questions states a short fact of theirs. Name sources "
            "with documents and evidence, as those of 2WikiMultihopQA and MuSiQue."
        )
    return [FactPassage(passage, tuple(facts)) for passage, facts in found.values()]


def completed(stated: FactPassage, triples: Collection[Spo]) -> Example:
    """Return a passage with an extractor's triples, each once, and the facts that they lack."""
    passage = stated.passage
    kept = {tuple(map(normalize_name, triple)): triple for triple in reversed([*triples])}
    mine = list(reversed(kept.values()))
    missing = [fact for fact in stated.facts if not holds(mine, fact)]
    source = COMPLETED if missing else WHOLE
    return Example(
        id=f"{source}-{passage['id']}",
        source=source,
        title=passage["title"],
        text=passage["text"],
        triples=(*mine, *missing),
    )


async def complete(
    stated: Sequence[FactPassage],
    extractor: Extractor,
    out: Path,
    *,
    store: BaseStore | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> list[Example]:
    """Extract passages, complete their triples, and write a file to train on.

    The store keeps the triples, as it does those of runs.
    """
    if out.is_dir():
        raise InputError(f"{out} is a folder. Name a file, such as {out / 'completed.jsonl'}.")
    if out.exists() and {example.source for example in read_examples(out)} - {COMPLETED, WHOLE}:
        raise InputError(f"{out} holds something else. Name another file, or remove it.")
    cache = TripleCache(store, extractor.identity)
    # Texts of one length take one time, so that none waits for the others of its batch.
    passages = sorted((one.passage for one in stated), key=lambda passage: len(passage["text"]))
    made: dict[str, Extraction] = {}
    with writer_lock(out, by="completion"):
        for start in range(0, len(passages), AT_ONCE):
            some = passages[start : start + AT_ONCE]
            extractions = await cache.extract(some, extractor.extract)
            made |= {p["id"]: one for p, one in zip(some, extractions, strict=True)}
            log(f"{len(made)} of {len(passages)} texts")
        examples, problems = [], []
        for one in stated:
            extraction = made[one.passage["id"]]
            if extraction.error is None:
                examples.append(completed(one, extraction.triples))
            else:
                problems.append(extraction.error)
        if problems:
            said = (
                f"{len(problems)} of {len(stated)} passages could not be extracted; the same "
                f"command tries them again. The first problem: {plain(problems[0])}"
            )
            if not examples:
                raise ModelResponseError(said)
            log(said)
        write_examples(out, examples)
    return examples
