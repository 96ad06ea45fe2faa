"""Self-Ask with search: follow-up questions, each answered (Press et al., 2023)."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought, complaint, concluding_reply
from ras_flow.evaluation.systems.prompting import (
    Block,
    goal_blocks,
    passage_blocks,
    write,
)
from ras_flow.evaluation.systems.prompts import self_ask as prompts
from ras_flow.evaluation.systems.replies import parse_self_ask
from ras_flow.evaluation.systems.single import Reader
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

STEP_TOKENS = 96
STOP = ("\n[", "\nQuestion:")
UNKNOWN = "unknown"
"""Stands for an intermediate answer that the model did not give."""


class SelfAsk:
    """Sees the follow-up questions with their answers, and the passages of the last one only."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._reader = Reader(model)
        self._prefix = few_shot(prompts.INSTRUCTION, prompts.EXAMPLES)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Answer the last follow-up question, and ask the next one or conclude."""
        blocks = goal_blocks(state, context)
        for question, answer in _asked(state, len(state["hops"]) - 1):
            blocks.append(Block(f"Follow up: {question}\nIntermediate answer: {answer}", rank=0))
        for last in state["hops"][-1:]:
            if _is_follow_up(state, last["index"]):
                blocks.append(Block(f"Follow up: {last['subquery']}"))
            blocks += passage_blocks([state["passages"][id] for id in last["passages"]])
        if problem := complaint(state):
            blocks.append(Block(prompts.AGAIN.replace("{problem}", problem)))
        reply = await write(
            self._model, self._prefix, blocks, max_new_tokens=STEP_TOKENS, stop=STOP
        )
        said = parse_self_ask(reply.text)
        if said.final:
            return Thought("SUFFICIENT", reply=reply)
        if said.follow_up:
            return Thought("SUBQ", search=said.follow_up, reply=reply)
        problem = "It has neither a follow-up question nor a final answer."
        return Thought(None, problem=problem, reply=reply)

    async def answer(self, state: RasState, context: Context) -> Reply | str:
        """Give the answer that the model concluded with; else ask for it with what was found."""
        if reply := concluding_reply(state, context):
            return parse_self_ask(reply).final
        asked = _asked(state, len(state["hops"]))
        known = [f"{question} {answer}" for question, answer in asked if answer != UNKNOWN]
        return await self._reader.read(state, context, "\n".join(known))


def _asked(state: RasState, hops: int) -> list[tuple[str, str]]:
    """Return the first follow-up questions with their intermediate answers.

    The answer to a question is in a reply that came after its passages, also in one that could not
    be used otherwise.
    """
    answers = {
        plan["hop"]: said
        for plan in state["plans"]
        if (said := parse_self_ask(plan["raw"]).intermediate)
    }
    return [
        (hop["subquery"], answers.get(hop["index"] + 1, UNKNOWN))
        for hop in state["hops"][: max(hops, 0)]
        if _is_follow_up(state, hop["index"])
    ]


def _is_follow_up(state: RasState, hop: int) -> bool:
    """Tell a hop that the model asked for from given passages."""
    return any(plan["hop"] == hop and plan["label"] == "SUBQ" for plan in state["plans"])
