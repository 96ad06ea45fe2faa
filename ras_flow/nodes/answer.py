"""answer: answer from the graph (eq. 8), or from the model's own knowledge (eq. 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import AnswerEvent
from ras_flow.formats.answer import clean_answer
from ras_flow.nodes.view import passages_read, view, visible_triples
from ras_flow.nodes.warn import end_of, loss_of, warn
from ras_flow.parts.checks import one_each, reading_of
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.records import AnswerRequest, Reply
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.settings.tasks import DEFAULT_TASK, TASKS
from ras_flow.state.channels import RunState
from ras_flow.state.reorganised import reorganise_found
from ras_flow.state.schema import Passage
from ras_flow.state.support import Verdict, admit, judge, led_by, verify
from ras_flow.state.usage import Cost
from ras_flow.support.concurrency import off_loop

StopRule = Callable[[Any, Any], str]
"""A pure function of state and settings: the system's stop reason."""


Reads = Callable[[Any, Any], RunState]
"""A pure function of state and settings: the state as the answerer is to see it."""


async def answer(
    state: RunState,
    runtime: Runtime[Any],
    parts: PartsSource,
    *,
    stop: StopRule,
    reads: Reads | None = None,
    cites: Callable[[Any, Any], Sequence[str]] | None = None,
    doubts: Callable[[Any, Any], str] | None = None,
    held: Callable[[Any, Any], str] | None = None,
    other: Callable[[Any, Any], str] | None = None,
) -> dict[str, Any]:
    """Answer the question, cite what the answer rests on, and say why the run stopped.

    ``reads`` says what the answerer sees of the state. ``cites`` names the facts that led to the
    answer: they are looked at and cited first. ``doubts`` says why no answer can be supported, or
    nothing. ``held`` is an answer that an earlier call gave and that still holds; without one, the
    answerer is asked. ``other`` is a second answer of an earlier call; it is taken where the
    documents support it and not the first.
    """
    context = parts.context(state, runtime)
    stop_reason = stop(state, context)
    answerer = await parts.get_answerer(context)
    cost = Cost("answerer", "answer")
    reply = Reply(held(state, context) if held else "", calls=0)
    if not reply.text:
        seen = reads(state, context) if reads else state
        texts = passages_read(seen, context, parts, answerer)
        reply = await ask(answerer, seen, context, parts, texts)
    cost.add(reply, reply.calls)
    text = clean_answer(reply.text)
    losses = [*loss_of("answerer", reply), *end_of("answerer", text, reply)]
    warnings = warn(runtime, *losses)
    triples, passages = state["triples"], state["passages"]
    facts = cites(state, context) if cites else ()
    check = partial(verify, cited=facts) if facts else judge
    found = (state["question"], triples, passages)
    verdict = await off_loop(len(triples) + len(passages), check, text, *found)
    if not verdict.supported and other and (another := other(state, context)):
        second = await off_loop(len(triples) + len(passages), judge, another, *found)
        text, verdict = (another, second) if second.supported else (text, verdict)
    verdict = led_by(facts, verdict, triples, passages)
    if verdict.supported and doubts and (why := doubts(state, context)):
        verdict = verdict._replace(supported=False, support=why)
    if context.when_unknown == "say so" and passages:
        text, verdict = admit(text, verdict, told_to=not answerer.takes_soft_tokens)
    ended = tell_answer(runtime, text, verdict, stop_reason)
    return {**ended, "usage": cost.usage(), **warnings}


def tell_answer(
    runtime: Runtime[Any],
    answer: str,
    verdict: Verdict,
    stop_reason: str,
    answers: list[str] | None = None,
) -> dict[str, Any]:
    """Send the event that ends a run; return the update that keeps what it says."""
    event = AnswerEvent(
        type="answer",
        answer=answer,
        stop_reason=stop_reason,
        citations=verdict.citations,
        supported=verdict.supported,
        support=verdict.support,
    )
    if answers is not None:
        event["answers"] = answers
    runtime.stream_writer(event)
    return {name: value for name, value in event.items() if name != "type"}


async def ask(
    answerer: Answerer,
    state: RunState,
    context: Context,
    parts: PartsSource,
    texts: list[list[Passage]],
    **more: Any,
) -> Reply:
    """Ask the answerer with what it reads of the state; return its reply as it wrote it.

    ``more`` are further fields of its request. Evidence chains take the place of triples where no
    passage is read as text.
    """
    task = TASKS[context.task or DEFAULT_TASK]
    chain, graph = await view(state, context, parts, answerer, texts)
    if "chains" not in more and _reads_chains(answerer, context) and not any(texts):
        triples = await visible_triples(state, context, parts, answerer)
        given = (state["question"], triples, state["hops"])
        more["chains"] = await off_loop(len(triples), reorganise_found, *given) if triples else None
    request = AnswerRequest(
        question=state["question"],
        chain=chain,
        graph=graph,
        instruction=context.instruction or task.instruction,
        max_new_tokens=task.max_answer_tokens,
        when_unknown=context.when_unknown,
        grouped=context.loop is None,
        **more,
    )
    [reply] = await one_each(1, Reply, answerer.answer([request]), answerer)
    return reply


def _reads_chains(answerer: Answerer, context: Context) -> bool:
    history = context.history or reading_of(answerer).history
    return history == "chains" and not answerer.takes_soft_tokens
