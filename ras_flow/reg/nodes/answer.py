"""answer: answer from the evidence chains in one call (ReG figure 7)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.formats.answer import UNKNOWN_ANSWER
from ras_flow.formats.chains import Reorganised, last_line, match_answers, read_answers
from ras_flow.nodes.answer import ask, tell_answer
from ras_flow.nodes.view import passages_read
from ras_flow.nodes.warn import loss_of, warn
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.source import PartsSource
from ras_flow.prompts.chains import ASK_AGAIN
from ras_flow.reg import routing
from ras_flow.reg.nodes.reorganise import chains_of
from ras_flow.reg.state import RegState
from ras_flow.settings.context import CHAIN_ENDS
from ras_flow.state.support import Verdict, admit, judge, led_by
from ras_flow.state.usage import Cost
from ras_flow.support.concurrency import off_loop


async def answer(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Answer the question with a set, or leave it open where another search is allowed."""
    context: Any = parts.context(state, runtime)
    cost = Cost("answerer", f"answer:{len(state['hops'])}" if context.kg_rounds > 1 else "answer")
    found = await chains_of(state, context)
    answerer = await parts.get_answerer(context)
    said: list[str] = []
    warnings: list[str] = []
    if state["triples"] or context.when_unknown == "guess":
        said = await _ask(state, context, parts, answerer, found, cost, warnings)
    answers, unknown = match_answers(said, found.names)
    if not answers and routing.may_search(state, context):
        return {"usage": cost.usage(), **warn(runtime, *warnings)}
    if unknown and state["triples"]:
        warnings.append(f"No fact that was found speaks of: {'; '.join(unknown)}.")
    text = "; ".join(answers) or UNKNOWN_ANSWER
    verdict = await off_loop(len(state["triples"]), _judge, text, answers, state, found)
    if context.when_unknown == "say so":
        asks_model = not answerer.takes_soft_tokens and answerer.identity != CHAIN_ENDS
        text, verdict = admit(text, verdict, told_to=asks_model)
        answers = answers if text != UNKNOWN_ANSWER else []
    warned = warn(runtime, *warnings)
    stop_reason = routing.stop_reason(state, context)
    ended = tell_answer(runtime, text, verdict, stop_reason, answers=answers)
    return {**ended, "usage": cost.usage(), **warned}


async def ask_again(state: RegState, parts: PartsSource) -> str:
    """Return what the answerer says to a state; nothing is kept."""
    context: Any = parts.context(state)
    found = await chains_of(state, context)
    answerer = await parts.get_answerer(context)
    said = await _ask(state, context, parts, answerer, found, Cost("answerer", "answer"), [])
    return "; ".join(match_answers(said, found.names).answers)


async def _ask(
    state: RegState,
    context: Any,
    parts: PartsSource,
    answerer: Answerer,
    found: Reorganised,
    cost: Cost,
    warnings: list[str],
) -> list[str]:
    """Return the answers that the answerer names; asked once more where it names none."""
    texts = passages_read(state, context, parts, answerer)
    chains = found if context.history == "chains" else None
    problem: str | None = None
    while True:
        reply = await ask(
            answerer, state, context, parts, texts, chains=chains, listed=True, problem=problem
        )
        cost.add(reply, reply.calls)
        warnings += loss_of("answerer", reply)
        answers = read_answers(reply.text)
        if answers is not None:
            return answers
        if answerer.takes_soft_tokens or problem:
            return [line] if (line := last_line(reply.text)) else []
        problem = ASK_AGAIN


def _judge(text: str, answers: list[str], state: RegState, found: Reorganised) -> Verdict:
    """Judge the answer as any other is; what is cited first are the facts that lead to it."""
    ids, triples, passages = list(state["triples"]), state["triples"], state["passages"]
    verdict = judge(text, state["question"], triples, passages)
    return led_by([ids[at] for at in found.leading_to(answers)], verdict, triples, passages)
