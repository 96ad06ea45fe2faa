"""What an answer rests on: the facts and passages cited, and how each was found."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from ras_flow.runs.document import Branch, RunDocument, ShownSection
from ras_flow.runs.reading import by_hand, get_branch, graph_of, passages_of, steps_of
from ras_flow.state.kg import QueryKG, read_in
from ras_flow.state.schema import Triple, name_of


class Source(TypedDict):
    """A passage that states a triple, or is cited itself, and how it was found.

    Attributes:
        title: Its title; of one without, its source, or else its id.
        span: Where it states the triple: first and last-plus-one character of a sentence in its
            text; None where that is not known.
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
    """A triple that an answer rests on; ``edited``: a person put it into the graph.

    ``score`` is what the retriever of a knowledge graph's facts gave it.
    """

    subject: str
    predicate: str
    object: str
    edited: bool
    sources: list[Source]
    score: NotRequired[float]


class Explanation(TypedDict):
    """What an answer rests on.

    ``stop_meaning`` says what the stop reason means. ``triples`` are those cited, from the question
    to the answer; ``passages`` those cited as text. What is cited of an answer that the documents
    do not support is what comes nearest. ``sections`` are what the system adds.
    """

    run: str
    branch: int
    question: str
    answer: str
    stop_reason: str | None
    stop_meaning: str
    supported: bool
    support: str
    triples: dict[str, Ground]
    passages: list[Source]
    sections: list[ShownSection]


def explain(document: RunDocument, branch: int | None = None) -> Explanation:
    """Explain an answer by the triples and passages that it cites."""
    way = get_branch(document, branch)
    facts = QueryKG.from_triples(graph_of(document, way)).triples
    edited = {
        id for step in steps_of(document, way) for id in (step["added"] if by_hand(step) else ())
    }
    retrieved = passages_of(way)
    cited = [one["triple"] for one in way["citations"] if one["triple"] in facts]
    return Explanation(
        run=document["run"],
        branch=way["number"],
        question=way["question"],
        answer=way["answer"],
        stop_reason=way["stop_reason"],
        stop_meaning=document["system"]["stop_reasons"].get(way["stop_reason"] or "", ""),
        supported=way["supported"],
        support=way["support"],
        triples={id: _ground(document, way, id, facts[id], edited=id in edited) for id in cited},
        passages=[
            _source(document, way, passage, citation["sentence"])
            for citation in way["citations"]
            for passage in citation["passages"]
            if not citation["triple"] and passage in retrieved
        ],
        sections=way["sections"],
    )


def _ground(
    document: RunDocument, branch: Branch, id: str, fact: Triple, *, edited: bool
) -> Ground:
    ground = Ground(
        subject=fact["subject"],
        predicate=fact["predicate"],
        object=fact["object"],
        edited=edited,
        sources=[source_of(document, branch, id, one) for one in fact["passages"]],
    )
    scores = [
        hop["triple_scores"][id] for hop in branch["hops"] if id in hop.get("triple_scores", {})
    ]
    return {**ground, "score": max(scores)} if scores else ground


def source_of(document: RunDocument, branch: Branch, triple: str, passage: str) -> Source:
    """Say how a passage that states a triple was found, and where it states it."""
    found = document["evidence"].get(triple, {}).get(passage)
    text = document["passages"][passage]["text"]
    return _source(document, branch, passage, text[slice(*found)] if found else "")


def _source(document: RunDocument, branch: Branch, passage: str, sentence: str) -> Source:
    retrieved = [hop for hop in branch["hops"] if passage in hop["passages"]]
    hop = next((hop for hop in retrieved if passage in read_in(hop)), retrieved[0])
    at = document["passages"][passage]["text"].find(sentence) if sentence else -1
    return Source(
        passage=passage,
        title=name_of(document["passages"][passage]),
        span=None if at < 0 else (at, at + len(sentence)),
        sentence=sentence,
        hop=hop["index"],
        subquery=hop["subquery"],
        score=hop["scores"][hop["passages"].index(passage)],
    )
