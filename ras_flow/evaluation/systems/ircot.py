"""IRCoT: each sentence of the reasoning is the next search (Trivedi et al., 2023)."""

from __future__ import annotations

from dataclasses import replace

from ras_flow.evaluation.systems.loop import (
    Thought,
    complaint,
    concluding_reply,
    search_question,
)
from ras_flow.evaluation.systems.prompting import (
    Block,
    goal_blocks,
    passage_blocks,
    passages_of,
    write,
)
from ras_flow.evaluation.systems.prompts import ircot as prompts
from ras_flow.evaluation.systems.replies import first_line, first_sentence, parse_conclusion
from ras_flow.evaluation.systems.single import Reader
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

SENTENCE_TOKENS = 80
STOP = ("\nQuestion:", "\n[")
"""No newline by itself: a reply may begin with one, and a server would end it there."""
MOST_PASSAGES = 15
"""Passages in view, as in the IRCoT paper; those that were found first stay."""


class IRCoT:
    """Searches for the question, then for each sentence that it adds to its reasoning."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._reader = Reader(model)
        self._prefix = few_shot(prompts.INSTRUCTION, prompts.EXAMPLES)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Add a sentence; one that concludes ends the search."""
        if not state["hops"]:
            return search_question(state)
        blocks = passage_blocks(passages_of(state)[:MOST_PASSAGES])
        blocks += goal_blocks(state, context)
        blocks.append(Block(f"Reasoning: {_reasoning(state)}".strip()))
        if complaint(state):
            blocks.append(Block(prompts.AGAIN))
        reply = await write(
            self._model, self._prefix, blocks, max_new_tokens=SENTENCE_TOKENS, stop=STOP
        )
        said = replace(reply, text=first_line(reply.text))
        if parse_conclusion(said.text):
            return Thought("SUFFICIENT", reply=said)
        sentence = first_sentence(said.text)
        if not sentence:
            return Thought(None, problem="There is no sentence in it.", reply=reply)
        return Thought("SUBQ", search=sentence, reply=said)

    async def answer(self, state: RasState, context: Context) -> Reply | str:
        """Give the answer that the reasoning came to; else ask for it with all that was found."""
        if reply := concluding_reply(state, context):
            return parse_conclusion(reply)
        return await self._reader.read(state, context, _reasoning(state))


def _reasoning(state: RasState) -> str:
    """Return the sentences so far, those that were searched for."""
    said = [plan for plan in state["plans"] if plan["label"] == "SUBQ" and plan["raw"]]
    return " ".join(first_sentence(plan["raw"]) for plan in said)
