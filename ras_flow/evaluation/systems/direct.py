"""Direct answers: no search, the model alone."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought
from ras_flow.evaluation.systems.prompting import answer_tokens, is_long, question_blocks, write
from ras_flow.evaluation.systems.prompts import direct as prompts
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

STOP = ("\nQuestion:",)


class Direct:
    """Asks the model for the answer."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._short = few_shot(prompts.INSTRUCTION, prompts.EXAMPLES)
        self._long = few_shot(prompts.LONG_FORM_INSTRUCTION, prompts.LONG_FORM_EXAMPLES)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Search for nothing."""
        return Thought("NO_RETRIEVAL")

    async def answer(self, state: RasState, context: Context) -> Reply:
        """Answer from the model's own knowledge."""
        prefix = self._long if is_long(context) else self._short
        blocks = question_blocks(state, context)
        limit = answer_tokens(context)
        return await write(self._model, prefix, blocks, max_new_tokens=limit, stop=STOP)
