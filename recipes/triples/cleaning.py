"""Cleaning: what every example goes through before it is split and trained on.

In turn, for each example: mojibake is mended (what cannot be is left out); examples with the same
title and text become one; lost letters, letter case, dates and predicates are restored
(:mod:`.spelling`); pronouns become the title; triples with placeholders ("[TABLECONTEXT]"), empty
or overlong fields, a pronoun, an object that is its subject, or what the text does not state
(:mod:`.support`) are left out; triples are put in the order of the text.

**Partial labels** must not teach a model to leave facts out. An example whose triples say at least
three quarters of the text's names and numbers, and half of all its telling words, is taken as
complete. One that says at least 40% of the names and numbers is kept as partial: it teaches what
facts look like, but neither its closing parenthesis nor its end is learnt from, since more should
follow (:mod:`.encoding`). Anything below is left out. (What is missing is added to labels by
:mod:`.completing`, before they come here.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256

import ftfy
from ftfy.badness import is_bad

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.triples import Spo, clean_field
from ras_flow.training.triples.examples import Example
from recipes.triples.spelling import (
    Vocabulary,
    begins_in_capitals,
    date_as_written,
    locate,
    tidy,
    tidy_predicate,
    with_lost_letter,
)
from recipes.triples.support import coverage, supported

ALIGNED = ("tekgen", "text2kgbench")
"""Sources whose triples were laid beside texts by a machine: what begins like this must be stated
in full; elsewhere, where a person or a model read the text, half of the words are enough."""

COMPLETE_NAMES = 0.75
COMPLETE_WORDS = 0.5
PARTIAL_NAMES = 0.4
MOST_WORDS = 20
UNTITLED = 0.3
"""Share of examples without a title of their own that stay without one; the others are given
their main subject, as passages at inference nearly always have a title."""

_PLACEHOLDER = re.compile(r"\[[A-Z ]+\]")


def clean(examples: Iterable[Example], *, seed: int = 13) -> list[Example]:
    """Clean examples of any sources."""
    mended = _merge(_mend(examples))
    predicates: dict[str, Counter[str]] = {}
    for example in mended:
        counted = predicates.setdefault(example.source, Counter())
        counted.update(predicate for _, predicate, _ in example.triples)
    vocabulary = Vocabulary((e.text for e in mended), (p for c in predicates.values() for p in c))
    capitalised = {source for source, found in predicates.items() if begins_in_capitals(found)}
    vocabulary.learn(
        name
        for example in mended
        if example.source in capitalised
        for subject, _, object in example.triples
        for name in (subject, object)
        if not locate(name, example.text)
    )
    cleaner = _Cleaner(vocabulary, capitalised, seed)
    return [kept for example in mended if (kept := cleaner(example))]


def _mend(examples: Iterable[Example]) -> Iterable[Example]:
    """Undo wrong decoding ("KÃ¤the"), and leave out texts that lost characters by it."""

    def mend(text: str) -> str:
        return tidy(text if text.isascii() else ftfy.fix_text(text))

    for example in examples:
        text = mend(example.text)
        if is_bad(text):
            continue
        triples = []
        for triple in example.triples:
            subject, predicate, object = map(clean_field, map(mend, triple))
            if not any(map(is_bad, (subject, predicate, object))):
                triples.append((subject, predicate, object))
        yield replace(example, title=mend(example.title), text=text, triples=tuple(triples))


def _merge(examples: Iterable[Example]) -> list[Example]:
    """Join what different rows say about one title and text."""
    merged: dict[tuple[str, str], Example] = {}
    for example in examples:
        key = normalize_name(example.title), normalize_name(example.text)
        first = merged.setdefault(key, replace(example, triples=()))
        merged[key] = replace(first, triples=(*first.triples, *example.triples))
    return list(merged.values())


@dataclass(frozen=True)
class _Cleaner:
    vocabulary: Vocabulary
    capitalised: set[str]
    seed: int

    def __call__(self, example: Example) -> Example | None:
        """Return the example, cleaned; None where it is left out."""
        triples = [self._respell(example, triple) for triple in example.triples]
        example = self._entitle(example, triples)
        kept: dict[tuple[str, ...], Spo] = {}
        for triple in triples:
            subject, predicate, object = triple
            if is_pronoun(subject) and example.title:
                subject = clean_field(example.title)
            if not _is_wrong(example, (subject, predicate, object)):
                key = tuple(map(normalize_name, (subject, predicate, object)))
                kept.setdefault(key, (subject, predicate, object))
        names, words = coverage(example.text, example.title, kept.values())
        if not kept or names < PARTIAL_NAMES:
            return None
        complete = names >= COMPLETE_NAMES and words >= COMPLETE_WORDS
        ordered = tuple(_in_order(example.text, kept.values()))
        return replace(example, triples=ordered, complete=complete)

    def _respell(self, example: Example, triple: Spo) -> Spo:
        subject, predicate, object = triple
        text = f"{example.title} {example.text}"
        capitalised = example.source in self.capitalised
        if capitalised:
            subject = with_lost_letter(subject, "S", text)
            predicate = with_lost_letter(predicate, "P", "")
            object = with_lost_letter(object, "O", text)
        object = date_as_written(object, text)
        if capitalised:
            subject, object = (self.vocabulary.spell(name, text) for name in (subject, object))
        else:
            subject, object = (
                found.name if (found := locate(name, text)) else name for name in (subject, object)
            )
        predicate = tidy_predicate(predicate, self.vocabulary, capitalised=capitalised)
        return clean_field(subject), clean_field(predicate), clean_field(object)

    def _entitle(self, example: Example, triples: list[Spo]) -> Example:
        """Give an example without a title its main subject, always where the text lacks it."""
        subjects = Counter(s for s, _, _ in triples if s and not is_pronoun(s))
        if example.title or not subjects:
            return example
        main = subjects.most_common(1)[0][0]
        if _PLACEHOLDER.fullmatch(main) or not any(map(str.isalpha, main)):
            return example
        drawn = sha256(f"{self.seed}\0title\0{example.id}".encode()).digest()[0] / 256
        return (
            example
            if locate(main, example.text) and drawn < UNTITLED
            else replace(example, title=main)
        )


def _is_wrong(example: Example, triple: Spo) -> bool:
    """Tell whether a triple is malformed, or says what the text does not state."""
    subject, _, object = triple
    text = f"{example.title} {example.text}"
    enough = 1.0 if example.source.startswith(ALIGNED) else 0.5
    return (
        any(map(_PLACEHOLDER.fullmatch, triple))
        or not all(map(normalize_name, triple))
        or max(len(part.split()) for part in triple) > MOST_WORDS
        or is_pronoun(subject)
        or is_pronoun(object)
        or normalize_name(subject) == normalize_name(object)
        or supported(subject, text) < 0.5
        or supported(object, text) < enough
    )


def _in_order(text: str, triples: Iterable[Spo]) -> list[Spo]:
    """Sort triples by where the text mentions their objects; others stay behind their neighbour."""
    placed = []
    place = -1
    for at, triple in enumerate(triples):
        found = locate(triple[2], text)
        place = found.start if found else place
        placed.append((place, at, triple))
    return [triple for _, _, triple in sorted(placed)]
