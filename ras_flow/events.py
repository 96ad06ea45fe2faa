"""Typed progress events: what a run writes to LangGraph's ``custom`` stream.

Each is a plain JSON object with a ``type``, so that it looks the same in process and over HTTP.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, NotRequired, TypeGuard

from typing_extensions import TypedDict

from ras_flow.state.kg import entity_keys
from ras_flow.state.schema import Citation, Hop, Passage, Plan, PlanLabel, Triple, name_of


class StartEvent(TypedDict):
    """A question was accepted."""

    type: Literal["start"]
    question: str


class ForkedEvent(TypedDict):
    """A new branch begins; ``checkpoint`` is its first."""

    type: Literal["forked"]
    checkpoint: str


class PlanEvent(TypedDict):
    """The planner answered; ``label`` is None and ``problem`` says why if it was not usable."""

    type: Literal["plan"]
    hop: int
    label: PlanLabel | None
    subquery: str
    raw: str
    problem: NotRequired[str]


class RetrievedPassage(TypedDict):
    """A passage of a :class:`PassagesEvent`; ``name``: its title, or else its source or id."""

    id: str
    name: str
    title: str
    text: str
    score: float


class PassagesEvent(TypedDict):
    """Passages were retrieved for a subquery, or given with the question."""

    type: Literal["passages"]
    hop: int
    subquery: str
    passages: list[RetrievedPassage]


class ExtractedEvent(TypedDict):
    """Passages were turned into triples; ``cached`` of them needed no model call.

    ``dropped`` counts the pieces of the output that did not become triples, and the triples that
    were left out of the graph; ``reasons`` counts them by reason.
    """

    type: Literal["extracted"]
    hop: int
    passages: int
    cached: int
    triples: int
    dropped: int
    reasons: dict[str, int]


class GraphTriple(TypedDict):
    """A triple of a :class:`GraphEvent`, with its entities' best surface forms."""

    id: str
    subject: str
    predicate: str
    object: str
    passages: list[str]
    ids: NotRequired[list[str]]


class GraphEvent(TypedDict):
    """The hop's triples were merged; ``new`` are those that the graph did not have."""

    type: Literal["graph"]
    hop: int
    entities: int
    triples: int
    new: list[GraphTriple]


class EncodedEvent(TypedDict):
    """The attributed graph was built for the encoder."""

    type: Literal["encoded"]
    hop: int
    nodes: int
    edges: int


class ReviewEvent(TypedDict):
    """The run waits for a person; the same object is the value of its LangGraph interrupt.

    Attributes:
        point: Where the run is: for RAS ``before_retrieval``, ``after_merge`` or ``before_answer``.
        hop: The hop that comes next; after merging, the one just merged.
        question: The main question.
        subquery: What is to be asked next, or was asked; empty before the answer.
        triples: The graph by triple id.
        passages: Ids of all passages of the run.
        allowed: The kinds of edits (``op`` of :mod:`ras_flow.edits`) that can be made here.
        problem: Why the last answer could not be used.
    """

    type: Literal["review"]
    point: str
    hop: int
    question: str
    subquery: str
    triples: dict[str, Triple]
    passages: list[str]
    allowed: list[str]
    problem: NotRequired[str]


class AnswerEvent(TypedDict):
    """The run is over; see :class:`ras_flow.RasOutput` for what each field says.

    ``answers`` are the members of an answer that is a set.
    """

    type: Literal["answer"]
    answer: str
    answers: NotRequired[list[str]]
    stop_reason: str
    citations: list[Citation]
    supported: bool
    support: str


class WarningEvent(TypedDict):
    """Something was lost or failed, and the run goes on without it."""

    type: Literal["warning"]
    message: str


Event = (
    StartEvent
    | ForkedEvent
    | PlanEvent
    | PassagesEvent
    | ExtractedEvent
    | GraphEvent
    | EncodedEvent
    | ReviewEvent
    | AnswerEvent
    | WarningEvent
)
"""Any progress event; tell them apart by ``event["type"]``."""


def is_event(written: Any) -> TypeGuard[Event]:
    """Tell an event from what else is written to LangGraph's ``custom`` stream.

    Args:
        written: What somebody wrote; a retriever, or a node of another system, may write anything.

    Returns:
        Whether it is an object with a ``type``: one of ours, or one of another system's own.
    """
    return isinstance(written, dict) and isinstance(written.get("type"), str)


def plan_event(plan: Plan) -> PlanEvent:
    """Describe a plan, usable or not."""
    event = PlanEvent(
        type="plan",
        hop=plan["hop"],
        label=plan["label"],
        subquery=plan["subquery"],
        raw=plan["raw"],
    )
    problem = plan.get("problem") or plan.get("error")
    if problem:
        event["problem"] = problem
    return event


def passages_event(hop: Hop, passages: Mapping[str, Passage]) -> PassagesEvent:
    """Describe what a hop retrieved.

    Args:
        hop: The hop.
        passages: All passages by id, those of the hop among them.

    Returns:
        The event, passages in the order of their rank.
    """
    ranked = zip(hop["passages"], hop["scores"], strict=True)
    return PassagesEvent(
        type="passages",
        hop=hop["index"],
        subquery=hop["subquery"],
        passages=[
            RetrievedPassage(
                id=id,
                name=name_of(passages[id]),
                title=passages[id]["title"],
                text=passages[id]["text"],
                score=score,
            )
            for id, score in ranked
        ],
    )


def graph_event(hop: int, before: Collection[str], triples: Mapping[str, Triple]) -> GraphEvent:
    """Describe how a hop grew the graph.

    Args:
        hop: The hop's index.
        before: The ids of the triples that the graph had before the hop.
        triples: The graph after it.
    """
    return GraphEvent(
        type="graph",
        hop=hop,
        entities=len(entity_keys(triples.values())),
        triples=len(triples),
        new=[GraphTriple(id=id, **triple) for id, triple in triples.items() if id not in before],
    )
