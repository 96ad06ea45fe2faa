"""A text that is being written: guesses of how it goes on, and whether it only repeats itself.

Triples and answers are mostly copied, so the way that prompt or text went on before is often right;
a model checks all tokens of a guess at once, in little more time than it takes to make one.
Known as prompt lookup decoding, or speculation by n-grams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SIZES = (2, 1)
"""How many of the last tokens must have been there before, best first."""


class Lookup:
    """What has been read and written, looked up by the last tokens."""

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        self._tokens: list[int] = []
        self._next: dict[tuple[int, ...], int] = {}
        self.extend(tokens)

    def extend(self, tokens: Iterable[int]) -> None:
        """Go on with these tokens."""
        for token in tokens:
            for size in SIZES:
                if len(self._tokens) >= size:
                    self._next[tuple(self._tokens[-size:])] = len(self._tokens)
            self._tokens.append(token)

    def guess(self, most: int) -> list[int]:
        """Return what followed the last time that the text was as it is at its end now.

        If that was so shortly before that less has followed, the text is taken to repeat itself.
        """
        for size in SIZES:
            start = self._next.get(tuple(self._tokens[-size:]))
            if start is not None:
                followed = len(self._tokens) - start
                found = [self._tokens[start + i % followed] for i in range(most)]
                return found[: next((i for i, token in enumerate(found) if token < 0), most)]
        return []


LOOP = 64
"""Tokens that a repeated block must fill before a text is taken to say nothing else, and is ended.

A triple is written in some 16 tokens, and small models go on after two or three copies of one.
"""

LONGEST_BLOCK = 128
"""Tokens of the longest block that is looked for: a few triples."""


def repeats(tokens: Sequence[int]) -> bool:
    """Tell whether a text only repeats itself, as greedy decoding may do forever."""
    end = len(tokens)
    for size in range(1, min(LONGEST_BLOCK, end // 2) + 1):
        span = max(2 * size, -(-LOOP // size) * size)
        if span > end or tokens[-1] != tokens[-1 - size]:
            continue
        if list(tokens[end - span : end - size]) == list(tokens[end - span + size :]):
            return True
    return False
