"""A text that is being written: guesses of how it goes on, and a way out where it repeats itself.

Triples and answers are mostly copied, so the way that prompt or text went on before is often right;
a model checks all tokens of a guess at once, in little more time than it takes to make one.
Known as prompt lookup decoding, or speculation by n-grams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

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


TWICE = 16
"""Tokens that a repeated block must fill before a text turns back: two copies of a triple do."""

LOOP = 64
"""Tokens that it must fill before the text is taken to say nothing else, and is ended.

A triple is written in some 16 tokens, and small models go on after two or three copies of one.
"""

LONGEST_BLOCK = 128
"""Tokens of the longest block that is looked for: a few triples."""


ITEM = "S>"
"""What begins each item of what a trained extractor writes: a triple."""


class Choice(NamedTuple):
    """The likeliest next token, the second likeliest, and by how much its logit is lower."""

    token: int
    other: int
    lead: float


class Text:
    """A text that is being written.

    Greedy decoding of small models often falls into a loop, and the rest of the text is lost. Such
    a text can turn back to its second copy of what it repeats, and go on there with the second
    likeliest token, at the word where that was nearest to the likeliest. So can one that repeats an
    earlier item, if a ``mark`` begins each item; once its turns are used up, it ends there.

    Attributes:
        tokens: The token ids that are written.
        ended: It would only repeat an item.
    """

    def __init__(self, words: Sequence[int] = (), turns: int = 0, mark: Sequence[int] = ()) -> None:
        self.tokens: list[int] = []
        self.ended = False
        self._mark = list(mark)
        self._choices: list[Choice] = []
        self._words = words
        self._lookup = Lookup(words)
        self._turns = turns

    def append(self, choice: Choice) -> None:
        """Write the next token."""
        self.tokens.append(choice.token)
        self._choices.append(choice)
        self._lookup.extend([choice.token])

    def guess(self, most: int) -> list[int]:
        """Return what may follow, as :meth:`ras_flow.llms.local.text.Lookup.guess` does."""
        return self._lookup.guess(most)

    def turn(self, begins_word: Callable[[Sequence[int], int], bool]) -> bool:
        """Turn back if the text repeats itself, or end it where it cannot."""
        again = last_again(self.tokens, self._mark)
        places = [
            at
            for at in (again or second_copy(self.tokens, TWICE) if self._turns else ())
            if self._choices[at].lead < inf
            and all(begins_word(self.tokens[:at], token) for token in self._choices[at][:2])
        ]
        if not places:
            if again:
                del self.tokens[again.start - len(self._mark) :]
                self.ended = True
            return False
        at = min(places, key=lambda place: self._choices[place].lead)
        turned = self._choices[at]._replace(token=self._choices[at].other, lead=inf)
        del self.tokens[at:], self._choices[at:]
        self._lookup = Lookup([*self._words, *self.tokens])
        self.append(turned)
        self._turns -= 1
        return True


def last_again(tokens: Sequence[int], mark: list[int]) -> range:
    """Return where the last whole item is, at the mark of the next, if an earlier is the same."""
    size = len(mark)
    if not size or list(tokens[-size:]) != mark:
        return range(0)
    starts = [at + size for at in range(len(tokens)) if list(tokens[at : at + size]) == mark]
    *earlier, last = [range(start, end - size) for start, end in pairwise([0, *starts])]
    same = any(tokens[one.start : one.stop] == tokens[last.start : last.stop] for one in earlier)
    return last if same else range(0)


def second_copy(tokens: Sequence[int], filled: int) -> range:
    """Return where a text that repeats itself has its second copy of what it repeats."""
    end = len(tokens)
    for size in range(1, min(LONGEST_BLOCK, end // 2) + 1):
        span = max(2 * size, -(-filled // size) * size)
        if span > end or tokens[-1] != tokens[-1 - size]:
            continue
        if list(tokens[end - span : end - size]) == list(tokens[end - span + size :]):
            return range(end - span + size, end - span + 2 * size)
    return range(0)


def repeats(tokens: Sequence[int]) -> bool:
    """Tell whether a text only repeats itself, as greedy decoding may do forever."""
    return bool(second_copy(tokens, LOOP))
