"""T²RAG's own progress events, beside those that all systems send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from typing_extensions import TypedDict

from ras_flow.parts.records import ScoredTriple
from ras_flow.state.kg import triple_id
from ras_flow.t2rag.board import Board, Standing, Status, spo_of
from ras_flow.t2rag.records import Fill, Verdict


class ClueShown(TypedDict):
    """A clue as it was written, what it says now and how far it is."""

    id: str
    subject: str
    predicate: str
    object: str
    says: str
    status: Status


class CluesEvent(TypedDict):
    """Where the clues stand before a round, or at the end."""

    type: Literal["clues"]
    hop: int
    clues: list[ClueShown]


class FoundProposition(TypedDict):
    """A proposition, how near it is to which query, and the passages that state it."""

    id: str
    subject: str
    predicate: str
    object: str
    passages: list[str]
    score: float
    query: str


class PropositionsEvent(TypedDict):
    """A round searched for these texts and found these propositions, best first."""

    type: Literal["propositions"]
    hop: int
    queries: list[str]
    fallback: bool
    propositions: list[FoundProposition]


class FillShown(TypedDict):
    """A value for a slot, and whether it is the one that clues are bound to."""

    id: str
    slot: str
    value: str
    passages: list[str]
    grounded: bool
    chosen: bool


class FillsEvent(TypedDict):
    """A round filled slots and judged claims; ``open`` clues are left."""

    type: Literal["fills"]
    hop: int
    fills: list[FillShown]
    verdicts: dict[str, Verdict]
    open: int


def show_clues(clues: Iterable[Standing]) -> list[ClueShown]:
    """Describe clues."""
    return [
        ClueShown(
            id=one.id,
            subject=one.clue["subject"],
            predicate=one.clue["predicate"],
            object=one.clue["object"],
            says=" | ".join(one.form.spo),
            status=one.status,
        )
        for one in clues
    ]


def show_fills(fills: Mapping[str, Fill], board: Board) -> list[FillShown]:
    """Describe fills."""
    return [
        FillShown(
            id=id,
            slot=fill["slot"],
            value=fill["value"],
            passages=fill["passages"],
            grounded=fill["grounded"],
            chosen=board.chosen.get(fill["slot"]) == id,
        )
        for id, fill in fills.items()
    ]


def clues_event(hop: int, clues: Iterable[Standing]) -> CluesEvent:
    """Describe where clues stand."""
    return CluesEvent(type="clues", hop=hop, clues=show_clues(clues))


def propositions_event(
    hop: int, queries: list[str], found: Iterable[ScoredTriple], *, fallback: bool
) -> PropositionsEvent:
    """Describe what a round found."""
    return PropositionsEvent(
        type="propositions",
        hop=hop,
        queries=queries,
        fallback=fallback,
        propositions=[
            FoundProposition(
                id=triple_id(*spo_of(one.triple)),
                subject=one.triple["subject"],
                predicate=one.triple["predicate"],
                object=one.triple["object"],
                passages=one.triple["passages"],
                score=round(one.score, 6),
                query=queries[one.query],
            )
            for one in found
        ],
    )


def fills_event(
    hop: int, fills: Mapping[str, Fill], verdicts: Mapping[str, Verdict], board: Board
) -> FillsEvent:
    """Describe what a round resolved."""
    return FillsEvent(
        type="fills",
        hop=hop,
        fills=show_fills(fills, board),
        verdicts=dict(verdicts),
        open=len(board.open),
    )
