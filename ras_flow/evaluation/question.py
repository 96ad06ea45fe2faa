"""What systems are asked and judged by: a question with its gold answers and gold support."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ras_flow.state.schema import Document

Retrieval = Literal["corpus", "given", "given_first"]
"""Where passages come from: an index, the question's own documents, or those for hop 0 and an
index after it (as for ASQA and ELI5, appendix E)."""


@dataclass(frozen=True)
class Support:
    """What a question rests on, in the order of reasoning.

    Attributes:
        title: Title of the document.
        text: The sentence or passage, empty where only the document is known.
        subquery: The question that it answers, empty where not known.
        facts: Its gold triples, as (subject, predicate, object).
    """

    title: str
    text: str = ""
    subquery: str = ""
    facts: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Question:
    """One row of a benchmark.

    Attributes:
        id: Names it within its benchmark.
        question: The question as asked.
        answers: Gold answers, any of which is right; the first is the main one.
        answer_sets: Several groups of short answers, each of which a long answer should have
            (ASQA, ELI5's claims); empty elsewhere.
        options: Options by label, for multiple choice.
        documents: Its own documents, where the benchmark gives some.
        support: What it rests on; empty where not known.
        kind: Its type, such as "bridge" or "comparison"; empty where not known.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    answer_sets: tuple[tuple[str, ...], ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    support: tuple[Support, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Benchmark:
    """Questions, and how they are to be asked and judged.

    Attributes:
        name: Its name, such as "2wikimultihopqa".
        questions: The rows, in the file's order.
        task: Preset of :mod:`ras_flow.tasks`: instruction and answer length.
        retrieval: Where passages come from.
        metrics: Names of :mod:`ras_flow.evaluation.metrics`, the main one first.
    """

    name: str
    questions: tuple[Question, ...]
    task: str
    retrieval: Retrieval
    metrics: tuple[str, ...]
