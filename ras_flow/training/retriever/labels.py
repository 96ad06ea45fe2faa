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
from ras_flow.training.retriever.pool import End, Path, make_pool, merge, paths_of
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
    paths: list[Path] | None = weak
    if not isinstance(refiner, str) and (candidates := merge(graph, pool, answers)):
        names = [name(graph.label(one)) for one in answers]
        picked = await refiner.choose(Case(asked["question"], names, graph, candidates))
        paths = None
        if picked is not None:
            paths = paths_of([candidates[at] for at in picked], expand=options.expand)
            if not paths:
                return "the refiner chose none"
    if not (chosen := paths or weak):
        return "no path"
    facts = sorted({triple for path in chosen for triple, _ in path.steps})
    relations = [_relations(graph, path) for path in chosen if path.kind == "path"]
    distinct = {tuple(path): path for path in relations}
    positives = [graph.fact(at) for at in facts]
    return Label(positives, list(distinct.values()), paths is None, pool.cut)


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
