"""ReAct: the model thinks and searches in turn until it finishes (Yao et al., 2023)."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought
from ras_flow.evaluation.systems.prompting import Block, goal_blocks, passage_blocks, passages_of
from ras_flow.evaluation.systems.prompts import react
from ras_flow.evaluation.systems.replies import cut_step, parse_action
from ras_flow.evaluation.systems.stepwise import Stepwise
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

OLD = 10_000
"""Rank of the passages of the first search: they are the first to be left out."""


class ReAct(Stepwise):
    """Keeps the whole transcript of thoughts, actions and observations in view."""

    prompts = react
    step_tokens = 128
    stop = ("\nObservation", "\nQuestion:")

    def blocks(self, state: RasState, context: Context) -> list[Block]:
        """Write the question and the steps so far."""
        return [*goal_blocks(state, context), *_transcript(state)]

    def decide(self, reply: Reply) -> Thought:
        """Follow the action."""
        action = parse_action(reply.text)
        match action.kind:
            case "search":
                return Thought("SUBQ", search=action.text, reply=reply)
            case "finish":
                return Thought("SUFFICIENT", reply=reply)
        return Thought(None, problem="It has no action in it.", reply=reply)

    def conclusion(self, text: str) -> str:
        """Return the answer that the model finished with."""
        return parse_action(text).text


def _transcript(state: RasState) -> list[Block]:
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
