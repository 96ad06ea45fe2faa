"""Measures of evidence from a knowledge graph: which facts were found, and what answers rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ras_flow.evaluation.metrics.answer_sets import Groups
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo

CUTS = (5, 20)
"""Numbers of the best facts at which recall and precision are told, beside that of all."""


def fact_measures(found: Sequence[Spo], gold: Collection[Spo], answers: Groups) -> dict[str, float]:
    """Measure facts, the best first, against gold facts and answers, whole and at :data:`CUTS`."""
    wanted = set(map(_key, gold))
    keys = list(map(_key, found))
    names = [{normalize_name(name) for name in group} for group in answers]
    known = set[str]().union(*names)
    measures: dict[str, float] = {}
    for cut in (None, *CUTS):
        at = "" if cut is None else f"@{cut}"
        best = keys[:cut]
        if wanted:
            right = len(wanted.intersection(best))
            measures[f"fact_recall{at}"] = right / len(wanted)
            measures[f"fact_precision{at}"] = right / len(best) if best else 0.0
        ends = _ends(best)
        measures[f"answer_recall{at}"] = _share(not ends.isdisjoint(one) for one in names)
        measures[f"answer_precision{at}"] = _share(
            not known.isdisjoint((subject, object)) for subject, _, object in best
        )
    return measures


def chain_coverage(chained: Collection[Spo], gold: Collection[Spo]) -> float:
    """Return the share of the gold facts that stand in evidence chains."""
    wanted = set(map(_key, gold))
    return len(wanted.intersection(map(_key, chained))) / len(wanted)


def outside(said: Sequence[str], found: Collection[Spo]) -> float:
    """Return the share of the answers that are no entity of the facts; 0 without an answer."""
    ends = _ends(map(_key, found))
    return _share(normalize_name(answer) not in ends for answer in said)


def _key(fact: Spo) -> Spo:
    subject, predicate, object = map(normalize_name, fact)
    return subject, predicate, object


def _ends(facts: Iterable[Spo]) -> set[str]:
    return {name for subject, _, object in facts for name in (subject, object)}


def _share(which: Iterable[bool]) -> float:
    flags = list(which)
    return sum(flags) / len(flags) if flags else 0.0
