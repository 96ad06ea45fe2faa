"""link: find the question's entities in the knowledge graph."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.formats.text import scrub_all
from ras_flow.nodes.warn import warn
from ras_flow.parts.checks import one_each
from ras_flow.parts.source import PartsSource
from ras_flow.reg.events import EntitiesEvent
from ras_flow.reg.state import RegState
from ras_flow.state.usage import Cost


async def link(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Take the entities that the caller names, or else find those that the question mentions."""
    context: Any = parts.context(state, runtime)
    cost = Cost("linker", "link")
    knowledge = await parts.get_knowledge(context)
    if context.entities:
        found = await knowledge.find(context.entities)
    else:
        [found] = await one_each(1, list, knowledge.link([state["question"]]), knowledge)
    entities = scrub_all(found)
    runtime.stream_writer(EntitiesEvent(type="entities", kg=knowledge.identity, entities=entities))
    nothing = (
        "The question names no entity of the knowledge graph: name some in the setting `entities` "
        "(--entity NAME)."
    )
    warned = {} if entities else warn(runtime, nothing)
    return {"entities": entities, "usage": cost.usage(), **warned}
