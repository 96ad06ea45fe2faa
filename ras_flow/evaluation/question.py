"""What systems are asked and judged by: a question with its gold answers and gold support."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ras_flow.formats.triples import Spo
from ras_flow.state.schema import Document

Retrieval = Literal["corpus", "given", "given_first"]
"""Where passages come from: an index, the question's own documents, or those for hop 0 and an
index after it. §4.1 takes the documents of ASQA and ELI5 alone ("given", without planning), starts
PopQA and TriviaQA from theirs ("given_first"), and searches a corpus for all others."""


UNANSWERABLE = "-unanswerable"
"""End of the name of a benchmark whose questions what is searched does not answer."""

TOLD = "told"
"""Metric of such questions: the run said that it does not know, or that nothing supports it."""


@dataclass(frozen=True)
class Support:
    """What a question rests on, in the order of reasoning.

    Where only the question is known that a step asks, title and text are both empty: nothing can
    be retrieved for it.

    Attributes:
        title: Title of the document, empty where not known.
        text: The sentence or passage, empty where only the document is known.
        subquery: The question that it answers, empty where not known.
        facts: Its gold triples.
    """

    title: str
    text: str = ""
    subquery: str = ""
    facts: tuple[Spo, ...] = ()


@dataclass(frozen=True)
class Question:
    """One row of a benchmark.

    Attributes:
        id: Names it within its benchmark.
        question: The question as asked; for multiple choice, with the options behind letters.
        answers: Gold answers, any of which is right; the first is the main one. For multiple
            choice, the right option's letter and then its text.
        answer_sets: Where several answers are wanted, the names of each: what a list of answers, or
            a long answer (ASQA), should have. Empty where one of ``answers`` is enough.
        options: Texts of the options by letter, for multiple choice.
        documents: Its own documents, where the benchmark gives some.
        support: What it rests on; empty where not known.
        kind: Its type, such as "bridge" or "comparison"; empty where not known.
        entities: What a knowledge graph calls the entities that it is about; empty where not known.
        graph: Its own triples, where the benchmark gives some.
        answerable: Whether what is searched holds the answer. Where it does not, the right thing to
            say is that it is unknown; gold answers then name what must not be said as a fact.
        pages: Normalised titles of all pages that it rests on, by which trainings know it.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    answer_sets: tuple[tuple[str, ...], ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    support: tuple[Support, ...] = ()
    kind: str = ""
    entities: tuple[str, ...] = ()
    graph: tuple[Spo, ...] = ()
    answerable: bool = True
    pages: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Benchmark:
    """Questions, and how they are to be asked and judged.

    Attributes:
        name: Its name, such as "2wikimultihopqa".
        questions: The rows, in the file's order.
        task: Preset of :mod:`ras_flow.settings.tasks`: instruction and answer length.
        retrieval: Where passages come from.
        metrics: Names in :data:`ras_flow.evaluation.metrics.METRICS`, the main one first; each
            judges one answer.
        corpus_metrics: Names in :data:`ras_flow.evaluation.metrics.CORPUS_METRICS`; each judges
            all answers together.
        pool: The documents of all the file's questions, also of those that are not asked.
        facts: The triples of all the file's questions, where they are to be searched together.
        unanswerable: Questions that what is searched does not answer, to be asked beside these.
    """

    name: str
    questions: tuple[Question, ...]
    task: str
    retrieval: Retrieval
    metrics: tuple[str, ...]
    corpus_metrics: tuple[str, ...] = ()
    pool: tuple[Document, ...] = ()
    facts: tuple[Spo, ...] = ()
    unanswerable: tuple[Question, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Question]:
        """The rows by their ids."""
        return {question.id: question for question in self.questions}


def of_unanswerable(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark's unanswerable questions as one of their own, judged by what is told."""
    return replace(
        benchmark,
        name=benchmark.name + UNANSWERABLE,
        questions=benchmark.unanswerable,
        metrics=(TOLD,),
        corpus_metrics=(),
        unanswerable=(),
    )


def findable(question: Question, *, own: bool, titled: bool) -> tuple[Support, ...]:
    """Return what a question rests on as it can be found in what is searched."""
    if not titled:
        return tuple(replace(one, title="") for one in question.support)
    texts = set() if own else {document["text"] for document in question.documents}
    return tuple(one for one in question.support if one.title or one.text not in texts)


def pooled_documents(questions: Iterable[Question]) -> tuple[Document, ...]:
    """Put the documents of all questions together: a small corpus in which each is to be found."""
    found: dict[tuple[str, str], Document] = {}
    for question in questions:
        for document in question.documents:
            found.setdefault((document.get("title", ""), document["text"]), document)
    return tuple(found.values())
