"""IRCoT: each sentence of the reasoning is the next search (Trivedi et al., 2023)."""

from __future__ import annotations

from dataclasses import replace

from ras_flow.evaluation.systems.loop import Thought, search_question
from ras_flow.evaluation.systems.prompting import Block, goal_blocks, passage_blocks, passages_of
from ras_flow.evaluation.systems.replies import first_line, first_sentence, parse_conclusion
from ras_flow.evaluation.systems.stepwise import Stepwise
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

MOST_PASSAGES = 15
"""Passages in view, as in the IRCoT paper; those that were found first stay."""

INSTRUCTION = """\
You reason towards the answer to a question, one sentence at a time, with the help of passages, \
each after its title in brackets. Reply with the next sentence of the reasoning and nothing else. \
State facts with full names, since your sentence is used to find the next passages. As soon as \
everything needed is known, write: So the answer is: followed by the answer, as briefly as \
possible."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.\n"
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Reasoning:",
        "Clara Novak was born in Lindau.",
    ),
    (
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.\n"
        "[Lindau] Lindau is a town in Germany on the River Aach.\n"
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Reasoning: Clara Novak was born in Lindau. The River Aach flows through Lindau.",
        "So the answer is: River Aach",
    ),
]

AGAIN = "That was said before. Write what follows from it, or the answer."
"""Put after the reasoning when a sentence is asked for a second time."""


class IRCoT(Stepwise):
    """Searches for the question, then for each sentence that it adds to its reasoning."""

    task, instruction, examples, again = "reason", INSTRUCTION, EXAMPLES, AGAIN
    step_tokens = 80
    # No newline by itself: a reply may begin with one, and a server would end it there.
    stop = ("\nQuestion:", "\n[")

    async def think(self, state: RasState, context: Context) -> Thought:
        """Search for the question first."""
        return await super().think(state, context) if state["hops"] else search_question(state)

    def blocks(self, state: RasState, context: Context) -> list[Block]:
        """Write passages, question and reasoning."""
        blocks = passage_blocks(passages_of(state)[:MOST_PASSAGES])
        blocks += goal_blocks(state, context)
        return [*blocks, Block(f"Reasoning: {self.notes(state)}".strip())]

    def decide(self, reply: Reply) -> Thought:
        """Add a sentence; one that concludes ends the search."""
        said = replace(reply, text=first_line(reply.text))
        if parse_conclusion(said.text):
            return Thought("SUFFICIENT", reply=said)
        sentence = first_sentence(said.text)
        if not sentence:
            return Thought(None, problem="It has no sentence.", reply=reply)
        return Thought("SUBQ", search=sentence, reply=said)

    def conclusion(self, text: str) -> str:
        """Return the answer in the last sentence."""
        return parse_conclusion(text)

    def notes(self, state: RasState) -> str:
        """Write the reasoning: the sentences that were searched for."""
        said = [plan for plan in state["plans"] if plan["label"] == "SUBQ" and plan["raw"]]
        return " ".join(first_sentence(plan["raw"]) for plan in said)
