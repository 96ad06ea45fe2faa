"""What a retriever learns to find for a question, and how right that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ras_flow.formats.chains.writing import name
from ras_flow.formats.triples import Spo
from ras_flow.kg.subgraph import Subgraph
from ras_flow.support.validation import NonNegative, Settings
from ras_flow.training.retriever.graphs import Graph
from ras_flow.training.retriever.merging import merge, triples_of
from ras_flow.training.retriever.pool import End, Path, make_pool
from ras_flow.training.retriever.questions import Asked, RelationPath
from ras_flow.training.retriever.refining import Case, Refiner


class Options(Settings):
    """Which candidates there are, and what a chosen one stands for.

    Attributes:
        slack: Adds paths that are so many steps longer than the shortest.
        neighbours: At which entities single facts are candidates.
        expand: Let a chosen path stand for those with equal relations, also to other answers.
    """

    slack: NonNegative[int] = 0
    neighbours: Annotated[tuple[End, ...], Field(strict=False)] = ("query", "answer")
    expand: bool = True


@dataclass(frozen=True)
class Label:
    """Facts to find, and relations that lead to them.

    Attributes:
        weak: Whether the refiner's replies could not be used, and all shortest paths were kept.
        cut: Pairs of entities with more paths than were looked at.
    """

    positives: list[Spo]
    paths: list[RelationPath]
    weak: bool = False
    cut: int = 0


async def label(
    asked: Asked, whole: Graph, refiner: Refiner | str, options: Options
) -> Label | str:
    """Return a question's label, or why it cannot be labelled.

    ``refiner`` is ``gold`` for the data set's facts, ``none`` for all shortest paths (the weak
    labels), or who chooses.
    """
    graph, places = whole.triples, whole.places
    if refiner == "gold":
        gold = [(s, p, o) for s, p, o in asked.get("gold", ())]
        return Label(gold, _chain(gold, asked["entities"])) if gold else "no gold facts"
    queries = [places[name] for name in asked["entities"] if name in places]
    answers = list(dict.fromkeys(places[one] for one in asked["answers"] if one in places))
    if not queries or not answers:
        return "its entity or answer is not in the graph"
    pool = make_pool(
        whole.walks, queries, answers, slack=options.slack, neighbours=options.neighbours
    )
    weak = [path for path in pool.paths if path.kind == "path"]
    if isinstance(refiner, str):
        if not weak:
            return "no path"
        return _made(graph, _facts(weak), weak, cut=pool.cut)
    candidates = merge(graph, pool, answers)
    if not candidates:
        return "no path"
    names = [name(graph.label(one)) for one in answers]
    picked = await refiner.choose(Case(asked["question"], names, graph, candidates))
    if picked is None:
        return _made(graph, _facts(weak), weak, weak=True, cut=pool.cut) if weak else "no path"
    if not picked:
        return "the refiner chose none"
    some = [candidates[at] for at in picked]
    paths = [path for one in some for path in (one.members if options.expand else (one.shown,))]
    return _made(graph, triples_of(some, expand=options.expand), paths, cut=pool.cut)


def _facts(paths: Iterable[Path]) -> list[int]:
    return sorted({triple for path in paths for triple, _ in path.steps})


def _made(
    graph: Subgraph, triples: Iterable[int], paths: Iterable[Path], *, weak: bool = False, cut: int
) -> Label:
    relations = [_relations(graph, path) for path in paths if path.kind == "path"]
    distinct = {tuple(path): path for path in relations}
    return Label([graph.fact(at) for at in triples], list(distinct.values()), weak, cut)


def _relations(graph: Subgraph, path: Path) -> RelationPath:
    """Return a path's relations from the question's entity on."""
    steps = [(graph.relations[graph.triples[at, 1]], inverse) for at, inverse in path.steps]
    if path.start != path.query:
        steps = [(relation, not inverse) for relation, inverse in reversed(steps)]
    return steps


def _chain(gold: Sequence[Spo], entities: Sequence[str]) -> list[RelationPath]:
    """Return the relations of gold facts if each begins where the one before ends."""
    ends = [*entities[:1], *(fact[2] for fact in gold)]
    linked = all(fact[0] == end for fact, end in zip(gold, ends, strict=False))
    return [[(fact[1], False) for fact in gold]] if linked else []


def quality(pairs: Iterable[tuple[Iterable[Spo], Iterable[Sequence[str]]]]) -> dict[str, float]:
    """Compare labels with gold facts: means over questions that have both."""
    rows = []
    for positives, gold in pairs:
        said, right = set(positives), {tuple(fact) for fact in gold}
        if said and right:
            both = len(said & right)
            rows.append((both / len(said), both / len(right), float(said == right), len(said)))
    names = ("precision", "recall", "exact", "facts")
    means = [round(sum(column) / len(rows), 4) for column in zip(*rows, strict=True)]
    return {"questions": len(rows), **dict(zip(names, means, strict=False))}
