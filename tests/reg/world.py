"""A small knowledge graph in memory, and what scores its facts by the words of a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ras_flow.errors import InputError
from ras_flow.formats.normalize import has_name, normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.kg.subgraph import Subgraph
from ras_flow.state.schema import Entity, Passage, make_passage

FACTS: list[Spo] = [
    ("Lou Seal", "mascot of team", "San Francisco Giants"),
    ("San Francisco Giants", "won championship", "2010 World Series"),
    ("San Francisco Giants", "won championship", "2012 World Series"),
    ("San Francisco Giants", "won championship", "2014 World Series"),
    ("San Francisco Giants", "plays in", "Oracle Park"),
    ("Buster Posey", "played for", "San Francisco Giants"),
    ("Oracle Park", "opened", "2000"),
]


class SmallGraph:
    """A knowledge source over a few triples, whose ids are made-up IRIs."""

    identity = "small@1"

    def __init__(self, facts: Sequence[Spo] = FACTS) -> None:
        self.facts = facts
        self.names = {normalize_name(name): name for s, _, o in facts for name in (s, o)}

    async def link(self, questions: Sequence[str]) -> list[list[Entity]]:
        return [
            [entity(name, name, "name") for name in self.names.values() if has_name(asked, name)]
            for asked in questions
        ]

    async def find(self, names: Sequence[str]) -> list[Entity]:
        for name in names:
            if normalize_name(name) not in self.names:
                raise InputError(f"small has no entity {name!r}. Similar names: Lou Seal.")
        return [entity(self.names[normalize_name(name)], name, "given") for name in names]

    async def subgraphs(
        self, questions: Sequence[str], entities: Sequence[Sequence[Entity]], depth: int
    ) -> list[Subgraph]:
        return [Subgraph.of(self.facts, [one["name"] for one in some]) for some in entities]

    async def pages(self, subgraph: Subgraph, chosen: Sequence[int]) -> list[Passage]:
        facts: dict[str, list[Spo]] = {}
        for at in chosen:
            facts.setdefault(subgraph.fact(at)[0], []).append(subgraph.fact(at))
        return [
            {
                **make_passage(name, "\n".join(" | ".join(fact) for fact in stated)),
                "source": "small",
                "triples": [list(fact) for fact in stated],
                "ids": {part: iri(part) for fact in stated for part in fact},
            }
            for name, stated in facts.items()
        ]


class Words:
    """Scores facts by the share of their relation's words that the question has."""

    identity = "words"

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        return [
            np.array(
                [share(graph.fact(at)[1], asked) for at in range(len(graph))], dtype=np.float32
            )
            for asked, graph in zip(questions, subgraphs, strict=True)
        ]


def share(relation: str, question: str) -> float:
    """Return the share of a relation's words that a question has."""
    words = normalize_name(relation).split()
    return sum(word in normalize_name(question).split() for word in words) / len(words)


def iri(name: str) -> str:
    """Return the id of a name."""
    return f"http://small/{name}"


def entity(name: str, mention: str, by: str) -> Entity:
    """Return a linked entity."""
    return Entity(id=iri(name), name=name, mention=mention, score=1.0, by=by)
