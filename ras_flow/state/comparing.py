"""Support for a yes, a no, or one of the things that a question compares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ras_flow.formats.normalize import normalize_name
from ras_flow.state.asking import Question
from ras_flow.state.chains import A_NAME, Asked, Chains, Measured, weakest
from ras_flow.state.evidence import NUMBER, Evidence, Unit
from ras_flow.state.names import content_words, longest

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_YEARS = range(1000, 2101)


def compare(question: Question, answer: str, evidence: Evidence) -> Measured:
    """Measure how much was found of each thing compared, and whether it says what is answered."""
    form = normalize_name(question.text)
    sides = sorted(longest(evidence.names.within(question.text)), key=lambda side: form.find(side))
    of_sides = {word for side in sides for word in side.split()}
    beside = of_sides | question.compares
    common = {word: named for word, named in question.words.items() if word not in beside}
    counts = (len(sides) > 1 and question.compares) or question.counts
    tells = NUMBER if counts else A_NAME if question.same else ""
    chains = Chains(evidence, sides)
    found = []
    for side in sides or [""]:
        words = {**common, **dict.fromkeys(side.split(), True)}
        wanted = Asked(words, evidence, relations=question.relations, english=question.english, tells=tells)
        chain = chains.best(evidence.at(side) if side else evidence.units, wanted)
        why = f"Too little was found of what is compared: {side}." if side else ""
        found.append(Measured(wanted.score(chain), chains.pruned(chain, wanted, relations=True), why))
    measured = weakest(found)
    if len(sides) > 1 and _denied(question, answer, sides, [one.units for one in found]):
        return measured._replace(score=0.0, why="What was found of each says otherwise.")
    return measured


def _denied(
    question: Question, answer: str, sides: Sequence[str], found: Sequence[Sequence[Unit]]
) -> bool:
    """Tell whether what was found of the sides contradicts the answer."""
    verdict = normalize_name(answer).split(" ")[0]
    if question.same:
        shared = frozenset.intersection(*(_told(units, question) for units in found))
        return verdict == "no" and bool(shared)
    values = [_values(units, question) for units in found]
    if not question.compares or not all(values):
        return False
    if verdict in ("yes", "no"):
        ahead, behind = values[:2] if verdict == "yes" else values[1::-1]
        return _beaten(ahead, behind, question)
    chosen = [side <= set(content_words(answer)) for side in map(set, map(str.split, sides))]
    if sum(chosen) != 1:
        return False
    at = chosen.index(True)
    return any(_beaten(values[at], other, question) for i, other in enumerate(values) if i != at)


def _beaten(ahead: Sequence[float], behind: Sequence[float], question: Question) -> bool:
    return min(ahead) > max(behind) if question.less else max(ahead) < min(behind)


def _told(units: Sequence[Unit], question: Question) -> frozenset[str]:
    """Return what is told of a side: names in its facts, and numbers where these are asked for."""
    said = {word for unit in units for word in unit.said if question.counts and word[0].isdecimal()}
    named = {name for unit in units if unit.triple for name in unit.names}
    return frozenset(
        said | {name for name in named if not set(name.split()) <= question.words.keys()}
    )


def _values(units: Iterable[Unit], question: Question) -> list[float]:
    """Return the numbers that the last fact or sentence with some states."""
    for unit in reversed(list(units)):
        numbers = [float(n[0]) for word in unit.said if (n := _NUMBER.match(word))]
        if numbers := [n for n in numbers if n in _YEARS or not question.in_time]:
            return numbers
    return []
