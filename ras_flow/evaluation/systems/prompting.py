"""Prompts of systems that read passages: what does not fit into the window is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ras_flow.errors import InputError
from ras_flow.formats.history import shorten
from ras_flow.formats.reply import spoken
from ras_flow.formats.text import tidy
from ras_flow.parts.prompted.answerer import LONG_FORM_TOKENS
from ras_flow.parts.prompted.prompting import ask, room
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Message, Reply
from ras_flow.settings.context import Context
from ras_flow.settings.tasks import DEFAULT_TASK, TASKS, Task
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Passage


@dataclass(frozen=True)
class Block:
    """Some lines of a prompt.

    Blocks of the highest rank are left out first, later ones before earlier ones; those without a
    rank are always there. The loss of a passage is reported.
    """

    text: str
    rank: int | None = None
    passage: bool = False


def fit(
    model: LanguageModel, prefix: Sequence[Message], blocks: Sequence[Block]
) -> tuple[str, int]:
    """Join the blocks that fit, best ranks first, and count the passages that do not.

    A passage that is too large even alone is cut to the room that the others leave.
    """
    sizes = [model.count_tokens(f"{block.text}\n") + 1 for block in blocks]
    limit = room(model, prefix)
    needed = sum(size for size, block in zip(sizes, blocks, strict=True) if block.rank is None)
    if needed > limit:
        raise InputError(
            f"The question and what has to go with it take {needed} tokens, but only {limit} fit. "
            "Shorten the question, or use a model with a larger window."
        )
    texts = {at: block.text for at, block in enumerate(blocks) if block.rank is None}
    alone = left = limit - needed
    ranked = sorted((one.rank, at) for at, one in enumerate(blocks) if one.rank is not None)
    small = [at for _, at in ranked if sizes[at] <= alone]
    for at in small:
        if sizes[at] > left:
            break
        texts[at] = blocks[at].text
        left -= sizes[at]
    lost = sum(block.passage for at, block in enumerate(blocks) if at not in texts)
    large = next((at for _, at in ranked if sizes[at] > alone and blocks[at].passage), None)
    if large is not None:
        title, mark, body = blocks[large].text.partition("] ")
        said = shorten(body, left, lambda text: model.count_tokens(f"{title}{mark}{text}\n") + 1)
        if said:
            texts[large] = f"{title}{mark}{said}"
    return "\n".join(texts[at] for at in sorted(texts)), lost


async def write(
    model: LanguageModel,
    prefix: Sequence[Message],
    blocks: Sequence[Block],
    *,
    max_new_tokens: int,
    stop: Sequence[str] = (),
) -> Reply:
    """Ask a model once."""
    # In a thread: a local model's first count of tokens loads its tokenizer.
    asked, lost = await asyncio.to_thread(fit, model, prefix, blocks)
    [made] = await model.generate([ask(prefix, asked)], max_new_tokens=max_new_tokens, stop=stop)
    return replace(Reply.of(made, lost), text=spoken(made.text))


def passage_blocks(passages: Iterable[Passage], *, rank: int = 1) -> list[Block]:
    """Write passages, best first."""
    return [
        Block(f"[{' '.join(passage['title'].split())}] {tidy(passage['text'])}", at, True)
        for at, passage in enumerate(passages, start=rank)
    ]


def passages_of(state: RasState, hop: int | None = None) -> list[Passage]:
    """Return the passages that a run has found, each once, in the order of the hops."""
    seen: dict[str, int] = {}
    for found in state["hops"]:
        for id in found["passages"]:
            seen.setdefault(id, found["index"])
    return [state["passages"][id] for id, first in seen.items() if hop is None or first == hop]


def _task(context: Context) -> Task:
    return TASKS[context.task or DEFAULT_TASK]


def instruction_of(context: Context) -> str:
    """Return the task's instruction, possibly empty."""
    return context.instruction or _task(context).instruction


def answer_tokens(context: Context) -> int:
    """Return the answer's token limit."""
    return _task(context).max_answer_tokens


def is_long(context: Context) -> bool:
    """Tell whether the answer is a text, not a phrase."""
    return answer_tokens(context) >= LONG_FORM_TOKENS


def question_blocks(state: RasState, context: Context) -> list[Block]:
    """Write the question that is to be answered, under the task's instruction."""
    blocks = [question_block(state)]
    if instruction := instruction_of(context):
        blocks.insert(0, Block(instruction))
    return blocks


def goal_blocks(state: RasState, context: Context) -> list[Block]:
    """Write the question for a step on the way: the task's instruction is for the answer alone."""
    blocks = [question_block(state)]
    if instruction := instruction_of(context):
        blocks.append(Block(f"How to give the final answer, once it is known: {instruction}"))
    return blocks


def question_block(state: RasState) -> Block:
    """Return the question as a block."""
    return Block(f"Question: {state['question'].strip()}")
