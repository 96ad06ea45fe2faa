"""answer: take the answer that came with the hop's facts, or ask for it with the best passages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.formats.answer import UNKNOWN_ANSWER
from ras_flow.nodes.answer import StopRule, tell_answer
from ras_flow.nodes.answer import answer as answer_in_the_end
from ras_flow.nodes.one_call.reading import read_hop
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.routing import held_step
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Passage, Step, Triple
from ras_flow.state.support import NOT_FOUND, Verdict, verify
from ras_flow.state.usage import Cost
from ras_flow.support.concurrency import off_loop

GAVE_UP = "The search was given up: what was asked for was not found."


async def answer(
    state: RasState, runtime: Runtime[Any], parts: PartsSource, *, stop: StopRule
) -> dict[str, Any]:
    """Answer, cite what the model named by number, and say why the run stopped.

    A step that gives up is taken only if it saw the run's best passages in full. If the model keeps
    to no form at all, what it wrote beside its facts is its answer. An answerer that takes soft
    tokens, or is to read evidence chains, is asked in place of that; where its answer is not
    supported and that which came with the facts is, this one is taken.
    """
    context = parts.context(state, runtime)
    answerer = await parts.get_answerer(context)
    if not state["hops"] or context.history == "chains" or answerer.takes_soft_tokens:
        doubts = partial(_gave_up, stop)
        return await answer_in_the_end(
            state, runtime, parts, stop=stop, doubts=doubts, other=_read_from_hop
        )
    step = held_step(state, context)
    update: dict[str, Any] = {}
    if step is None or not _ends(step):
        cost = Cost("reader", "answer")
        read = await read_hop(state, context, parts, cost, last=True)
        step = read.step(state, context, state["triples"])
        update = {"step": step, "usage": cost.usage(), **warn(runtime, *read.warnings)}
    text = step["answer"] or UNKNOWN_ANSWER
    stop_reason = _why(stop(state, context), step)
    triples, passages = state["triples"], state["passages"]
    verdict = await off_loop(
        len(triples) + len(passages), _judge, step, state["question"], triples, passages
    )
    return {**tell_answer(runtime, text, verdict, stop_reason), **update}


def _read_from_hop(state: RasState, context: Context) -> str:
    """Return the answer that came with the last hop's facts, if one did."""
    step = held_step(state, context)
    return step["answer"] if step and step["label"] == "ANSWER" else ""


def _gave_up(stop: StopRule, state: RasState, context: Context) -> str:
    """Doubt what is answered after the reader of the hops found that the documents do not say."""
    return GAVE_UP if stop(state, context) == "not_found" else ""


def _judge(
    step: Step, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> Verdict:
    """Check the passages that the model names; those of what comes nearest support no answer."""
    verdict = verify(step["answer"], question, triples, passages, cited=step["cites"])
    if step["label"] == "NOT_FOUND":
        return verdict._replace(supported=False, support=NOT_FOUND)
    return verdict


def _ends(step: Step) -> bool:
    return step["label"] in ("ANSWER", "NO_RETRIEVAL") or (
        step["label"] == "NOT_FOUND" and step["whole"]
    )


def _why(stop_reason: str, step: Step) -> str:
    """Return why the run stopped: what the last call found counts over what the plan said."""
    if stop_reason not in ("sufficient", "not_found"):
        return stop_reason
    if step["label"] == "NO_RETRIEVAL":
        return "no_retrieval"
    return "sufficient" if step["label"] == "ANSWER" else "not_found"
