"""Guesses of how a text goes on: the way its prompt, or the text itself, went on before.

Triples and answers are mostly copied, so many such guesses are right; a language model checks all
tokens of a guess at once, in little more time than it takes to make one. Known as prompt lookup
decoding, or speculation by n-grams.
"""

from __future__ import annotations

from collections.abc import Iterable

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
