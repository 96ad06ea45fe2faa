"""reorganise: rewrite the retrieved facts as evidence chains (ReG §4.2)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.formats.chains import ChainForm, Reorganised
from ras_flow.parts.source import PartsSource
from ras_flow.reg.events import chains_event
from ras_flow.reg.settings import RegContext
from ras_flow.reg.state import RegState
from ras_flow.state.reorganised import reorganise_facts
from ras_flow.support.concurrency import off_loop


async def reorganise(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Show the chains; they are computed again where they are read."""
    context: Any = parts.context(state, runtime)
    found = await chains_of(state, context)
    runtime.stream_writer(chains_event(found))
    return {}


async def chains_of(state: RegState, context: RegContext) -> Reorganised:
    """Return a run's facts as chains."""
    roots = [entity["name"] for entity in state.get("entities", ())]
    form = ChainForm(context.chain_length, context.turning_chains, context.literal_chains)
    triples = state["triples"]
    return await off_loop(len(triples), reorganise_facts, triples, state["hops"], roots, form)
