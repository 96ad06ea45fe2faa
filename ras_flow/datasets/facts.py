"""Recall of answer-bearing facts: does a graph hold what a question needs of a passage?

The facts are 2WikiMultihopQA's evidence triples, each on the supporting passage that states it.
Whole passages are extracted, and only what an answer rests on is counted. Wikidata's names
("date of birth") seldom are a text's ("born on"), so the predicate is not compared: a fact is found
where a triple joins its subject and its object, in either direction. A name is met by the same
words (token F1 of at least 0.5), and an object also where it stands whole inside a longer one
("American" in "American film director").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ras_flow.datasets.reading import Row, read_rows
from ras_flow.formats.normalize import has_name, normalize_name, token_f1
from ras_flow.formats.triples import Spo
from ras_flow.state.schema import Passage, make_passage

ALIKE = 0.5
"""Token F1 from which two names are taken for one."""

MOST_WORDS = 15
"""Words of an object in which a shorter one may stand; a longer one is a sentence."""


@dataclass(frozen=True)
class FactPassage:
    """A whole passage and the answer-bearing facts that it states."""

    passage: Passage
    facts: tuple[Spo, ...]


def read_facts(path: Path) -> list[FactPassage]:
    """Read the passages that state the evidence of multi-hop questions."""
    found: dict[str, tuple[Passage, list[Spo]]] = {}
    for row in read_rows(path):
        for passage, fact in _stated(row):
            _, facts = found.setdefault(passage["id"], (passage, []))
            if fact not in facts:
                facts.append(fact)
    return [FactPassage(passage, tuple(facts)) for passage, facts in found.values()]


def titles_of(path: Path) -> set[str]:
    """Return all titles of a file of :func:`read_facts`, to be kept out of training."""
    return {doc.text("title") for row in read_rows(path) for doc in row.rows("docs")}


def holds(triples: Iterable[Spo], fact: Spo) -> bool:
    """Tell whether extracted triples hold a fact."""
    subject, _, object = fact
    return any(
        (token_f1(s, subject) >= ALIKE and _meets(o, object))
        or (token_f1(o, subject) >= ALIKE and _meets(s, object))
        for s, _, o in triples
    )


def fact_recall(passages: Sequence[FactPassage], triples: Sequence[Iterable[Spo]]) -> float:
    """Return the share of the facts that an extractor found."""
    found = total = 0
    for passage, made in zip(passages, triples, strict=True):
        made = list(made)
        found += sum(holds(made, fact) for fact in passage.facts)
        total += len(passage.facts)
    return found / total if total else 1.0


def _stated(row: Row) -> Iterator[tuple[Passage, Spo]]:
    """Yield each evidence triple with the supporting passage that has its object."""
    texts = {doc.text("title"): " ".join(doc.texts("sents")) for doc in row.rows("docs")}
    support = [title for title, _ in row.pairs("support") if title in texts]
    for fact in row.triples("triples"):
        subject = normalize_name(fact[0])
        for title in dict.fromkeys(support):
            key, text = normalize_name(title), texts[title]
            about = subject in key or key in subject
            if about and has_name(text, fact[2]):
                passage = make_passage(title, text)
                yield passage, fact
                break


def _meets(name: str, wanted: str) -> bool:
    if token_f1(name, wanted) >= ALIKE:
        return True
    return len(normalize_name(name).split()) <= MOST_WORDS and has_name(name, wanted)
