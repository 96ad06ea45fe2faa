"""What people are shown of ReG's runs: entities, chains, and the members of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ras_flow.events import GraphEvent
from ras_flow.formats.chains import ChainForm, write_chain
from ras_flow.formats.chains.writing import name
from ras_flow.reg.events import ChainsEvent, EntitiesEvent
from ras_flow.state.reorganised import reorganise_facts
from ras_flow.state.schema import Entity
from ras_flow.systems import Section

CHAINS = 20
"""Chains that are shown."""


def tell_entities(event: EntitiesEvent) -> Section:
    """Show which entities were found."""
    return Section("Entities", _entities(event["entities"]) or ["none"])


def tell_nothing(event: Any) -> Section:
    """Leave out what the chains say."""
    return Section("", [])


def tell_graph(event: GraphEvent) -> Section:
    """Say how much was found: the chains have it, and what is in none follows them."""
    return Section("Facts", [f"{event['triples']:,}, about {event['entities']:,} entities"])


def tell_chains(event: ChainsEvent) -> Section:
    """Show the best chains."""
    chains = _cut([line for group in event["groups"] for line in group])
    left = len(event["rest"])
    rest = [f"and {left:,} {'fact' if left == 1 else 'facts'} in no chain"] if left else []
    return Section("Chains", [*chains, *rest] or ["none"])


def sections(state: Mapping[str, Any]) -> Sequence[Section]:
    """Return entities, chains and answers of a run's state."""
    entities: list[Entity] = state.get("entities") or []
    settings = state.get("context") or {}
    form = ChainForm(
        settings.get("chain_length"),
        settings.get("turning_chains", False),
        settings.get("literal_chains", False),
    )
    roots = [entity["name"] for entity in entities]
    found = reorganise_facts(state.get("triples") or {}, state.get("hops") or [], roots, form)
    chains = [write_chain(chain, found.shown) for block in found.blocks for chain in block]
    shown = [
        Section("Entities", _entities(entities)),
        Section("Chains", _cut(chains)),
        Section("Answers", state.get("answers") or []),
    ]
    return [section for section in shown if section.lines]


def _entities(entities: Sequence[Entity]) -> list[str]:
    return [
        f'{name(one["name"])}  ("{name(one["mention"])}", by {one["by"]}, {one["score"]:.2f})'
        for one in entities
    ]


def _cut(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - CHAINS} more"] if len(lines) > CHAINS else []
    return [*lines[:CHAINS], *more]
