"""What an answer can rest on: the facts and sentences that a run found, and what links them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import log

import regex

from ras_flow.formats.headings import ABOVE
from ras_flow.formats.normalize import name_words
from ras_flow.formats.rows import EMPTY, row_cells
from ras_flow.formats.sentences import Span, sentence_spans
from ras_flow.state.kg import QueryKG, spo_of
from ras_flow.state.names import Names, is_proper, words_in
from ras_flow.state.schema import Citation, Passage, Triple

_TITLE_WEIGHT = 0.25
"""A passage's subject, which its title names, is often a mere "she" where something is said."""

_LINES = regex.compile(r"(?:[^\n]+|\n(?=[ \t]*\p{Ll}))+")
"""A row of a table, an item of a list, or lines of a paragraph that go on in lower case."""


class Sentences:
    """A passage's sentences and their words."""

    def __init__(self, passage: Passage) -> None:
        text = passage["text"]
        self.spans: list[Span] = [
            (line.start() + start, line.start() + end)
            for line in _LINES.finditer(text)
            for start, end in sentence_spans(line[0])
        ]
        self.texts = [text[start:end] for start, end in self.spans]
        self._at: dict[str, list[int]] = {}
        for at, sentence in enumerate(self.texts):
            for word in set(name_words(sentence)):
                self._at.setdefault(word, []).append(at)
        self._title = set(name_words(passage["title"]))

    def best(self, words: Collection[str]) -> int | None:
        """Return the position of the sentence that shares the most with some words."""
        scores = [0.0] * len(self.texts)
        for word in sorted(self._at.keys() & words):
            places = self._at[word]
            share = (_TITLE_WEIGHT if word in self._title else 1.0) / len(places)
            for at in places:
                scores[at] += share
        top = max(scores, default=0.0)
        return scores.index(top) if top > 0 else None


class Reader:
    """Reads each passage once, for the sentences that state triples.

    The fewer sentences of the passage have a word of the triple, the more it counts; words of the
    passage's title count a quarter.
    """

    def __init__(self, passages: Mapping[str, Passage]) -> None:
        self.passages = passages
        self._read: dict[str, Sentences] = {}

    def sentences(self, passage: str) -> Sentences:
        """Return a passage's sentences."""
        if passage not in self._read:
            self._read[passage] = Sentences(self.passages[passage])
        return self._read[passage]

    def stating(self, triple: Triple) -> dict[str, int]:
        """Return, for each passage of a triple that states it, the position of the sentence."""
        words = {word for part in spo_of(triple) for word in name_words(part)}
        found = {
            passage: self.sentences(passage).best(words)
            for passage in triple["passages"]
            if passage in self.passages
        }
        return {passage: at for passage, at in found.items() if at is not None}

    def cite(self, id: str, triple: Triple) -> Citation:
        """Make a citation of a fact."""
        stating = self.stating(triple)
        passages = sorted(triple["passages"], key=lambda passage: passage not in stating)
        first = passages[0] if passages and passages[0] in self.passages else ""
        at = stating.get(first)
        cited = self.cite_passage(first, at) if first else _NOTHING
        return {
            **cited,
            "triple": id,
            "passages": passages,
            "subject": triple["subject"],
            "predicate": triple["predicate"],
            "object": triple["object"],
        }

    def cite_passage(self, id: str, sentence: int | None) -> Citation:
        """Make a citation of a passage as text, by the position of one of its sentences."""
        passage = self.passages[id]
        text = "" if sentence is None else self.sentences(id).texts[sentence]
        return {
            **_NOTHING,
            "passages": [id],
            "title": passage["title"],
            "source": passage.get("source", ""),
            "sentence": text,
        }


_NOTHING = Citation(
    triple="", passages=[], subject="", predicate="", object="", title="", source="", sentence=""
)


