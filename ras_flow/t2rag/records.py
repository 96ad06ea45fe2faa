"""The records that T²RAG keeps of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ras_flow.formats.triples import Spo

Slot = Annotated[str, Field(pattern=r"^\?\w+$")]
Maker = Literal["model", "person"]
Origin = Literal["question", "model", "person"]


class Clue(TypedDict):
    """A query triple; ``?name`` in a field is a slot. ``round`` is the one before which it came."""

    subject: str
    predicate: str
    object: str
    origin: Origin
    round: int


def clue_of(spo: Spo, origin: Origin, round: int) -> Clue:
    """Return a clue that came before a round."""
    subject, predicate, object = spo
    return Clue(subject=subject, predicate=predicate, object=object, origin=origin, round=round)


class Fill(TypedDict):
    """A value for a slot, and what it rests on.

    ``given`` names, by slot, the fills of other slots that it was found under: it holds only while
    these are the chosen ones. ``grounded`` says whether something read that round states the value.
    """

    slot: Slot
    value: str
    given: dict[str, str]
    clues: list[str]
    triples: list[str]
    passages: list[str]
    round: int
    by: Maker
    grounded: bool


def united(old: Fill, new: Fill) -> Fill:
    """Return a fill with what two of the same id rest on."""
    return {
        **old,
        "clues": list(dict.fromkeys([*old["clues"], *new["clues"]])),
        "triples": list(dict.fromkeys([*old["triples"], *new["triples"]])),
        "passages": list(dict.fromkeys([*old["passages"], *new["passages"]])),
        "round": min(old["round"], new["round"]),
        "by": "person" if "person" in (old["by"], new["by"]) else "model",
        "grounded": old["grounded"] or new["grounded"],
    }


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
    ``saw`` is the fingerprint of the state in which the answer that came with it holds.
    """

    index: int
    queries: list[str]
    clues: list[str]
    found: list[str]
    fallback: NotRequired[bool]
    read: NotRequired[list[str]]
    reply: NotRequired[str]
    saw: NotRequired[str]
    error: NotRequired[str]


Fills = Mapping[str, Fill]
