"""T²RAG's own progress events, beside those that all systems send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from typing_extensions import TypedDict

from ras_flow.parts.records import ScoredTriple
from ras_flow.state.kg import spo_of, triple_id
from ras_flow.t2rag.board import Board, Status
from ras_flow.t2rag.records import Fill, Maker, Verdict


class ShownClue(TypedDict):
    """A clue as it was written, what it ``says`` now, how far it is, who found that, and when."""

    id: str
    clue: str
    says: str
    status: Status
    by: Maker | None
    round: int | None


class CluesEvent(TypedDict):
    """Where the clues stand: after the decomposition, and after each round that changes that."""

    type: Literal["clues"]
    hop: int
    clues: list[ShownClue]


class ShownProposition(TypedDict):
    """A proposition, the passages that state it, and how near it is to which query."""

    id: str
    text: str
    passages: list[str]
    score: float
    query: str


class PropositionsEvent(TypedDict):
    """What a round searched for and found, best first; as a fallback, for the question itself."""

    type: Literal["propositions"]
    hop: int
    queries: list[str]
    fallback: bool
    propositions: list[ShownProposition]


class ShownFill(Fill):
    """A fill; whether it is the one that clues are bound to, and found under values that are."""

    id: str
    chosen: bool
    holds: bool


class FillsEvent(TypedDict):
    """A round filled slots and judged claims; ``open`` clues are left."""

    type: Literal["fills"]
    hop: int
    fills: list[ShownFill]
    verdicts: dict[str, Verdict]
    open: int


def show_clues(board: Board) -> list[ShownClue]:
    """Describe where clues stand."""
    return [
        ShownClue(
            id=one.id,
            clue=" | ".join(spo_of(one.clue)),
            says=" | ".join(one.form.spo),
            status=one.status,
            by=one.by,
            round=one.round,
        )
        for one in board.clues
    ]


def show_fills(fills: Mapping[str, Fill], board: Board) -> list[ShownFill]:
    """Describe fills."""
    chosen = set(board.chosen.values())
    return [
        ShownFill(**fill, id=id, chosen=id in chosen, holds=board.holds(fill))
        for id, fill in fills.items()
    ]


def show_propositions(queries: list[str], found: Iterable[ScoredTriple]) -> list[ShownProposition]:
    """Describe what was found."""
    return [
        ShownProposition(
            id=triple_id(*spo_of(one.triple)),
            text=" | ".join(spo_of(one.triple)),
            passages=one.triple["passages"],
            score=round(one.score, 6),
            query=queries[one.query],
        )
        for one in found
    ]
