"""Candidates that say the same are shown once (appendix E.2), and stand for all that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ras_flow.formats.chains.writing import name
from ras_flow.kg.subgraph import Subgraph
from ras_flow.training.retriever.pool import Path, Pool

_Pattern = tuple[str, bool, tuple[tuple[int, bool], ...]]
"""Kind, whether it starts at the question's side, and relations with their directions."""


@dataclass(frozen=True)
class Candidate:
    """A path to choose or reject; its ``members`` have equal relations, also to other answers."""

    shown: Path
    members: tuple[Path, ...]


def merge(graph: Subgraph, pool: Pool, answers: Sequence[int]) -> list[Candidate]:
    """Show the paths of one answer, and of those with equal relations the first."""
    first = representative(graph, pool, answers)
    groups: dict[_Pattern, list[Path]] = {}
    for path in pool.paths:
        groups.setdefault(_pattern(graph, path), []).append(path)
    shown = (
        (next((path for path in members if path.answer in (first, -1)), None), members)
        for members in groups.values()
    )
    return [Candidate(path, tuple(members)) for path, members in shown if path]


def representative(graph: Subgraph, pool: Pool, answers: Sequence[int]) -> int:
    """Return the answer that most of the question's entities reach, then the nearest, by name."""
    nearest: dict[int, dict[int, int]] = {answer: {} for answer in answers}
    for path in pool.paths:
        if path.kind == "path":
            known = nearest[path.answer]
            length = len(path.steps)
            known[path.query] = min(known.get(path.query, length), length)
    return min(
        answers,
        key=lambda one: (-len(nearest[one]), sum(nearest[one].values()), graph.entities[one]),
        default=-1,
    )


def paths_of(candidates: Iterable[Candidate], *, expand: bool) -> list[Path]:
    """Return the paths of candidates; with ``expand`` all that they stand for."""
    return [path for one in candidates for path in (one.members if expand else (one.shown,))]


def write_path(graph: Subgraph, path: Path) -> str:
    """Write a path as ``name → [relation] → name``; facts crossed backwards have arrows back."""
    text = name(graph.label(path.start))
    for triple, inverse in path.steps:
        head, relation, tail = graph.triples[triple]
        arrow, other = ("←", int(head)) if inverse else ("→", int(tail))
        text += f" {arrow} [{name(graph.relations[relation])}] {arrow} {name(graph.label(other))}"
    return text


def _pattern(graph: Subgraph, path: Path) -> _Pattern:
    steps = tuple((int(graph.triples[triple, 1]), inverse) for triple, inverse in path.steps)
    anchor = path.answer if path.kind == "answer" else path.query
    return path.kind, path.start == anchor, steps
