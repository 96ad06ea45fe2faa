"""answer: answer from the graph (eq. 8), or from the model's own knowledge (eq. 7)."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import AnswerEvent
from ras_flow.formats.answer import clean_answer
from ras_flow.nodes.view import report_end, report_loss, texts_read, view, warned
from ras_flow.parts.checks import one_each
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.records import AnswerRequest, Reply
from ras_flow.routing import decide
from ras_flow.settings.context import Context
from ras_flow.settings.tasks import get_task
from ras_flow.state.channels import RasState
from ras_flow.state.citations import cite, cite_passages
from ras_flow.state.schema import Citation, Passage
from ras_flow.state.usage import Cost


async def answer(state: RasState, runtime: Runtime[Context], parts: Parts) -> dict[str, Any]:
    """Answer the question, cite what the answer rests on, and say why the run stopped."""
    context = parts.context(state, runtime)
    # None where the run is resumed with wider settings than routed it here, or where an edit of
    # the state sent it here: to its editor the graph suffices.
    routed = decide(state, context).stop_reason or decide(state, parts.context(state)).stop_reason
    stop_reason = routed or "sufficient"
    answerer = await parts.get_answerer(context)
    cost = Cost("answerer", "answer")
    reply = await ask(answerer, state, context, parts)
    cost.add(reply, reply.calls)
    text = clean_answer(reply.text)
    warnings = report_loss(runtime, "answerer", reply)
    warnings += report_end(runtime, "answerer", text, reply)
    texts = texts_read(state, context, parts, answerer)
    citations = await asyncio.to_thread(_cite, text, state, texts)
    runtime.stream_writer(
        AnswerEvent(type="answer", answer=text, stop_reason=stop_reason, citations=citations)
    )
    return {
        "answer": text,
        "citations": citations,
        "stop_reason": stop_reason,
        "usage": cost.usage(),
        **warned(warnings),
    }


async def ask(answerer: Answerer, state: RasState, context: Context, parts: Parts) -> Reply:
    """Ask the answerer with what it reads of the state."""
    task = get_task(context.task)
    texts = texts_read(state, context, parts, answerer)
    seen = await view(state, context, parts, answerer, texts)
    request = AnswerRequest(
        question=state["question"],
        chain=seen.chain,
        graph=seen.graph,
        instruction=context.instruction or task.instruction,
        max_new_tokens=task.max_answer_tokens,
    )
    [reply] = await one_each(1, Reply, answerer.answer([request]), answerer)
    return reply


def _cite(answer: str, state: RasState, texts: list[list[Passage]]) -> list[Citation]:
    read = {passage["id"]: passage for hop in texts for passage in hop}
    return cite(answer, state["question"], state["triples"]) or cite_passages(
        answer, state["question"], read
    )
