"""What a run of T²RAG keeps beside the channels that all systems share: JSON-like data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired

from typing_extensions import TypedDict

Origin = Literal["question", "model", "person"]


class Clue(TypedDict):
    """A query triple; ``?name`` in a field is a slot. ``round`` is the one before which it came."""

    subject: str
    predicate: str
    object: str
    origin: Origin
    round: int


class Fill(TypedDict):
    """A value for a slot, and what it rests on.

    ``given`` names, by slot, the fills of other slots that it was found under: it holds only while
    these are the chosen ones. ``grounded`` says whether something read that round states the value.
    """

    slot: str
    value: str
    given: dict[str, str]
    clues: list[str]
    triples: list[str]
    passages: list[str]
    round: int
    by: Literal["model", "person"]
    grounded: bool


class Verdict(TypedDict):
    """Whether what was read supports a claim of the question."""

    verdict: Literal["supported", "contradicted"]
    triples: list[str]
    passages: list[str]
    round: int


class Round(TypedDict):
    """One retrieval and its resolution; ``index`` is that of its hop.

    ``queries`` were searched for, one for each of ``clues``, and found the propositions ``found``,
    best first. ``fallback`` says that the question itself was searched for. ``read`` are the
    passages, where these are not the hop's: the best of given documents. ``reply`` is what the
    resolver wrote, or ``error`` why it could not; without it, the round is not resolved yet.
    """

    index: int
    queries: list[str]
    clues: list[str]
    found: list[str]
    fallback: NotRequired[bool]
    read: NotRequired[list[str]]
    reply: NotRequired[str]
    error: NotRequired[str]


Fills = Mapping[str, Fill]
