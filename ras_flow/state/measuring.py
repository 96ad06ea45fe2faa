"""How well facts and sentences support an answer.

A chain leads from what states the answer back to what the question names. Its score is the share
of the question's words that it covers, where names, numbers and relations count double, words that
many passages have count little, and each further link costs something. It is worth less if the
chain has said all that is asked before it comes to the answer, or if the answer is of the wrong
kind. An answer of several parts is worth as much as its weakest part.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from textwrap import shorten
from typing import NamedTuple

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.sentences import sentence_spans
from ras_flow.formats.text import has_word
from ras_flow.state.asking import Question
from ras_flow.state.chains import MISFIT, Asked, Chains, Measured, weakest
from ras_flow.state.comparing import compare
from ras_flow.state.evidence import Evidence, Unit, stem, with_stems
from ras_flow.state.names import content_words, longest

_BESIDE = 0.7
"""Factor on a score where what states the answer says nothing of what is asked."""

_BEYOND = 0.3
"""The same factor where other facts say all that is asked: the answer is a step too far."""

_SHORT = 3
"""All words of an answer this short must be stated, even if none is a name or a number."""

_LONG = 6
"""Words of an explanation at least, beside those of the question."""

_SHOWN = 80
"""Characters of an answer that a reason quotes."""

_PART_ENDS = re.compile(r"(?<!\d),|,(?!\d)|[;\n，、；]|\s(?:and|und|et|y|e|и|&)\s")


def measure(answer: str, question: Question, evidence: Evidence) -> Measured:
    """Measure how well all that was found supports an answer."""
    asked, answered = question.words, content_words(answer)
    echoes = answered.keys() <= asked.keys()
    if question.is_verdict(answer) or (echoes and question.chooses):
        return compare(question, answer, evidence)
    if echoes:
        return Measured(0.0, why="The answer only repeats the question.")
    named = longest(evidence.names.within(question.text))
    spelled = {word for name in named for word in normalize_name(name).split()}
    rest = {word: asked[word] or word in spelled for word in asked if word not in answered}
    wanted = Asked(rest, question, evidence)
    chains = Chains(evidence, named - evidence.names.within(answer))
    stems = with_stems(asked)
    parts = _parts(answer, asked, evidence.units)
    measured = weakest([_measure_part(part, stems, wanted, chains, evidence) for part in parts])
    if misfit := question.misfit(answer) or _mistaken(named, measured.units, evidence):
        return measured._replace(score=measured.score * MISFIT, why=misfit)
    return measured


def _mistaken(named: set[str], units: Sequence[Unit], evidence: Evidence) -> str:
    """Say whom units speak of in place of what a question names; empty if of nobody else."""
    spoken_of = {name for unit in units for name in unit.names}
    for name in named - spoken_of:
        if others := spoken_of & evidence.names.others(name) - named:
            return f'The question names "{name}", and what was found "{min(others)}".'
    return ""


def measure_own(
    answer: str, question: Question, units: Sequence[Unit], evidence: Evidence
) -> Measured:
    """Measure how much of an answer, and of what was asked, a model's own citations state.

    A verdict or one of the things compared states nothing by itself: the question's words count.
    """
    asked, answered = question.words, content_words(answer)
    told = {word: answered[word] for word in answered.keys() - asked.keys()}
    if question.is_verdict(answer) or not told:
        told = {word: asked[word] for word in asked.keys() - answered.keys()} or asked
    if not told or not any(word in unit.said for unit in units for word in asked):
        return Measured(0.0)
    chosen: list[Unit] = []
    facts = [unit for unit in units if unit.triple]
    named = [word for word in asked if asked[word]]

    def worth(unit: Unit) -> tuple[int, bool, int]:
        new, every = (sum(_says(unit, word) for word in of) for of in (left, told | asked))
        return new, unit in facts, every

    # A sentence is cited for a name or number that was asked for, a fact for any word.
    for words, among in ((told, units), (asked, facts), (named, units)):
        left = {word for word in words if any(_says(unit, word) for unit in among)}
        while left := {word for word in left if not any(_says(unit, word) for unit in chosen)}:
            chosen.append(max(among, key=worth))
    stated = sum(any(_says(unit, word) for unit in chosen) for word in told)
    return Measured(stated / len(told), chosen[::-1])


def measure_long(answer: str, question: Question, evidence: Evidence) -> Measured:
    """Measure how much of an explanation is stated by the passages that state the most of it.

    An explanation answers in words of its own, so these count. In a short answer they would prove
    nothing, nor do they prove a verdict or an answer of the wrong kind.
    """
    words = content_words(answer).keys() - question.words.keys()
    if len(words) < _LONG or question.is_verdict(answer) or question.misfit(answer):
        return Measured(0.0)
    said: dict[str, set[str]] = {}
    for unit in evidence.units:
        for place in unit.places:
            said.setdefault(place, set()).update(unit.said)
    places: set[str] = set()
    for start, end in sentence_spans(answer):
        stems = {stem(word) for word in content_words(answer[start:end]).keys() & words}
        best = max(said, key=lambda place: len(stems & said[place]), default="")
        places.update([best] if stems else [])
    units = [unit for unit in evidence.units if not unit.places.isdisjoint(places)]
    return measure_own(answer, question, units, evidence)


def _says(unit: Unit, word: str) -> bool:
    return stem(word) in unit.said


class _Part(NamedTuple):
    """A part of an answer: its names, the words that must be stated, and others, half of which."""

    text: str
    names: frozenset[str]
    must: frozenset[str]
    others: Collection[str]

    def stating(self, units: Iterable[Unit]) -> list[Unit]:
        """Return the units that state it, those that have the most of its words."""
        held = {
            unit: sum(stem(word) in unit.said for word in self.others)
            for unit in units
            if self.must <= unit.said
        }
        most = max(held.values(), default=0)
        needed = len(self.must) + len(self.others)
        enough = (len(self.must) + most) * 2 >= needed > 0
        return [unit for unit, count in held.items() if count == most] if enough else []


def _measure_part(
    part: _Part, asked: Collection[str], wanted: Asked, chains: Chains, evidence: Evidence
) -> Measured:
    stating = part.stating(evidence.units)
    for passage, subject, name in evidence.empty:
        if (words := with_stems(content_words(f"{subject} {name}"))) <= {*asked} and not any(
            unit.passage != passage and words <= unit.said for unit in stating
        ):
            return Measured(0.0, why=f'The documents leave "{name}" of "{subject}" empty.')
    chain = chains.pruned(chains.best(stating, wanted), wanted)
    said = shorten(part.text, _SHOWN, placeholder="…")
    if not chain:
        return Measured(0.0, why=f'No fact or sentence that was found states "{said}".')
    score, missed = wanted.score(chain), wanted.missed(chain)
    why = f'What states "{said}" does not speak of: {", ".join(missed[:3])}.'
    if wanted.goes_beyond(chain, part.names):
        score *= _BESIDE if wanted.missed(chain[1:]) else _BEYOND
        why = why if missed else f'"{said}" lies beyond what is asked for.'
    return Measured(score, chain[::-1], why)


def _parts(answer: str, asked: Mapping[str, bool], units: Sequence[Unit]) -> list[_Part]:
    """Return what of an answer has to be stated: all of it at once, or else each of its parts."""
    whole = _part(answer)
    if whole.stating(units):
        return [whole]
    pieces = [
        _part(piece)
        for start, end in sentence_spans(answer)
        for piece in _PART_ENDS.split(answer[start:end])
        if has_word(piece)
    ]
    telling = [part for part in pieces if part.names - asked.keys()]
    return telling or [part for part in pieces if {*part.must, *part.others} - asked.keys()]


def _part(text: str) -> _Part:
    words = content_words(text)
    names = frozenset(word for word, named in words.items() if named)
    must = names or frozenset(words if len(words) <= _SHORT else ())
    return _Part(text.strip(" ."), names, must, words.keys() - must)
