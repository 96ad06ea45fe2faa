"""What a run passes from node to node: JSON-like data only.

Each passage is stored once, by content id; each triple once, by its normalised form, with all
its provenance. Nothing that can be recomputed from the rest is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Literal, NotRequired

# Before Python 3.12 pydantic, which makes the JSON schemas, takes no other.
from typing_extensions import TypedDict

PlanLabel = Literal["SUBQ", "SUFFICIENT", "NO_RETRIEVAL", "NOT_FOUND"]
"""The planner's decisions without their brackets: the paper's three (§3.1), and one for a question
that the documents do not answer."""


class Document(TypedDict):
    """A text that the caller hands in: the paper's given first context t0.

    ``source`` says where it is from, as a file or an address; it names a document without a title.
    """

    title: NotRequired[str]
    text: str
    source: NotRequired[str]


class Passage(TypedDict):
    """A piece of a document, about 100 words, as retrieved; or a page of a knowledge graph.

    A page has ``triples``, the facts that it states, each as subject, predicate and object. They
    enter the question's graph as they are. ``ids`` are the graph's own ids of names among them.
    """

    id: str
    title: str
    text: str
    source: NotRequired[str]
    triples: NotRequired[list[list[str]]]
    ids: NotRequired[dict[str, str]]


class Stated(TypedDict):
    """What has a subject, a predicate and an object."""

    subject: str
    predicate: str
    object: str


class Triple(Stated):
    """A subject-predicate-object fact with its provenance (paper eq. 4).

    It belongs to every hop that read one of its ``passages``; where none did, as where a person
    added it, to the last hop. ``ids`` are the ids of subject, predicate and object in the knowledge
    graph that it is from, each empty if unknown.
    """

    passages: list[str]
    ids: NotRequired[list[str]]


class Entity(TypedDict):
    """An entity of a knowledge graph that a question is about.

    Attributes:
        id: The graph's id of it, such as an IRI.
        name: Its name in the graph, which no other entity has.
        mention: The words of the question that mean it; the name that a caller gave.
        score: How well they fit, from 0 to 1.
        by: How it was found, such as ``"given"``, ``"name"``, ``"alias"`` or ``"similar"``.
    """

    id: str
    name: str
    mention: str
    score: float
    by: str


class Hop(TypedDict):
    """One step of the subquery chain: q_i and what was retrieved for it (eq. 3).

    ``failed`` are those of its passages of which the extractor made nothing, for an error. A later
    hop that finds one of them tries again, and what it states is that hop's. ``dropped`` are
    passages that a person took out: later hops leave them out too. ``known`` is how many passages
    that earlier hops had shown were left out, where only new ones are wanted, and ``weak`` how many
    for a score far below the best. ``triple_scores`` are those of the triples from a knowledge
    graph, by the triples' ids.
    """

    index: int
    subquery: str
    passages: list[str]
    scores: list[float]
    failed: NotRequired[list[str]]
    dropped: NotRequired[list[str]]
    known: NotRequired[int]
    weak: NotRequired[int]
    triple_scores: NotRequired[dict[str, float]]


class Plan(TypedDict):
    """One answer of the planner (eq. 1 and 2).

    Each line of ``subquery`` is searched for, side by side, as one hop.
    ``hop`` is the hop that it planned. Where ``label`` is None, ``problem`` says why the answer
    was not usable, or ``error`` why it is missing.
    """

    index: int
    hop: int
    label: PlanLabel | None
    subquery: str
    raw: str
    problem: NotRequired[str]
    error: NotRequired[str]


class Step(TypedDict):
    """What a model that reads a hop in one call says to do next.

    It holds while graph, chain and models are what they were when it was made: ``saw`` is their
    fingerprint (:func:`ras_flow.routing.fingerprint`). Where ``label`` is None, ``problem`` says
    why the reply was not usable. ``cites`` are the passages that an answer names by number.
    ``whole`` says that no passage of the run was out of view when it was made.
    """

    saw: str
    label: Literal["SUBQ", "ANSWER", "NOT_FOUND", "NO_RETRIEVAL"] | None
    subquery: str
    answer: str
    cites: list[str]
    raw: str
    whole: bool
    problem: NotRequired[str]


class Spent(TypedDict):
    """What steps cost together.

    ``cached_tokens`` are those of the input that a server's prompt cache had; left out for none.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cached_tokens: NotRequired[int]


class Usage(Spent):
    """The cost of one node step; ``role`` names the part that did the work."""

    role: str


class Extracted(TypedDict):
    """The triples of one passage on their way from ``to_triples`` to ``merge_graph``."""

    passage: str
    triples: list[list[str]]


class Citation(TypedDict):
    """A fact or a passage that the answer rests on, to be shown without another look-up.

    Attributes:
        triple: The fact's id; empty where a passage is cited as text.
        passages: Ids of the passages that state it, the clearest first.
        subject: The fact's subject; like the next two empty where a passage is cited as text.
        predicate: Its predicate.
        object: Its object.
        title: The title of the first passage.
        source: Where that passage is from: a file or an address; empty if unknown.
        sentence: What that passage says about it.
    """

    triple: str
    passages: list[str]
    subject: str
    predicate: str
    object: str
    title: str
    source: str
    sentence: str


def citation_text(citation: Citation) -> str:
    """Write a citation for a person: the fact or the sentence, and where it is from."""
    fact = " | ".join(citation[part] for part in ("subject", "predicate", "object"))
    said = fact if citation["triple"] else citation["sentence"]
    named = citation["title"] or citation["source"] or ", ".join(citation["passages"])
    return f"{said} [{named or 'no passage'}]".lstrip()


def passage_id(title: str, text: str) -> str:
    """Return the content id of a passage: 16 hex digits, the same on every machine."""
    return sha256(f"{title}\0{text}".encode(errors="surrogatepass")).hexdigest()[:16]


def make_passage(title: str, text: str) -> Passage:
    """Return a passage with the id of its content."""
    return Passage(id=passage_id(title, text), title=title, text=text)


def name_passages(ids: Iterable[str], passages: Mapping[str, Passage]) -> str:
    """Name passages for a person, each once; an unknown one by its id."""
    names = dict.fromkeys(name_of(passages[id]) if id in passages else id for id in ids)
    return ", ".join(names) or "no passage"


def name_of(passage: Passage) -> str:
    """Return a passage's title, or else its source, or else its id."""
    return passage["title"] or passage.get("source", "") or passage["id"]
