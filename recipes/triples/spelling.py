"""Names, dates and predicates as a text would write them.

WikiOFGraph's files lost two things on their way: the letter case of names ("Hms albury") and,
where a field began with the letter of its own marker, that letter ("osition" for "Position", "hi
wenqing" for "Shi Wenqing", "hio" for "Ohio"). Predicates of tables and ontologies come in upper
case, camel case, with underscores, or run together ("Alsoknownas"); Wikidata's dates in one order
("07 September 1929"), with a day where none is known ("01 January 1929").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPACED_MARK = re.compile(r"\s+([,:;.!?)])|(?<=\()\s+")
_SHORT_WORDS = frozenset("as at by in is of on to".split())
_MONTHS = "January February March April May June July August September October November December"
_WIKIDATA_DATE = re.compile(rf"(\d{{2}})? ?({'|'.join(_MONTHS.split())})? ?(\d{{3,4}})")
_LEAST_COUNT = 5
_LONGEST_PHRASE = 6


class Found(NamedTuple):
    """Where a text has a name, and how it writes it."""

    start: int
    name: str


def locate(name: str, text: str) -> Found | None:
    """Find a name in a text, whatever its letter case and the marks between its words."""
    words = _WORD.findall(name)
    folded = text.lower()
    # A pattern takes long to compile; most names are not there, or are there as they are.
    if not words or any(word.lower() not in folded for word in words):
        return None
    at = text.find(name)
    if at >= 0 and not _WORD.match(text[at - 1 : at]) and not _WORD.match(text, at + len(name)):
        return Found(at, name)
    spaced = r"[^\w]{0,3}".join(map(re.escape, words))
    pattern = rf"(?<!\w)(?:{re.escape(name)}|{spaced})(?!\w)"
    found = re.search(pattern, text, re.IGNORECASE)
    return Found(found.start(), found[0]) if found else None


def with_lost_letter(field: str, letter: str, text: str) -> str:
    """Give back a first letter that was lost."""
    if not field[:1].islower() or locate(field, text):
        return field
    if letter == "P" and field.startswith("p"):
        return field
    return letter + field


class Vocabulary:
    """The words of a collection of texts, and how they write names."""

    def __init__(self, texts: Iterable[str], predicates: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._counts: Counter[str] = Counter()
        for text in self._texts:
            self._counts.update(word.lower() for word in _LETTERS.findall(text))
        for predicate in predicates:
            if " " in predicate:
                self._counts.update(word.lower() for word in _LETTERS.findall(predicate))
        self._spellings: dict[str, str] = {}

    def learn(self, names: Iterable[str]) -> None:
        """Note how the texts write these names, for :meth:`spell`."""
        wanted: dict[tuple[str, ...], Counter[str]] = {}
        for name in names:
            words = tuple(name.casefold().split())
            if 0 < len(words) <= _LONGEST_PHRASE:
                wanted[words] = Counter()
        lengths = sorted({len(words) for words in wanted})
        for text in self._texts:
            written = [word.strip(".,;:()\"'") for word in text.split()]
            folded = [word.casefold() for word in written]
            for at in range(len(written)):
                for length in lengths:
                    found = wanted.get(tuple(folded[at : at + length]))
                    if found is not None:
                        found[" ".join(written[at : at + length])] += 1
        self._spellings = {
            " ".join(words): found.most_common(1)[0][0] for words, found in wanted.items() if found
        }

    def spell(self, name: str, text: str) -> str:
        """Return a name as its text writes it, else as most texts do, else unchanged."""
        found = locate(name, text)
        if found:
            return found.name
        return self._spellings.get(" ".join(name.casefold().split()), name)

    def split(self, word: str) -> str:
        """Part a run-together word that no text has into words that texts have often."""
        if len(word) < 6 or self._counts[word.lower()]:
            return word
        parts = self._parts(word.lower(), {})
        return " ".join(parts[1]) if parts and len(parts[1]) > 1 else word

    def _parts(
        self, rest: str, known: dict[str, tuple[int, list[str]] | None]
    ) -> tuple[int, list[str]] | None:
        """Return the fewest words that make up a text, and minus their counts' sum."""
        if not rest:
            return 0, []
        if rest not in known:
            best: tuple[int, list[str]] | None = None
            for end in range(2, len(rest) + 1):
                head = rest[:end]
                if end == 2 and head not in _SHORT_WORDS or self._counts[head] < _LEAST_COUNT:
                    continue
                tail = self._parts(rest[end:], known)
                if tail and (best is None or len(tail[1]) + 1 < len(best[1])):
                    best = tail[0] - self._counts[head], [head, *tail[1]]
            known[rest] = best
        return known[rest]


def tidy(name: str) -> str:
    """Squeeze a name's whitespace and close gaps before its marks ("Munger , Missouri")."""
    return _SPACED_MARK.sub(r"\1", " ".join(name.split()))


def date_as_written(field: str, text: str) -> str:
    """Write one of Wikidata's dates ("07 September 1929", "01 January 1929") as a text does."""
    found = _WIKIDATA_DATE.fullmatch(field.replace("00  ", ""))
    if not found or not re.search(rf"(?<!\d){found[3]}(?!\d)", text):
        return field
    day, month, year = found[1], found[2], found[3]
    if day and month:
        number = day.lstrip("0")
        either = rf"(?:{number} {month},? {year}|{month} {number},? {year})"
        whole = re.search(rf"(?<!\d){either}(?!\d)", text)
        if whole:
            return whole[0]
    if month:
        part = re.search(rf"{month},? {year}(?!\d)", text)
        if part:
            return part[0]
    return year


def tidy_predicate(predicate: str, vocabulary: Vocabulary, *, capitalised: bool = False) -> str:
    """Write a predicate as plain words."""
    words = tidy(predicate.replace("_", " "))
    if " " not in words:
        words = _CAMEL.sub(" ", words)
        if words != predicate:
            words = words.lower()
    if words.isupper():
        words = words.lower()
    if not capitalised:
        return words
    words = words[:1].lower() + words[1:]
    return " ".join(vocabulary.split(word) if word.isalpha() else word for word in words.split())


def begins_in_capitals(predicates: Mapping[str, int]) -> bool:
    """Tell whether a source writes its predicates "Like this", whatever they are."""
    total = sum(predicates.values())
    titled = sum(n for p, n in predicates.items() if p[:1].isupper() and p[1:] == p[1:].lower())
    return total > 0 and titled >= 0.9 * total
