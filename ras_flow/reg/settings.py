"""ReG's settings: those that all systems share, and its own."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from ras_flow.settings.context import Context, History, Name, Number


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class RegContext(Context):
    """Settings of one run of ReG.

    Attributes:
        entities: Names or ids of the entities that the question is about, in place of those that
            are recognised in it.
        kg_rounds: Searches at most: one that leads to no answer is made again, for twice as many
            facts.
        chain_length: Facts of a chain at most; None for no limit.
        turning_chains: Whether a chain may go on against the direction of a fact.
        literal_chains: Grow chains as algorithm 1 is printed.
        pause_after_link: Wait for a person to approve or replace the entities.
    """

    model_roles: ClassVar[tuple[str, ...]] = ("answerer",)
    unread: ClassVar[frozenset[str]] = frozenset(
        {
            *("index", "retriever", "top_k", "min_score"),
            *("planner", "extractor", "extractor_output"),
            *("loop", "reads", "planning", "max_hops", "pause_before_retrieval"),
        }
    )

    entities: Annotated[list[Name], BeforeValidator(_listed), Field(max_length=100)] = []
    kg_rounds: Annotated[Number, Field(le=10)] = 1
    chain_length: Number | None = None
    turning_chains: bool = False
    literal_chains: bool = False
    history: History = "chains"
    pause_after_link: bool = False
