"""decompose: turn the question into clues (paper 4.3, step 1)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import plan_event
from ras_flow.formats.text import scrub
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.state.schema import Plan
from ras_flow.state.usage import Cost
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.clues import clue_id
from ras_flow.t2rag.events import CluesEvent, show_clues
from ras_flow.t2rag.formats.decomposition import (
    MOST_CLUES,
    format_decomposition,
    parse_decomposition,
)
from ras_flow.t2rag.parts import decompose_question
from ras_flow.t2rag.records import clue_of
from ras_flow.t2rag.routing import ATTEMPTS
from ras_flow.t2rag.state import T2State

LONGEST_REPLY = 4_000
"""Characters of a reply that are kept."""


async def decompose(state: T2State, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Ask for the question's clues; what is unusable is asked for once more, with the reason."""
    context: Any = parts.context(state, runtime)
    index = len(state["plans"])
    cost = Cost("planner", f"decompose:{index}")
    reply = await decompose_question(
        await parts.get_model("planner", context),
        state["question"],
        instruction=context.instruction,
        problem=state["plans"][-1].get("problem") if state["plans"] else None,
    )
    cost.add(reply, reply.calls)
    read = parse_decomposition(reply.text)
    last = index + 1 >= ATTEMPTS
    usable = bool(read.clues) and (read.problem is None or last)
    plan = Plan(
        index=index,
        hop=0,
        label="SUBQ" if usable else None,
        subquery=format_decomposition(read.clues) if usable else "",
        raw=scrub(reply.text[:LONGEST_REPLY]),
    )
    if read.problem is not None and not usable:
        plan["problem"] = read.problem
    runtime.stream_writer(plan_event(plan))
    lost = []
    if read.surplus:
        lost.append(
            f"The question was broken into {read.surplus + MOST_CLUES} clues; "
            f"the first {MOST_CLUES} are searched for."
        )
    if not usable and last:
        lost.append("The planner made no clues of the question, so that it is searched as it is.")
    update: dict[str, Any] = {"plans": [plan], "usage": cost.usage(), **warn(runtime, *lost)}
    if usable:
        clues = {clue_id(spo): clue_of(spo, "question", 0) for spo in read.clues}
        update["clues"] = clues
        board = survey({**state, "clues": clues}, context)
        runtime.stream_writer(CluesEvent(type="clues", hop=0, clues=show_clues(board)))
    return update
