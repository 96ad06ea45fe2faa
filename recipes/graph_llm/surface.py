"""Gold triples as an extractor would have written them.

Evidence triples are clean: one label a relation, one spelling a name. What a model extracts is
not. So a share of the triples is respelled, always in ways that keep their meaning: another
predicate, subject and object swapped with the inverse predicate, "October 5, 1987" as
"5 October 1987", a title without its "(1915 film)"; in some runs all predicates have a capital. A
name that the question itself writes with its "(1915 film)" may lose it here, as at inference.
"""

from __future__ import annotations

import re
from random import Random

from ras_flow.formats.triples import Spo, clean_field
from recipes.graph_llm.relations import spellings

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_MONTH_FIRST = re.compile(rf"({_MONTHS}) (\d{{1,2}}), (\d{{3,4}})")
_DAY_FIRST = re.compile(rf"(\d{{1,2}}) ({_MONTHS}) (\d{{3,4}})")
_QUALIFIER = re.compile(r"(?<=\w) \((?:[\w' -]* )?(?:film|song|album|novel|book|series)\)", re.I)


class Surface:
    """Respells triples; the same triple always the same way, as one extractor would."""

    def __init__(self, rng: Random, share: float) -> None:
        self._rng = rng
        self._share = share
        self._known: dict[Spo, Spo] = {}
        self._names: dict[str, str] = {}
        self._capitals = self._chance(0.3)

    def __call__(self, triple: Spo) -> Spo:
        """Return the triple as it will be seen."""
        if triple not in self._known:
            self._known[triple] = self._respell(triple)
        return self._known[triple]

    def _respell(self, triple: Spo) -> Spo:
        others = spellings(triple)
        if others and self._chance():
            triple = self._rng.choice(others)
        subject, predicate, object = triple
        if self._capitals:
            predicate = predicate[:1].upper() + predicate[1:]
        return (
            self.name(subject),
            clean_field(predicate),
            self.name(object),
        )

    def name(self, text: str) -> str:
        """Return a subject or object as it will be seen, the same in every triple."""
        if text not in self._names:
            self._names[text] = clean_field(self._name(text))
        return self._names[text]

    def _name(self, text: str) -> str:
        if match := _MONTH_FIRST.fullmatch(text):
            return f"{match[2]} {match[1]} {match[3]}" if self._chance() else text
        if match := _DAY_FIRST.fullmatch(text):
            return f"{match[2]} {match[1]}, {match[3]}" if self._chance() else text
        return _QUALIFIER.sub("", text) if self._chance() else text

    def _chance(self, factor: float = 1.0) -> bool:
        return self._rng.random() < self._share * factor
