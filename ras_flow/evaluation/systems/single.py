"""Direct answers, and single retrieval: one search, then the answer (§4.1, appendix H)."""

from __future__ import annotations

from ras_flow.evaluation.systems.loop import Thought, search_question
from ras_flow.evaluation.systems.prompting import (
    Block,
    answer_tokens,
    is_long,
    passage_blocks,
    passages_of,
    question_blocks,
    write,
)
from ras_flow.evaluation.systems.reading_prompts import DIRECT, FROM_PASSAGES, Prompts
from ras_flow.parts.prompted.prompting import few_shot, prefix_for
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState


class Reader:
    """Answers from passages; methods that come to no answer by themselves end with it."""

    def __init__(self, model: LanguageModel, prompts: Prompts = FROM_PASSAGES) -> None:
        self._model = model
        self._short = prefix_for(model, prompts.task, prompts.instruction, prompts.examples)
        self._long = few_shot(prompts.long_instruction, prompts.long_examples)

    async def read(self, state: RasState, context: Context, notes: str = "") -> Reply:
        """Answer from all passages found; those of older searches are left out first."""
        blocks = _found(state)
        blocks += [Block(notes, rank=0)] if notes else []
        return await write(
            self._model,
            self._long if is_long(context) else self._short,
            [*blocks, *question_blocks(state, context)],
            max_new_tokens=answer_tokens(context),
            stop=("\nQuestion:", "\n["),
        )


class Single:
    """Searches once, for the question; given passages are read without a search."""

    prompts = FROM_PASSAGES

    def __init__(self, model: LanguageModel) -> None:
        self._reader = Reader(model, self.prompts)

    async def think(self, state: RasState, context: Context) -> Thought:
        """Search for the question, unless there are passages."""
        return Thought("SUFFICIENT") if state["hops"] else search_question(state)

    async def answer(self, state: RasState, context: Context) -> Reply:
        """Answer from the passages."""
        return await self._reader.read(state, context)


class Direct(Single):
    """Answers from the model's own knowledge, without a search."""

    prompts = DIRECT

    async def think(self, state: RasState, context: Context) -> Thought:
        """Search for nothing."""
        return Thought("NO_RETRIEVAL")


def _found(state: RasState) -> list[Block]:
    """Write the passages in the order of finding; the best of the newest search is left out last.

    A passage that several searches found belongs to the newest of them.
    """
    ranks: dict[str, int] = {}
    for hop in reversed(state["hops"]):
        for id in hop["passages"]:
            ranks.setdefault(id, len(ranks) + 1)
    return [
        block
        for passage in passages_of(state)
        for block in passage_blocks([passage], rank=ranks[passage["id"]])
    ]
