"""A question with all that a converter knows of it: the common form between formats and records.

A case says which facts answer the question, in which steps they can be found, and how a person
would ask for each; :mod:`recipes.graph_llm.rollout` plays runs on it and writes records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo


@dataclass(frozen=True)
class Page:
    """What an extractor makes of one passage.

    Attributes:
        title: What the passage is about.
        triples: Its triples, in the order of the text.
        text: The passage; empty where only its triples are known.
    """

    title: str
    triples: tuple[Spo, ...]
    text: str = ""

    @cached_property
    def words(self) -> frozenset[str]:
        """The normalised words of all triples."""
        return frozenset(word for triple in self.triples for word in words_of(triple))

    @cached_property
    def slots(self) -> frozenset[tuple[str, str]]:
        """Subject and predicate of each triple, normalised: what it tells of what."""
        return frozenset((normalize_name(s), normalize_name(p)) for s, p, _ in self.triples)


@dataclass(frozen=True)
class Step:
    """One thing to find out.

    Attributes:
        phrasings: Ways to ask for it, the best first; empty where none is known.
        facts: Triples that all have to be seen before the step counts as done.
        page: Where they stand; holds ``facts`` and usually more.
        needs: Positions of the steps whose results the phrasings name.
        missing: No passage has it: it is never found.
        short: The facts in as few words as tell them, so that another extractor's triples can be
            held against them; empty where that is not known.
    """

    phrasings: tuple[str, ...]
    facts: tuple[Spo, ...]
    page: Page
    needs: tuple[int, ...] = ()
    missing: bool = False
    short: tuple[Spo, ...] = ()


@dataclass(frozen=True)
class Case:
    """A question.

    Attributes:
        source: Where it is from.
        id: Its name there.
        question: The main question Q.
        answer: The gold answer; empty where none is known, and then a step is ``missing``.
        steps: What has to be found, in order; empty for questions without any known facts.
        instruction: The task's wording for the answerer; empty for short answers.
        context: Passages given with the question that do not hold the facts: distractors.
        again: How many earlier cases of the source have its id: files that share questions, told
            in different ways, share their ids too.
        titles: Normalised titles of the pages that the question rests on.
        known: The base model answers it without a search.
    """

    source: str
    id: str
    question: str
    answer: str
    steps: tuple[Step, ...] = ()
    instruction: str = ""
    context: tuple[Page, ...] = ()
    again: int = 0
    titles: frozenset[str] = frozenset()
    known: bool = False

    @property
    def name(self) -> str:
        """Its id, told apart from that of earlier cases."""
        return f"{self.id}~{self.again}" if self.again else self.id


def words_of(triple: Spo) -> set[str]:
    """Return the normalised words of a triple."""
    return set(normalize_name(" ".join(triple)).split())


def short_name(name: str) -> str:
    """Return a name without what tells it from others: "Meydan" for "Meydan, Fars"."""
    return re.split(r",? \(|, ", name)[0] or name


def linked_words(fact: Spo) -> frozenset[str]:
    """Return the words of a fact's subject and object: whoever has them all may tell the fact."""
    return frozenset(normalize_name(f"{fact[0]} {fact[2]}").split())
