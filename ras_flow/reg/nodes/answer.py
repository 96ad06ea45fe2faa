"""answer: answer from the evidence chains in one call (ReG figure 7)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import AnswerEvent
from ras_flow.formats.answer import UNKNOWN_ANSWER
from ras_flow.formats.chains import Reorganised, last_line, match_answers, read_answers
from ras_flow.nodes.answer import ask
from ras_flow.nodes.view import passages_read
from ras_flow.nodes.warn import loss_of, warn
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.source import PartsSource
from ras_flow.prompts.chains import ASK_AGAIN
from ras_flow.reg import routing
from ras_flow.reg.nodes.reorganise import chains_of
from ras_flow.reg.state import RegState
from ras_flow.state.support import Verdict, judge, led_by, verify
from ras_flow.state.usage import Cost
from ras_flow.support.concurrency import off_loop


async def answer(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Answer the question with a set, or leave it open where another search is allowed."""
    context: Any = parts.context(state, runtime)
    cost = Cost("answerer", f"answer:{len(state['hops'])}" if context.kg_rounds > 1 else "answer")
    found = await chains_of(state, context)
    said: list[str] = []
    warnings: list[str] = []
    if state["triples"] or context.when_unknown == "guess":
        answerer = await parts.get_answerer(context)
        said = await _ask(state, context, parts, answerer, found, cost, warnings)
    answers, unknown = match_answers(said, found.names)
    if not answers and routing.may_search(state, context):
        return {"usage": cost.usage(), **warn(runtime, *warnings)}
    if unknown and state["triples"]:
        warnings.append(f"No fact that was found speaks of: {'; '.join(unknown)}.")
    text = "; ".join(answers) or UNKNOWN_ANSWER
    triples = state["triples"]
    verdict = await off_loop(len(triples), _judge, text, answers, state, found)
    event = AnswerEvent(
        type="answer",
        answer=text,
        answers=answers,
        stop_reason=routing.stop_reason(state, context),
        citations=verdict.citations,
        supported=verdict.supported,
        support=verdict.support,
    )
    warned = warn(runtime, *warnings)
    runtime.stream_writer(event)
    ended = {name: value for name, value in event.items() if name != "type"}
    return {**ended, "usage": cost.usage(), **warned}


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
    """Judge the answer by the chains that lead to it; where none does, by all facts."""
    ids = list(state["triples"])
    cited = [ids[at] for at in found.leading_to(answers)]
    triples, passages = state["triples"], state["passages"]
    if not cited:
        return judge(text, state["question"], triples, passages)
    verdict = verify(text, state["question"], triples, passages, cited=cited)
    return led_by(cited, verdict, triples, passages)
