"""ReAct: the model thinks and searches in turn until it finishes (Yao et al., 2023)."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought
from ras_flow.evaluation.systems.prompting import Block, goal_blocks, passage_blocks, passages_of
from ras_flow.evaluation.systems.replies import cut_step, parse_action
from ras_flow.evaluation.systems.stepwise import Stepwise
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

OLD = 10_000
"""Rank of the passages of the first search: they are the first to be left out."""

INSTRUCTION = """\
You find the answer to a question in a document collection, step by step. Each of your replies is \
one step of two lines:
Thought: what is known by now, and what is still missing.
Action: Search[a short question or name to look up], or Finish[the answer].
After a search you are shown the passages that were found. Do not repeat a search. Finish as soon \
as you know the answer, and give it as briefly as the question allows: a name, a date, a number, \
yes or no."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?",
        "Thought: I need to find out where Clara Novak was born.\n"
        "Action: Search[Where was Clara Novak born?]",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Thought: I need to find out where Clara Novak was born.\n"
        "Action: Search[Where was Clara Novak born?]\n"
        "Observation:\n"
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.",
        "Thought: She was born in Lindau. Now I need the river that flows through Lindau.\n"
        "Action: Search[Which river flows through Lindau?]",
    ),
    (
        "Question: Who designed the headquarters of Halden Shipping?\n"
        "Thought: I need to find the headquarters of Halden Shipping and its architect.\n"
        "Action: Search[headquarters of Halden Shipping]\n"
        "Observation:\n"
        "[Pier House] Pier House, the seat of Halden Shipping, was designed by Ingrid Moe.",
        "Thought: The headquarters is Pier House, which Ingrid Moe designed.\n"
        "Action: Finish[Ingrid Moe]",
    ),
]

AGAIN = "This step could not be used: {problem} Reply with a Thought and an Action."
"""Put after the transcript when a step is asked for a second time."""


class ReAct(Stepwise):
    """Keeps the whole transcript of thoughts, actions and observations in view."""

    task, instruction, examples, again = "react", INSTRUCTION, EXAMPLES, AGAIN
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
    """Write the steps; a passage stands where it was found first, old ones are left out first."""
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
