"""Direct answers, and single retrieval: one search, then the answer (§4.1, appendix H)."""

from __future__ import annotations

from typing import NamedTuple

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
from ras_flow.parts.prompted.prompting import few_shot, prefix_for
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState


class Prompts(NamedTuple):
    """Instructions and examples for short and for long answers.

    ``task`` is what a model that was trained for short ones names in ``trained_for``.
    """

    task: str
    instruction: str
    examples: list[tuple[str, str]]
    long_instruction: str
    long_examples: list[tuple[str, str]]


DIRECT = Prompts(
    task="direct",
    instruction="""\
You answer questions from what you know. Always give your best answer, as briefly as the question \
allows: a name, a date, a number, yes or no, with no explanation.""",
    examples=[
        ("Question: Which ocean lies between Portugal and the United States?", "Atlantic Ocean"),
        ("Question: How many days are there in a week?", "7"),
        ("Question: Is Norway larger than Belgium?", "yes"),
    ],
    long_instruction="""\
You answer questions from what you know. Write the answer in the form that is asked for, and \
nothing else.""",
    long_examples=[
        (
            "Question: Why does bread rise?",
            "Bread dough contains yeast, which is alive and feeds on the sugar in the flour. As it "
            "eats, it gives off a gas, carbon dioxide. The dough is stretchy and holds that gas in "
            "little bubbles, so the loaf swells like a balloon.",
        ),
    ],
)

FROM_PASSAGES = Prompts(
    task="read",
    instruction="""\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Always give your best answer, even \
where the passages do not hold it, as briefly as the question allows: a name, a date, a number, \
yes or no, with no explanation.""",
    examples=[
        (
            "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in "
            "Vienna.\n"
            "[Lindau] Lindau is a town in Germany on the River Aach.\n"
            "[Aach Valley] The Aach Valley is known for its orchards.\n"
            "Question: Which river flows through the town where Clara Novak was born?",
            "River Aach",
        ),
        (
            "[Northern Light] Northern Light is a film by the Finnish director Aino Laine.\n"
            "[Salt Road] Salt Road is a film of 1987. It was directed by Per Holm of Denmark.\n"
            "Question: Are the directors of Northern Light and Salt Road from the same country?",
            "no",
        ),
    ],
    long_instruction="""\
You answer a question with the help of passages, each after its title in brackets. Some of them \
may not be to the point: use what helps and ignore the rest. Write the answer in the form that is \
asked for, and nothing else.""",
    long_examples=[
        (
            "[Halden New Bridge] The New Bridge of Halden was opened in 1974 and replaced the Old "
            "Bridge.\n"
            "[Halden Old Bridge] The Old Bridge of Halden was opened in 1898.\n"
            "Question: When was the bridge of Halden opened?",
            "Halden has had two bridges. The Old Bridge was opened in 1898. The New Bridge, which "
            "replaced it, was opened in 1974.",
        ),
    ],
)


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
    """Write the passages as they were found; the best of the newest search is left out last."""
    ranks: dict[str, int] = {}
    for hop in reversed(state["hops"]):
        for id in hop["passages"]:
            ranks.setdefault(id, len(ranks) + 1)
    return [
        block
        for passage in passages_of(state)
        for block in passage_blocks([passage], rank=ranks[passage["id"]])
    ]
