"""ReG's own progress events, beside those of :mod:`ras_flow.events`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from ras_flow.formats.chains import Reorganised, write_chain
from ras_flow.state.schema import Entity


class EntitiesEvent(TypedDict):
    """The question's entities were found in the knowledge graph ``kg``."""

    type: Literal["entities"]
    kg: str
    entities: list[Entity]


class ChainsEvent(TypedDict):
    """The facts were rewritten as evidence chains.

    Attributes:
        groups: Chains that belong together, the best first.
        rest: Facts that are in no chain.
    """

    type: Literal["chains"]
    groups: list[list[str]]
    rest: list[str]


def chains_event(found: Reorganised) -> ChainsEvent:
    """Describe chains."""
    return ChainsEvent(
        type="chains",
        groups=[
            [write_chain(chain, found.shown) for chain in group.chains] for group in found.groups
        ],
        rest=[write_chain(chain, found.shown) for chain in found.rest],
    )
