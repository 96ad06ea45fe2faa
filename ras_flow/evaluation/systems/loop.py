"""What the baselines' graphs have in common: start, then plan and retrieve in turn, then answer.

Their nodes have the names of RAS's own, and their state is RAS's state, so that their runs can be
shown, compared and replayed with the same commands. Start, retrieval, the limits and their order
are RAS's own too; a baseline brings only what it says to its model, and how it reads the replies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ras_flow.builder import SystemBuilder
from ras_flow.errors import ModelUnavailableError
from ras_flow.events import plan_event
from ras_flow.formats.answer import clean_answer
from ras_flow.formats.plan import MAX_SUBQUERY, clean_subquery
from ras_flow.formats.text import has_word
from ras_flow.nodes.answer import tell_answer
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.routes import add_route
from ras_flow.nodes.start import start
from ras_flow.nodes.warn import end_of, loss_of, warn
from ras_flow.parts.records import Reading, Reply
from ras_flow.parts.source import PartsSource
from ras_flow.routing import (
    decide,
    planned_subquery,
    stop_reason,
    times_searched,
)
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Plan, PlanLabel
from ras_flow.state.support import judge
from ras_flow.state.usage import Cost

Graph = SystemBuilder[RasState]


@dataclass(frozen=True)
class Thought:
    """What a baseline makes of its model's reply.

    Attributes:
        label: ``SUBQ`` to search, ``SUFFICIENT`` to answer; None where the reply is not usable.
        search: What to search for.
        problem: What is wrong with a reply that has no label.
        reply: The reply; None where no model was asked.
    """

    label: PlanLabel | None
    search: str = ""
    problem: str = ""
    reply: Reply | None = None


class Method(Protocol):
    """A baseline: how it decides on the next step, and how it answers."""

    async def think(self, state: RasState, context: Context) -> Thought:
        """Decide on the next search, or to stop.

        Args:
            state: Plans, hops and passages so far. The replies so far are the plans' ``raw``.
            context: The run's settings.

        Returns:
            The decision; it is checked before it is followed.

        Raises:
            ModelUnavailableError: The model cannot be reached; after the first search, the run
                goes on to its answer.
        """

    async def answer(self, state: RasState, context: Context) -> Reply | str:
        """Answer the question.

        Args:
            state: All that was found.
            context: The run's settings.

        Returns:
            The model's reply, where it is asked; the text of the answer, where an earlier reply
            holds it.
        """


def build_loop(method: Method, parts: PartsSource) -> Graph:
    """Build a baseline's graph."""
    builder = SystemBuilder("baseline", RasState, parts)
    builder.add_work("start", partial(start, own={"plans": Overwrite([])}))
    builder.add_work("plan", partial(_plan, method=method))
    builder.add_work("retrieve", partial(retrieve, query=planned_subquery, top_k=Reading.top_k))
    builder.add_work("answer", partial(_answer, method=method))
    builder.add_edge(START, "start")
    builder.add_edge("answer", END)
    for name in ("start", "plan", "retrieve"):
        add_route(builder, name, _follow)
    return builder


def _follow(state: RasState, settings: Context) -> Literal["plan", "retrieve", "answer"]:
    return decide(state, settings).step


async def _plan(
    state: RasState, runtime: Runtime[Any], parts: PartsSource, *, method: Method
) -> dict[str, Any]:
    context = parts.context(state, runtime)
    record = Plan(
        index=len(state["plans"]), hop=len(state["hops"]), label=None, subquery="", raw=""
    )
    cost = Cost("planner", f"plan:{record['index']}")
    try:
        thought = await method.think(state, context)
    except ModelUnavailableError as error:
        if not state["hops"]:
            raise
        return {"plans": [{**record, "error": str(error)}], **warn(runtime, str(error))}
    label, search, problem = _checked(thought, state)
    reply = thought.reply or Reply("")
    if thought.reply:
        cost.add(reply, reply.calls)
    record = {**record, "label": label, "subquery": search, "raw": reply.text}
    if problem:
        record["problem"] = problem
    runtime.stream_writer(plan_event(record))
    return {"plans": [record], "usage": cost.usage(), **warn(runtime, *loss_of("model", reply))}


def _checked(thought: Thought, state: RasState) -> tuple[PlanLabel | None, str, str]:
    """Refuse a search for nothing and one that was made before."""
    if thought.label != "SUBQ":
        return thought.label, "", thought.problem
    # The question itself needs no cleaning, however long it is.
    written = thought.reply is not None
    search = clean_subquery(thought.search)[:MAX_SUBQUERY].strip() if written else thought.search
    if not has_word(search):
        return None, "", "It names nothing to search for."
    if times_searched(state, search):
        return None, "", f"The search {search!r} was already made."
    return "SUBQ", search, ""


async def _answer(
    state: RasState, runtime: Runtime[Any], parts: PartsSource, *, method: Method
) -> dict[str, Any]:
    context = parts.context(state, runtime)
    cost = Cost("answerer", "answer")
    said = await method.answer(state, context)
    reply = said if isinstance(said, Reply) else Reply(said, calls=0)
    cost.add(reply, reply.calls)
    text = clean_answer(reply.text)
    warnings = warn(runtime, *loss_of("model", reply), *end_of("model", text, reply))
    verdict = judge(text, state["question"], {}, state["passages"])
    told = tell_answer(runtime, text, verdict, stop_reason(state, context))
    return {**told, "usage": cost.usage(), **warnings}


def search_question(state: RasState) -> Thought:
    """Search for the question itself, without asking a model."""
    return Thought("SUBQ", search=state["question"])
