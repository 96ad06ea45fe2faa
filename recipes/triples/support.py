"""What a text says, as far as words can tell: which facts it states, and how much they cover.

Sources differ in how their triples were made. TekGen and Text2KGBench laid Wikidata's triples
beside sentences that mention subject and object: triples that no sentence states are among them
("sex or gender| male"), and most of what a sentence states is missing. The first would teach a
model to invent, so triples whose object is not in the text are left out; the second would teach it
to leave facts out, so what the triples cover of a text is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ras_flow.formats.triples import Spo

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_STOP = frozenset(
    "a an and are as at be been but by for from had has have he her his i in into is it its no not "
    "of on or she that the their then there these they this to was were which who with also after "
    "before during when while where since until one two other both each several some many most all "
    "such than about between under over known called named first".split()
)
_STEM = 5


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """Return a text's words in lower case, without possessive endings."""
    words = (word.casefold().replace("’", "'") for word in _WORD.findall(text))
    return tuple(word.removesuffix("'s").replace(".", "") for word in words)


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in words_of(text))


def supported(field: str, text: str) -> float:
    """Return the share of a field's words that a text has."""
    if field.casefold() in ("yes", "no"):
        return 1.0
    there = _stems(text)
    words = words_of(field)
    telling = [word for word in words if word not in _STOP] or words
    return sum(word[:_STEM] in there for word in telling) / len(telling) if telling else 0.0


def coverage(text: str, title: str, triples: Iterable[Spo]) -> tuple[float, float]:
    """Measure how much of a text its triples say."""
    said = set(_stems(title)).union(*(_stems(part) for triple in triples for part in triple))
    names: set[str] = set()
    words: set[str] = set()
    for written, word in zip(_WORD.findall(text), words_of(text), strict=True):
        if word in _STOP:
            continue
        words.add(word[:_STEM])
        if written[0].isupper() or any(map(str.isdigit, written)):
            names.add(word[:_STEM])
    return _share(names, said), _share(words, said)


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0
