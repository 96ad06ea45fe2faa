"""Support for a yes, a no, or one of the things that a question compares.

It is worth as much as the side about which least was found, and nothing if the values found say
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ras_flow.formats.normalize import normalize_name
from ras_flow.state.asking import Question
from ras_flow.state.chains import A_NAME, Asked, Chains, Measured, weakest
from ras_flow.state.evidence import NUMBER, Evidence, Unit, with_stems
from ras_flow.state.names import content_words, longest

_VALUE = re.compile(r"\d+(?:\.\d+)?")
_YEARS = range(1000, 2101)


def compare(question: Question, answer: str, evidence: Evidence) -> Measured:
    """Measure how much was found of each thing compared, and whether it says what is answered."""
    form = normalize_name(question.text)
    sides = sorted(
        longest(evidence.names.within(question.text)),
        key=lambda side: form.find(normalize_name(side)),
    )
    beside = {word for side in sides for word in normalize_name(side).split()} | question.compares
    common = {word: named for word, named in question.words.items() if word not in beside}
    # What is compared need not be a name of the graph: no fact may tell of it.
    compares = question.compares and len(sides) + any(common.values()) > 1
    counts = question.counts or compares
    tells = NUMBER if counts else A_NAME if question.same else ""
    chains = Chains(evidence, sides)
    found = []
    for side in sides or [""]:
        words = {**common, **dict.fromkeys(normalize_name(side).split(), True)}
        wanted = Asked(words, question, evidence, tells=tells)
        chain = chains.best(evidence.at(side) if side else evidence.units, wanted)
        why = f"Too little was found of what is compared: {side}." if side else ""
        cited = chains.pruned(chain, wanted)
        found.append(Measured(wanted.score(chain), cited, why))
    measured = weakest(found)
    told = [one.units for one in found]
    if len(sides) > 1 and (_differs if question.same else _beaten)(question, answer, sides, told):
        return measured._replace(score=0.0, why="What was found of each says otherwise.")
    return measured


def _differs(
    question: Question, answer: str, sides: Sequence[str], found: Sequence[Sequence[Unit]]
) -> bool:
    """Tell whether sides said to be different share a name or number, or the same share none."""
    asked = with_stems(question.words)
    told = []
    for units in found:
        names = {name for unit in units if unit.triple for name in unit.names - unit.about}
        numbers = {word for unit in units for word in unit.said if word[0].isdecimal()}
        told.append((names | (numbers if question.counts else set())) - asked)
    if normalize_name(answer).startswith("no"):
        return bool(set.intersection(*told))
    words = [
        with_stems(word for name in names for word in normalize_name(name).split()) - asked
        for names in told
    ]
    return all(told) and not frozenset.intersection(*words)


def _beaten(
    question: Question, answer: str, sides: Sequence[str], found: Sequence[Sequence[Unit]]
) -> bool:
    """Tell whether the numbers found put another side ahead of the one that the answer does."""
    values = [_values(units, question) for units in found]
    if not question.compares or not all(values):
        return False
    said = content_words(answer).keys()
    first = {"yes": [0], "no": [1]}.get(
        normalize_name(answer).split(" ")[0],
        [at for at, side in enumerate(sides) if said >= content_words(side).keys()],
    )
    if len(first) != 1:
        return False
    ahead = values.pop(first[0])
    if question.less:
        return any(min(ahead) > max(other) for other in values)
    return any(max(ahead) < min(other) for other in values)


def _values(units: Iterable[Unit], question: Question) -> list[float]:
    """Return the numbers, or else the years, of the last fact or sentence that has some."""
    for unit in reversed(list(units)):
        numbers = [float(value[0]) for word in unit.said if (value := _VALUE.match(word))]
        if numbers := [one for one in numbers if one in _YEARS or not question.in_time]:
            return numbers
    return []
