"""A small corpus with questions, shipped with the package: what the demo and the tests run on.

The passages are original prose about stable facts, linked by people, places, works and dates, so
that questions need one, two or three of them; documents with tables, lists and code come beside. A
knowledge graph about the same world has questions of its own. Nothing is read from disk before a
loader is called.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal, TypedDict, cast

from ras_flow.state.schema import Document

QuestionType = Literal[
    "direct", "two-hop", "three-hop", "comparison", "yes-no", "structured", "unanswerable"
]
"""How many passages a question needs, and what kind of answer it asks for; ``structured`` ones ask
what a table, a list or code says."""

DEFAULT_ID = "default"
"""The id of the question that the demo asks when it is given none."""


class DemoQuestion(TypedDict):
    """A question on the demo corpus with its gold answer and gold reasoning chain.

    Attributes:
        id: Unique among the questions.
        type: What the question needs; ``unanswerable`` ones ask what nothing in the corpus states.
        question: The text of the question.
        answers: The gold answer, then its aliases; empty for unanswerable questions.
        support: Titles of the passages that the answer needs, in reasoning order.
        subqueries: A gold decomposition, one self-contained query for each hop.
    """

    id: str
    type: QuestionType
    question: str
    answers: list[str]
    support: list[str]
    subqueries: list[str]


class DemoGraphQuestion(TypedDict):
    """A question on the demo's knowledge graph.

    Attributes:
        id: Unique among the questions.
        type: one-hop, two-hop, two-entity (both lead to the answer), several (answers), comparison,
            or unanswerable.
        question: The text of the question.
        answers: All of them; empty for unanswerable questions.
        entities: The names in the graph that it starts from.
        gold: The triples that lead from these to the answers.
    """

    id: str
    type: str
    question: str
    answers: list[str]
    entities: list[str]
    gold: list[list[str]]


GRAPH = "graph.tsv"
"""The knowledge graph: subject, predicate and object by tabs; texts and numbers, which lead
nowhere, in double quotes."""


def passages() -> list[Document]:
    """Load the passages of the demo corpus."""
    return cast(list[Document], json_lines("passages.jsonl"))


def questions() -> list[DemoQuestion]:
    """Load the demo questions."""
    return cast(list[DemoQuestion], json_lines("questions.jsonl"))


def graph_questions() -> list[DemoGraphQuestion]:
    """Load the questions on the knowledge graph."""
    return cast(list[DemoGraphQuestion], json_lines("kg_questions.jsonl"))


def default_question() -> str:
    """Return the text of the question that the demo asks when it is given none."""
    return next(entry["question"] for entry in questions() if entry["id"] == DEFAULT_ID)


def json_lines(name: str) -> list[Any]:
    """Read a file of this package."""
    text = (files(__name__) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