def find_evidence(
    triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> dict[str, dict[str, Span]]:
    """Find the sentence of each triple in each of its passages."""
    reader = Reader(passages)
    found = {
        id: {
            passage: reader.sentences(passage).spans[at]
            for passage, at in reader.stating(triple).items()
        }
        for id, triple in triples.items()
    }
    return {id: spans for id, spans in found.items() if spans}


_ROOTS = {
    form: forms.split()[0]
    for forms in (
        "born birth birthplace birthday birthdate, die died death dead, build built, "
        "write wrote written writer author, make made maker, teach taught, lead led leader, "
        "study studied studies student, win won winner, fly flew flown flight, "
        "sing sang sung song singer, take took taken, hold held, speak spoke spoken speech, "
        "give gave given, begin began begun, sell sold, buy bought, "
        "spouse wife husband married marry marriage, child children son daughter, "
        "nation nationality citizenship citizen, compose composer composed composition"
    ).split(", ")
    for form in forms.split()
}
"""English words of one root or relation that do not begin alike."""

NUMBER = "#"
"""Stands for any number among the words of a unit."""

_CAPITALS = regex.compile(r"\b\p{Lu}\w+(?: (?:(?:of|the|de|von) )*\p{Lu}\w+)*")
_ITEM = regex.compile(r"\s*(?:[-*•]|\d+[.)])\s")
ENDS = (".", "!", "?", "。", "！", "？", "।", "؟", '."', ".)")
_COMMON = 3
"""A name in at most this many sentences may link two that are not about it."""


@dataclass(slots=True, eq=False)
class Unit:
    """A fact, or a sentence of a passage.

    Attributes:
        triple: The fact's id; empty for a sentence.
        passage: The id of the sentence's passage; empty for a fact.
        sentence: The position of the sentence in it.
        said: The words that it states; of a sentence those of its passage's title too.
        words: The same; of a fact also those of the sentence that states it, and its title's.
        names: The proper names in it, in the form of :class:`Names`.
        about: Those that it tells something about: the fact's subject, the passage's title.
        places: The passages that state it.
        row: Whether it is a row or an item, about which its neighbours say nothing.
    """

    triple: str
    passage: str
    sentence: int
    said: frozenset[str]
    words: frozenset[str]
    names: frozenset[str]
    about: frozenset[str]
    places: frozenset[str]
    row: bool = False


def stem(word: str) -> str:
    """Return what two forms of a common word share; it equals no word."""
    return f"~{_ROOTS.get(word, word).removesuffix('s')[:5]}"


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    return (word, stem(word), NUMBER) if word[0].isdecimal() else (word, stem(word))


def with_stems(words: Iterable[str]) -> frozenset[str]:
    """Add the stems of words."""
    return frozenset(chain.from_iterable(map(_forms, words)))


def _stemmed(*texts: str) -> frozenset[str]:
    return with_stems(chain.from_iterable(map(words_in, texts)))


class Evidence:
    """The facts and sentences of a run.

    Attributes:
        units: All of them.
        names: The names in them.
        described: Those that something is told about; they link what mentions them.
        empty: Cells that a table leaves empty: passage, the row's subject, the column's name.
    """

    def __init__(self, triples: Mapping[str, Triple], passages: Mapping[str, Passage]) -> None:
        self._reader = Reader(passages)
        self._facts = QueryKG.from_triples(triples)
        self._titles = {id: _stemmed(passage["title"]) for id, passage in passages.items()}
        entities = [*filter(is_proper, self._facts.entities.values())]
        titles = (part for one in passages.values() for part in one["title"].split(ABOVE))
        names = [*entities, *filter(is_proper, titles)]
        if not triples:  # Without a graph, what looks like a name may link two sentences.
            found = (_CAPITALS.findall(one["text"]) for one in passages.values())
            names += [name for each in found for name in each]
        self.names = Names(names)
        self.empty: list[tuple[str, str, str]] = []
        sentences = [unit for id, one in passages.items() for unit in self._sentences(id, one)]
        self._lines = {
            (one.passage, one.sentence): self._titles[one.passage] if one.row else one.words
            for one in sentences
        }
        known = set(map(self.names.form, entities))
        facts = [self._fact(id, known) for id in triples]
        self.units = facts + sentences
        self._by_name: dict[str, list[Unit]] = {}
        for unit in self.units:
            for name in unit.names:
                self._by_name.setdefault(name, []).append(unit)
        self.described = set[str]().union(*(unit.about for unit in self.units))
        if not triples:
            self.described |= {name for name, at in self._by_name.items() if len(at) <= _COMMON}
        texts: dict[str, set[str]] = {}
        for unit in sentences or facts:
            texts.setdefault(unit.passage or unit.triple, set()).update(unit.words)
        self._texts = list(texts.values())

    def at(self, name: str) -> list[Unit]:
        """Return the units that a name is in."""
        return self._by_name.get(name, [])

    def rarity(self, word: str, *, at_least: int = 0) -> float:
        """Return how much a word tells: 1 if no text has it, less the more have it."""
        count = sum(word in text for text in self._texts)
        return 1.0 - log(1 + max(count, at_least)) / log(2 + len(self._texts))

    def cite(self, unit: Unit) -> Citation:
        """Make a citation of a unit."""
        if unit.triple:
            return self._reader.cite(unit.triple, self._facts.triples[unit.triple])
        return self._reader.cite_passage(unit.passage, unit.sentence)

    def states(self, sentence: Unit, fact: Unit) -> bool:
        """Tell whether a sentence is the one that states a fact."""
        stating = self._reader.stating(self._facts.triples[fact.triple])
        return stating.get(sentence.passage) == sentence.sentence

    def _fact(self, id: str, entities: set[str]) -> Unit:
        triple = self._facts.triples[id]
        said = _stemmed(*spo_of(triple))
        places = self._reader.stating(triple).items()
        words = said.union(*(self._lines[place] for place in places))
        subject, object = map(self.names.form, (triple["subject"], triple["object"]))
        names = frozenset({subject, object} & entities)
        return Unit(id, "", 0, said, words, names, names & {subject}, frozenset(triple["passages"]))

    def _sentences(self, id: str, passage: Passage) -> Iterable[Unit]:
        about = frozenset(
            self.names.form(part) for part in passage["title"].split(ABOVE) if is_proper(part)
        )
        titles, places = self._titles[id], frozenset([id])
        for at, text in enumerate(self._reader.sentences(id).texts):
            names = about | self.names.within(text)
            row = _is_row(text)
            cells = row_cells(text) if row else []
            words = titles | _stemmed(" ".join(value for _, value in cells) if cells else text)
            if not cells:
                yield Unit("", id, at, words, words, names, about, places, row)
                continue
            # The first cell names the row.
            self.empty += [(id, cells[0][1], name) for name, value in cells if value == EMPTY]
            for cell in cells[1:]:
                said = titles | _stemmed(" ".join((*cells[0], *cell)))
                yield Unit("", id, at, said, said | words, names, about, places, row)


def _is_row(text: str) -> bool:
    return bool(_ITEM.match(text)) or not text.endswith(ENDS)
