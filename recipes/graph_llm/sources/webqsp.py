"""WebQSP subgraphs: graph to answer.

Freebase writes relations as "people.person.place_of_birth" and puts nameless nodes ("m.03gjfyn")
between facts. No extractor writes either: the last part of a relation is kept, and a nameless node
is bridged, so that A and B on its two sides are linked by both relations' words. The gold triples
are those on the shortest path from what the question names to each answer; questions without such a
path to every answer, with more than four answers, or whose path leads through a hub that was not
asked for (a country, a gender), are left out.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.formats.normalize import name_key, normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.state.kg import QueryKG, to_new_triples
from ras_flow.state.names import Names, is_proper
from ras_flow.state.schema import Extracted
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sources.texts import Texts, storable
from recipes.graph_llm.wording import about, as_question

MAX_ANSWERS = 4
_HUBS = frozenset(
    ["nationality", "gender", "containedby", "contains", "geographic scope", "profession", "genre"]
)
"""Relations that link anybody to anything of the same country or kind."""
_NAMELESS = re.compile(r"[mg]\.[0-9a-z_]+")


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question whose answers its graph leads to."""
    del texts
    for row in rows:
        question = as_question(row.text("question"))
        answers = row.texts("answers" if row.has("answers") else "answer")
        triples = named(storable(row.triples("triples" if row.has("triples") else "graph")))
        facts = _path(answers, question, triples)
        if not facts or not 0 < len(answers) <= MAX_ANSWERS or not _to_the_point(facts, question):
            continue
        topic = facts[0][0] if facts[0][0] not in answers else facts[0][2]
        page = Page(topic, tuple(dict.fromkeys([*facts, *triples])))
        step = Step((question, about(topic)), tuple(facts), page)
        yield Case("webqsp", row.text("id"), question, ", ".join(answers), (step,))


def named(triples: list[Spo]) -> list[Spo]:
    """Write relations in words and bridge nameless nodes."""
    into: dict[str, list[tuple[str, str]]] = {}
    out: dict[str, list[tuple[str, str]]] = {}
    found: list[Spo] = []
    for subject, relation, object in triples:
        words = relation.rpartition(".")[2].replace("_", " ").strip()
        nameless = [bool(_NAMELESS.fullmatch(node)) for node in (subject, object)]
        if nameless == [False, False]:
            found.append((subject, words, object))
        elif nameless == [False, True]:
            into.setdefault(object, []).append((subject, words))
        elif nameless == [True, False]:
            out.setdefault(subject, []).append((words, object))
    for node, sources in into.items():
        for source, first in sources:
            for second, target in out.get(node, []):
                label = first if first == second else f"{first} {second}"
                found.append((source, label, target))
    return [triple for triple in dict.fromkeys(found) if all(map(normalize_name, triple))]


def _to_the_point(facts: list[Spo], question: str) -> bool:
    """Tell whether no fact is a shortcut through a hub ("Pakistan | nationality | ...")."""
    asked = normalize_name(question).split()
    return all(label not in _HUBS or label in asked for _, label, _ in facts)


def _path(answers: list[str], question: str, triples: list[Spo]) -> list[Spo]:
    """Return the triples on the way to all answers; empty if one is not reached."""
    extracted = Extracted(passage="graph", triples=[list(triple) for triple in triples])
    keyed = to_new_triples([extracted])
    kg = QueryKG.from_triples(keyed)
    named = Names(kg.entities).within(question)
    asked = [name for name in kg.entities if normalize_name(name) in named]
    asked = [name for name in asked if is_proper(kg.entities[name])] or asked
    facts: list[Spo] = []
    for answer in answers:
        way = _way(kg, asked, name_key(answer))
        if not way:
            return []
        facts += [(keyed[id]["subject"], keyed[id]["predicate"], keyed[id]["object"]) for id in way]
    return list(dict.fromkeys(facts))


def _way(kg: QueryKG, sources: Iterable[str], target: str) -> list[str]:
    """Return the triples of a shortest path to an entity, in either direction; empty for none."""
    came_by: dict[str, tuple[str, str] | None] = dict.fromkeys(sources)
    queue = deque(came_by)
    while queue and target not in came_by:
        name = queue.popleft()
        for id in kg.incident.get(name, []):
            for other in kg.edges[id]:
                if other not in came_by:
                    came_by[other] = (name, id)
                    queue.append(other)
    ids: list[str] = []
    step = came_by.get(target)
    while step is not None:
        ids.append(step[1])
        step = came_by[step[0]]
    return ids[::-1]
