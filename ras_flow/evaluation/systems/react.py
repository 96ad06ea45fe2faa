"""ReAct: the model thinks and searches in turn until it finishes (Yao et al., 2023)."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought, complaint, concluding_reply
from ras_flow.evaluation.systems.prompting import (
    Block,
    goal_blocks,
    passage_blocks,
    passages_of,
    write,
)
from ras_flow.evaluation.systems.prompts import react as prompts
from ras_flow.evaluation.systems.replies import cut_step, parse_action
from ras_flow.evaluation.systems.single import Reader
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

STEP_TOKENS = 128
STOP = ("\nObservation", "\nQuestion:")
OLD = 10_000
"""Rank of the passages of the first search: they are the first to be left out."""


class ReAct:
    """Keeps the whole transcript of thoughts, actions and observations in view."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._reader = Reader(model)
        self._prefix = few_shot(prompts.INSTRUCTION, prompts.EXAMPLES)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Take one step."""
        blocks = [*goal_blocks(state, context), *transcript(state)]
        if problem := complaint(state):
            blocks.append(Block(prompts.AGAIN.replace("{problem}", problem)))
        reply = await write(
            self._model, self._prefix, blocks, max_new_tokens=STEP_TOKENS, stop=STOP
        )
        action = parse_action(reply.text)
        match action.kind:
            case "search":
                return Thought("SUBQ", search=action.text, reply=reply)
            case "finish":
                return Thought("SUFFICIENT", reply=reply)
        return Thought(None, problem="It has no action in it.", reply=reply)

    async def answer(self, state: RasState, context: Context) -> Reply | str:
        """Give the answer that the model finished with; else ask for it with what was found."""
        if reply := concluding_reply(state, context):
            return parse_action(reply).text
        return await self._reader.read(state, context)


def transcript(state: RasState) -> list[Block]:
    """Write the steps so far; what an older search found is left out first.

    A passage is written where it was found first. Later searches that find it again name it.
    """
    blocks: list[Block] = []
    taken = {plan["hop"]: plan["raw"] for plan in state["plans"] if plan["label"] == "SUBQ"}
    for hop in state["hops"]:
        at = hop["index"]
        if at in taken:
            blocks.append(Block(cut_step(taken[at].strip()), rank=0))
        new = passages_of(state, at)
        blocks.append(Block("Observation:" if new else "Observation: nothing new", rank=0))
        blocks += passage_blocks(new, rank=OLD - 100 * at)
        if hop["passages"] and not new:
            titles = [state["passages"][id]["title"] for id in hop["passages"]]
            blocks.append(Block(f"Found again: {'; '.join(titles)}", rank=0))
    return blocks
