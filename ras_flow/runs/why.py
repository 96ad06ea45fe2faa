"""Why an answer is what it is: its parts, the triples beneath each, and what states them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import takewhile

from typing_extensions import TypedDict

from ras_flow.formats.normalize import normalize_name
from ras_flow.runs.document import Branch, RunDocument
from ras_flow.runs.reading import by_hand, get_branch, graph_of, passages_of, steps_of
from ras_flow.state.citations import paths_to_answer
from ras_flow.state.kg import QueryKG, read_in
from ras_flow.state.schema import name_of

_WORD = re.compile(r"\S+")
_POSSESSIVE_END = re.compile(r"['’]s$", re.IGNORECASE)
_LONGER = 3
"""Words that a spelling in the answer may have more than the normalised name."""


class Source(TypedDict):
    """A passage that states a triple, or is cited itself, and how it was found.

    Attributes:
        title: Its title; of one without, its source, or else its id.
        span: Where it states the triple: first and last-plus-one character of a sentence in its
            text; None where that is unknown or no triple is cited.
        sentence: That sentence; empty where it is not known.
        hop: The first hop that read the passage; where none could, the first that retrieved it.
        score: What the retriever gave it there.
    """

    passage: str
    title: str
    span: tuple[int, int] | None
    sentence: str
    hop: int
    subquery: str
    score: float


class Ground(TypedDict):
    """A triple beneath an answer; ``edited``: a person put it into the graph."""

    subject: str
    predicate: str
    object: str
    cited: bool
    edited: bool
    sources: list[Source]


class AnswerPart(TypedDict):
    """An entity that the answer names, or a verdict as a whole.

    Attributes:
        text: The entity's first spelling, or the verdict.
        entity: Its name's key; empty for a verdict.
        spans: Where it is in the answer.
        triples: Ids of the triples beneath: the path from the question, then others cited.
    """

    text: str
    entity: str
    spans: list[tuple[int, int]]
    triples: list[str]


class Explanation(TypedDict):
    """What an answer rests on.

    ``stop_meaning`` says what the stop reason means. ``passages`` are those cited themselves, where
    no triples were made. Without ``parts`` and ``passages`` nothing that was found supports the
    answer.
    """

    run: str
    branch: int
    question: str
    answer: str
    stop_reason: str | None
    stop_meaning: str
    supported: bool
    support: str
    parts: list[AnswerPart]
    triples: dict[str, Ground]
    passages: list[Source]


def explain(document: RunDocument, branch: int | None = None) -> Explanation:
    """Explain an answer by the triples and passages beneath it."""
    way = get_branch(document, branch)
    kg = QueryKG.from_triples(graph_of(document, way))
    cited = [citation["triple"] for citation in way["citations"]]
    parts = _parts(way, kg, [id for id in cited if id in kg.triples])
    edited = {
        id for step in steps_of(document, way) for id in (step["added"] if by_hand(step) else ())
    }
    retrieved = passages_of(way)
    beneath = dict.fromkeys(id for part in parts for id in part["triples"])
    return Explanation(
        run=document["run"],
        branch=way["number"],
        question=way["question"],
        answer=way["answer"],
        stop_reason=way["stop_reason"],
        stop_meaning=document["system"]["stop_reasons"].get(way["stop_reason"] or "", ""),
        supported=way["supported"],
        support=way["support"],
        parts=parts,
        triples={
            id: Ground(
                subject=kg.triples[id]["subject"],
                predicate=kg.triples[id]["predicate"],
                object=kg.triples[id]["object"],
                cited=id in cited,
                edited=id in edited,
                sources=[
                    source_of(document, way, id, passage) for passage in kg.triples[id]["passages"]
                ],
            )
            for id in beneath
        },
        passages=[
            source_of(document, way, "", passage)
            for citation in way["citations"]
            for passage in citation["passages"]
            if not citation["triple"] and passage in retrieved
        ],
    )


def source_of(document: RunDocument, branch: Branch, triple: str, passage: str) -> Source:
    """Say how a passage that states a triple was found."""
    retrieved = [hop for hop in branch["hops"] if passage in hop["passages"]]
    hop = next((hop for hop in retrieved if passage in read_in(hop)), retrieved[0])
    text = document["passages"][passage]["text"]
    found = document["evidence"].get(triple, {}).get(passage)
    span = (found[0], found[1]) if found else None
    return Source(
        passage=passage,
        title=name_of(document["passages"][passage]),
        span=span,
        sentence=text[slice(*span)] if span else "",
        hop=hop["index"],
        subquery=hop["subquery"],
        score=hop["scores"][hop["passages"].index(passage)],
    )


def _parts(branch: Branch, kg: QueryKG, cited: list[str]) -> list[AnswerPart]:
    answer = branch["answer"]
    if not answer:
        return []
    paths = paths_to_answer(answer, branch["question"], kg)
    if not paths and cited:
        whole = [(0, len(answer))]
        return [AnswerPart(text=answer, entity="", spans=whole, triples=cited)]
    places = _places(answer, set(map(normalize_name, paths)))
    parts = []
    for entity, path in paths.items():
        name = normalize_name(entity)
        others = [id for id in cited if id in kg.incident[entity]]
        triples = list(dict.fromkeys([*path, *others]))
        if triples:
            spans = places.get(name, [(0, len(answer))])
            parts.append(
                AnswerPart(text=kg.entities[entity], entity=entity, spans=spans, triples=triples)
            )
    return sorted(parts, key=lambda part: part["spans"])


def _places(answer: str, names: set[str]) -> dict[str, list[tuple[int, int]]]:
    """Find normalised names in a text: for each, the spans of words that normalise to it."""
    words = [match.span() for match in _WORD.finditer(answer)]
    longest = max((len(name.split()) for name in names), default=0) + _LONGER
    places: dict[str, list[tuple[int, int]]] = {}
    taken: dict[str, set[int]] = {name: set() for name in names}
    for size in range(1, longest + 1):
        for first in range(len(words) - size + 1):
            begin, end = words[first][0], words[first + size - 1][1]
            for text in dict.fromkeys(_readings(answer[begin:end])):
                name = normalize_name(text)
                numbers = range(first, first + size)
                if name in names and taken[name].isdisjoint(numbers):
                    taken[name].update(numbers)
                    span = _trimmed(answer, begin, begin + len(text), name)
                    places.setdefault(name, []).append(span)
    return {name: sorted(spans) for name, spans in places.items()}


def _readings(text: str) -> tuple[str, str]:
    """Return a piece of text as it is, and without the "'s" of a possessive."""
    return text, _POSSESSIVE_END.sub("", text[: len(text) - _marks(reversed(text))])


def _trimmed(answer: str, begin: int, end: int, name: str) -> tuple[int, int]:
    """Narrow a span by the marks around it that do not count."""

    def counts_after(cut: int) -> bool:
        return normalize_name(answer[begin : end - cut]) != name

    def counts_before(cut: int) -> bool:
        return normalize_name(answer[begin + cut : end]) != name

    # The answer may be a word and 20,000 dots: each of them is not tried.
    marks = _marks(answer[i] for i in range(end - 1, begin, -1))
    end -= bisect_left(range(1, marks + 1), True, key=counts_after)
    marks = _marks(answer[i] for i in range(begin, end - 1))
    return begin + bisect_left(range(1, marks + 1), True, key=counts_before), end


def _marks(text: Iterable[str]) -> int:
    """Count the characters before the first letter or digit."""
    return sum(1 for _ in takewhile(lambda char: not char.isalnum(), text))
