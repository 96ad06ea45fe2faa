"""Which entities of a knowledge graph a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ras_flow.errors import InputError
from ras_flow.formats.node_ids import is_literal
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.text import plain
from ras_flow.formats.tokens import UNSPACED
from ras_flow.state.names import content_words
from ras_flow.state.schema import Entity

if TYPE_CHECKING:
    from ras_flow.kg.engines import SparqlGraph
    from ras_flow.kg.store import KnowledgeGraph, Node

    Graph = KnowledgeGraph | SparqlGraph

MOST_ENTITIES = 5
_LONGEST = 12
"""Words of a name at most."""
_MOST_WORDS = 200
_COMPARED = 40
"""Parts of a question whose spelling is compared with all names."""
_ALIKE = 0.88
"""How alike a misspelled name must be; suggestions for a caller's need less."""

_POSSESSIVE = re.compile(r"(?:['’]s?|\s+['’]s)$")
_TRIMMED = " \t\n\"'“”‘’()[]?!,;:."


class _Mention(NamedTuple):
    """Words of a question that may be a name: their places, and whether they look like one.

    If all of its words do, it is solid: its parts are then not taken for names.
    """

    begin: int
    end: int
    text: str
    looks_named: bool
    is_solid: bool

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Longer ones count more, then those that look like a name, then those in front."""
        return (
            not (self.looks_named or self.end - self.begin > 1),
            self.begin - self.end,
            self.begin,
        )

    def is_part_of(self, other: _Mention) -> bool:
        """Tell whether it is a part of a longer, solid one."""
        inside = other.begin <= self.begin and self.end <= other.end
        return other.is_solid and inside and self.end - self.begin < other.end - other.begin


def link(
    question: str, graph: Graph, vector: npt.NDArray[np.float32] | None = None
) -> list[Entity]:
    """Find the entities that a question is about.

    The longest parts of the question that are names or aliases count. If nothing matches,
    names that are spelled alike do, and then the nearest vector.

    A question's vector decides between homonyms. There are at most five, those in front first.
    """
    mentions = list(_mentions(question))
    named = graph.named_all([mention.text for mention in mentions], vector)
    found = _apart(zip(mentions, named, strict=True)) or _apart(_alike(mentions, graph))
    if not found and vector is not None:
        found = [(0, _entity(node, question)) for node in graph.nearest(vector)]
    ordered = sorted(found, key=lambda one: one[0])
    return list({entity["id"]: entity for _, entity in ordered}.values())


def find(name: str, graph: Graph) -> list[Entity]:
    """Return the entities with an id, or else with a name or an alias, the best first.

    An InputError suggests similar names.
    """
    name = name.strip()
    node = None if is_literal(name) else graph.node(name)
    nodes = [node] if node else graph.named_all([name])[0][:MOST_ENTITIES]
    if not nodes:
        similar = [plain(node.name) for node in graph.similar([name])[0]] if name else []
        hint = f" Similar names: {', '.join(similar)}." if similar else " Check the name."
        raise InputError(f"{graph.name} has no entity {plain(name)[:200]!r}.{hint}")
    return [_entity(node._replace(by="given"), name) for node in nodes]


def _entity(node: Node, mention: str) -> Entity:
    return Entity(
        id=node.id, name=node.name, mention=mention, score=round(node.score, 4), by=node.by
    )


_Hits = Iterable[tuple[_Mention, "Sequence[Node]"]]
"""Mentions, and the entities that each may mean, the best first."""


def _alike(mentions: Sequence[_Mention], graph: Graph) -> _Hits:
    """Compare the spelling of mentions with names."""
    whole = [one for one in mentions if not any(map(one.is_part_of, mentions))]
    looks = [one for one in whole if one.looks_named] or mentions
    longest = [one for one in sorted(looks, key=lambda one: one.rank) if len(one.text) > 3]
    longest = longest[:_COMPARED]
    similar = graph.similar([one.text for one in longest], most=1, least=_ALIKE)
    return zip(longest, similar, strict=True)


def _apart(hits: _Hits) -> list[tuple[int, Entity]]:
    """Keep the longest mentions, none of which has a word of another."""
    taken: set[int] = set()
    linked: list[tuple[int, Entity]] = []
    best = [(mention, nodes[0]) for mention, nodes in hits if nodes]
    for mention, node in sorted(best, key=lambda hit: (hit[0].rank, -hit[1].score)):
        # A plain word is a name only in a question without better ones.
        if (linked and mention.rank[0]) or len(linked) == MOST_ENTITIES:
            break
        words = range(mention.begin, mention.end)
        if taken.isdisjoint(words):
            taken.update(words)
            linked.append((mention.begin, _entity(node, mention.text)))
    return linked


def _mentions(question: str) -> Iterator[_Mention]:
    """Yield the parts of a question that say something, each with and without a possessive."""
    words = _words(question)
    seen: set[str] = set()
    for begin in range(len(words)):
        for end in range(begin + 1, min(begin + _LONGEST, len(words)) + 1):
            text = question[words[begin][0] : words[end - 1][1]].strip(_TRIMMED)
            says = content_words(text)
            edges = [question[slice(*words[at])].strip(_TRIMMED) for at in (begin, end - 1)]
            # A name may begin or end in a small word, as "The Who", with a capital.
            if not says or not all(map(_may_be_named, edges)):
                continue
            for form in dict.fromkeys([_POSSESSIVE.sub("", text).strip(_TRIMMED), text]):
                if form and normalize_name(form) not in seen:
                    seen.add(normalize_name(form))
                    named = (begin > 0 and text[:1].isupper()) or any(says.values())
                    named = named and any(map(str.isalpha, form))  # Not a bare year.
                    solid = named and all(says.values()) and bool(content_words(edges[0]))
                    yield _Mention(begin, end, form, named, solid)


def _may_be_named(word: str) -> bool:
    return word[:1].isupper() or bool(content_words(word))


def _words(question: str) -> list[tuple[int, int]]:
    """Return the places of a question's words; of scripts without spaces, of their letters."""
    places: list[tuple[int, int]] = []
    for match in re.finditer(r"\S+", question):
        if UNSPACED.search(match[0]):
            places += ((at, at + 1) for at in range(*match.span()))
        else:
            places.append(match.span())
        if len(places) >= _MOST_WORDS:
            break
    return places[:_MOST_WORDS]
