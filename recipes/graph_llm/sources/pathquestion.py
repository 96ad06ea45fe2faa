"""PathQuestion: chains of relations over a small complete knowledge graph.

Every hop of the path is a step: "nationality of the spouse of X" asks for the spouse, then for that
person's nationality. The graph is complete, so a path is used only if it leads to exactly the gold
answers (at most four) with one entity at each stage: a question about "the children" of somebody
with five of them has no single next subquery. Left out too are questions about a "mother" where
the path leads to a father, of which there are many. Names are written as people do, in the question
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ras_flow.datasets.reading import Row, read_rows
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.relations import ask
from recipes.graph_llm.wording import as_question

MAX_ANSWERS = 4
_SMALL = frozenset("of the and de von van der la le du di da y to in at for on".split())
_ROMAN = re.compile(r"[ivx]+")

_KIN = frozenset(["parents", "spouse", "children"])
_WOMEN = frozenset("mother mom mum wife daughter female woman she her grandma".split())
_MEN = frozenset("father dad husband son male man he his grandson grandpa".split())
_EMPTY = frozenset(["notable types", "is reviewed", "permission", "appears in topic gallery"])
"""Relations of Freebase about its own records."""

Graph = dict[str, dict[str, list[str]]]
"""Objects by subject and relation."""


def read(rows: Iterable[Row], kb: dict[str, Graph]) -> Iterator[Case]:
    """Yield a case for each question whose path is the only one."""
    for row in rows:
        path = row.texts("path")
        if not path:
            row.fail("path", "expected an entity, and relations and entities by turns")
        name = row.text("kb") if row.has("kb") else ""
        graph = kb.get(name)
        if graph is None:
            row.fail("kb", f"the file given as `kb` has no graph {name!r}")
        steps = _follow(path, graph, set(row.texts("answers")))
        if not _gender_fits(row.text("question").replace(path[0], ""), path, graph):
            continue
        if steps:
            topic = path[0]
            named = row.text("question").replace(topic, _name(topic)).replace("_", " ")
            question = as_question(named)
            answer = ", ".join(fact[2] for fact in steps[-1].facts)
            yield Case("pathquestion", row.text("id"), question, answer, steps)


def read_kb(path: Path) -> dict[str, Graph]:
    """Read the graph: objects with ``triple`` and, of several graphs, ``kb``."""
    kb: dict[str, Graph] = {}
    for row in read_rows(path):
        name = row.text("kb") if row.has("kb") else ""
        if len(triple := row.texts("triple")) != 3:
            row.fail("triple", "expected [subject, relation, object]")
        subject, relation, object = triple
        objects = kb.setdefault(name, {}).setdefault(subject, {}).setdefault(relation, [])
        if object not in objects:
            objects.append(object)
    return kb


def _follow(path: list[str], graph: Graph, answers: set[str]) -> tuple[Step, ...]:
    """Return the steps of a path; none if it branches, circles or misses the answers."""
    entities, relations = path[0::2], path[1::2]
    if len(set(entities)) < len(entities):
        return ()
    steps: list[Step] = []
    for at, (entity, relation) in enumerate(zip(entities, relations, strict=False)):
        objects = graph.get(entity, {}).get(relation, [])
        last = at == len(relations) - 1
        if _label(relation) in _EMPTY:
            return ()
        right = set(objects) == answers if last else objects == [entities[at + 1]]
        if not right or not 0 < len(objects) <= MAX_ANSWERS:
            return ()
        subject, label = _name(entity), _label(relation)
        facts = tuple((subject, label, _name(object)) for object in objects)
        others = tuple(
            (subject, _label(other), _name(object))
            for other, found in graph[entity].items()
            for object in found
        )
        page = Page(subject, tuple(dict.fromkeys(facts + others)))
        steps.append(Step(ask(label, subject), facts, page, (at - 1,) if at else ()))
    return tuple(steps)


def _gender_fits(question: str, path: list[str], graph: Graph) -> bool:
    """Tell whether "mother" and the like are said of somebody who is known to be a woman.

    The relations know only parents, spouses and children; many questions name the wrong one.
    """
    words = set(question.replace("'", " ").split())
    kin = [path[at + 1] for at in range(1, len(path) - 1, 2) if _label(path[at]) in _KIN]
    genders = {_label(g) for person in kin for g in graph.get(person, {}).get("gender", [])}
    return (not words & _WOMEN or "female" in genders) and (not words & _MEN or "male" in genders)


def _label(relation: str) -> str:
    """Write "__people__person__gender" as "gender"."""
    return " ".join(relation.rstrip("_").rpartition("__")[2].replace("_", " ").split())


def _name(entity: str) -> str:
    """Write "ludwig_ii_of_bavaria" as "Ludwig II of Bavaria"; names with capitals stay."""
    text = " ".join(entity.replace("_", " ").split())
    if text != text.lower():
        return text
    words = text.split()
    written = [
        word
        if at and word in _SMALL
        else word.upper()
        if at and _ROMAN.fullmatch(word)
        else word[:1].upper() + word[1:]
        for at, word in enumerate(words)
    ]
    return " ".join(written)
