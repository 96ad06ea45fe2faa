"""What a resolver reads of a round, and what it replies: a line a slot.

::

    c1 ?director = Aino Laine [1]
    c2 = yes [2]
    Aino Laine | country of citizenship | ?country
    answer = Northern Light

A slot's value with the passages that state it; the verdict on a claim; a new clue; the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.hop_reply import Fact, cited_numbers, facts_of, numbers_at_end
from ras_flow.formats.plan import visible
from ras_flow.formats.reply import spoken
from ras_flow.formats.triples import Spo, clean_field
from ras_flow.state.schema import Passage
from ras_flow.t2rag.clues import is_value, says_something, slots_of, tidied
from ras_flow.t2rag.formats.decomposition import LONGEST, format_clue

QUESTION = "Question: "
KNOWN = "Known: "
NOTHING = "none"
CLAIM = " (true?)"
"""What marks a clue without slots in a view: it is to be checked, not filled."""
MOST_LINES = 64

_LINE = re.compile(
    r"[\s>*_`#-]*+(?:[\[(]?c\s?(\d{1,3})[\])]?[.:)]?[\s*_`]*+)?([?？]\w+)?[\s*_`]*+"
    r"(?:=+>?|:|->|→|(?=\b(?:yes|no)\b))[\s*_`]*+(.+)",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"[\s>*_`#-]*+(?:final\s+)?answer[\s*_`]*+[=:](?:[*_`]+(?=\s))?\s*(.+)", re.IGNORECASE
)
_VERDICT = re.compile(
    r"[\W_]*(?:(yes|true|supported|confirmed|correct)|(no|false|contradicted|refuted|incorrect))"
    r"[\W_]*",
    re.IGNORECASE,
)
_NEXT = re.compile(r"(?<=[\]］】])\s*[;；]\s*")
"""What parts the alternatives of one slot on one line."""


@dataclass(frozen=True)
class Value:
    """A line that fills a slot.

    Attributes:
        clue: Which clue it names, 1 for the first; 0 if it names none.
        slot: The slot; empty for the only one of its clue.
        value: The value.
        numbers: The passages that are said to state it.
    """

    clue: int
    slot: str
    value: str
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Judged:
    """A line that judges a claim."""

    clue: int
    supported: bool
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Resolution:
    """What was read from a resolver's reply.

    Attributes:
        values: Values of slots, in their order; alternatives of a slot one after the other.
        verdicts: What it says of claims.
        triples: Clues that it wrote out, with or without slots: repeated ones, or new ones.
        answer: The answer to the question, if it came along.
    """

    values: Sequence[Value] = ()
    verdicts: Sequence[Judged] = ()
    triples: Sequence[Fact] = ()
    answer: str = ""


@dataclass(frozen=True)
class ResolveRequest:
    """What a resolver is asked.

    Attributes:
        question: The main question.
        clues: The open clues in their current form, ``c1`` first; claims have no slot.
        passages: The round's passages; the first is number 1.
        propositions: What was found, with the numbers of its passages.
        resolved: The clues that are resolved already.
        texts: How many passages are written with their texts, the first ones; None for all.
    """

    question: str
    clues: Sequence[Spo]
    passages: Sequence[Passage]
    propositions: Sequence[Fact]
    resolved: Sequence[Spo] = ()
    texts: int | None = None

    def brief(self) -> ResolveRequest:
        """Leave out the propositions of passages that are written as text, which say the same."""
        texts = len(self.passages) if self.texts is None else self.texts
        kept = [fact for fact in self.propositions if not 0 < min(fact.numbers, default=0) <= texts]
        return replace(self, propositions=kept)


def resolve_view(request: ResolveRequest) -> str:
    """Write what a resolver reads: training and inference with the same function.

    Each proposition is written once, below its first passage::

        1 [<title>] <text>
        - <subject> | <predicate> | <object>
        Known: <subject> | <predicate> | <object>
        Question: <question>
        c1: <subject> | <predicate> | ?slot
    """
    lines, below = list[str](), dict[int, list[Spo]]()
    for fact in request.propositions:
        below.setdefault(min(fact.numbers, default=0), []).append(fact.spo)
    for number, passage in enumerate(request.passages, 1):
        whole = request.texts is None or number <= request.texts
        if whole or number in below:
            lines.append(_passage(number, passage, whole=whole))
        lines += [f"- {format_clue(spo)}" for spo in below.get(number, ())]
    lines += [f"- {format_clue(spo)}" for spo in below.get(0, ())]
    lines += [f"{KNOWN}{format_clue(spo)}" for spo in request.resolved]
    lines.append(f"{QUESTION}{' '.join(request.question.split())}")
    for number, spo in enumerate(request.clues, 1):
        lines.append(f"c{number}: {format_clue(spo)}{'' if slots_of(spo) else CLAIM}")
    return "\n".join(lines)


def format_resolution(resolution: Resolution) -> str:
    """Write a reply: the training target, and the form of the prompt's examples."""
    lines = [
        f"c{one.clue} {one.slot}".rstrip() + f" = {clean_field(one.value)}{_cited(one.numbers)}"
        for one in resolution.values
    ]
    lines += [
        f"c{one.clue} = {'yes' if one.supported else 'no'}{_cited(one.numbers)}"
        for one in resolution.verdicts
    ]
    lines += [format_clue(fact.spo) + _cited(fact.numbers) for fact in resolution.triples]
    lines += [f"answer = {resolution.answer}"] * bool(resolution.answer)
    return "\n".join(lines) or NOTHING


def parse_resolution(text: str) -> Resolution:
    """Read a reply in the form above; never raises."""
    lines = visible(spoken(text[:LONGEST])).split("\n")
    read = [one for line in lines for one in _read(line)]
    facts = [Fact(tidied(one.spo), one.numbers) for one in read if isinstance(one, Fact)]
    answer = next((said[1] for said in map(_ANSWER.fullmatch, lines[::-1]) if said), "")
    answer = clean_answer(cited_numbers(answer)[0])
    return Resolution(
        list(dict.fromkeys(one for one in read if isinstance(one, Value)))[:MOST_LINES],
        list(dict.fromkeys(one for one in read if isinstance(one, Judged)))[:MOST_LINES],
        [fact for fact in facts if says_something(fact.spo)][:MOST_LINES],
        answer,
    )


def _read(line: str) -> Iterator[Value | Judged | Fact]:
    """Read what one line says."""
    read = _LINE.fullmatch(line)
    if read is None or not (read[1] or read[2]):
        yield from facts_of(line)
        return
    clue, slot, said = int(read[1] or 0), read[2], read[3]
    rest, numbers = numbers_at_end(said)
    if slot is None:
        if verdict := _VERDICT.fullmatch(rest):
            yield Judged(clue, verdict[1] is not None, tuple(numbers))
            return
        if written := list(facts_of(said)):
            yield from written
            return
    for one in _NEXT.split(said):
        text, numbers = numbers_at_end(one)
        value = clean_field(text.strip(" *_`"))
        if is_value(value):
            yield Value(clue, f"?{slot[1:].casefold()}" if slot else "", value, tuple(numbers))


def _passage(number: int, passage: Passage, *, whole: bool) -> str:
    """Write a passage; only its first line begins at the margin, as no line of a text may."""
    title = " ".join(passage["title"].split())
    lines = [line for line in passage["text"].strip().splitlines() if line.strip()]
    return f"{number} [{title}] " + "\n  ".join(lines) if whole else f"{number} [{title}]"


def _cited(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    return f" {listed}" if listed else ""
