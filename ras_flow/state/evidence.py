"""Where a passage states a triple: the sentence that shares the most words with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ras_flow.formats.normalize import name_words
from ras_flow.formats.sentences import Span, sentence_spans
from ras_flow.state.schema import Passage, Triple

_TITLE_WEIGHT = 0.25
"""A passage's subject, which its title names, is often a mere "she" where something is said."""


def find_evidence(
    triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> dict[str, dict[str, Span]]:
    """Find the sentence of each triple in each of its passages.

    Of a triple's words those count the most that few sentences of the passage have; words of the
    passage's title count a quarter.
    """
    read: dict[str, _Sentences] = {}
    found: dict[str, dict[str, Span]] = {}
    for id, triple in triples.items():
        parts = (triple["subject"], triple["predicate"], triple["object"])
        words = {word for part in parts for word in name_words(part)}
        for passage in triple["passages"]:
            if passage not in passages:
                continue
            if passage not in read:
                read[passage] = _Sentences(passages[passage])
            span = read[passage].best(words)
            if span is not None:
                found.setdefault(id, {})[passage] = span
    return found


class _Sentences:
    """A passage's sentences and their words."""

    def __init__(self, passage: Passage) -> None:
        text = passage["text"]
        self._spans = list(sentence_spans(text))
        self._words = [set(name_words(text[start:end])) for start, end in self._spans]
        self._count = Counter(word for words in self._words for word in words)
        self._title = set(name_words(passage["title"]))

    def best(self, words: Iterable[str]) -> Span | None:
        weights = {
            word: (_TITLE_WEIGHT if word in self._title else 1.0) / self._count[word]
            for word in sorted(words)
            if word in self._count
        }
        scores = [sum(weights[word] for word in weights if word in has) for has in self._words]
        top = max(scores, default=0.0)
        return self._spans[scores.index(top)] if top > 0 else None
