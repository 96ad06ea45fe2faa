"""The roles of T²RAG over any language model: one decomposes a question, one fills slots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ras_flow.errors import InputError
from ras_flow.formats.history import shorten
from ras_flow.parts.prompted.prompting import ask, few_shot, room
from ras_flow.parts.protocols import Answerer, LanguageModel
from ras_flow.parts.records import Message, Reading, Reply
from ras_flow.settings.context import Context
from ras_flow.settings.tasks import DEFAULT_TASK, TASKS
from ras_flow.state.schema import Passage
from ras_flow.t2rag.formats.resolution import ResolveRequest, resolve_view
from ras_flow.t2rag.prompts import decompose, resolve

TRAINED_FOR = ("decompose", "resolve")
"""What a model that was trained for these roles names in ``trained_for``."""

DECOMPOSE_TOKENS, RESOLVE_TOKENS = 300, 400
STOP = ("\nQuestion:",)


def is_trained(model: LanguageModel) -> bool:
    """Tell whether a model was trained for these roles, and knows their forms."""
    return set(TRAINED_FOR) <= set(getattr(model, "trained_for", ()))


def reading_of(model: LanguageModel) -> Reading:
    """Return how much a model reads best as a resolver."""
    return Reading(top_k=3) if is_trained(model) else Reading()


def texts_of(model: LanguageModel, asked: int | None) -> int | None:
    """Return how many of a round's passages a model reads as text; None for all."""
    return 2 if asked is None and is_trained(model) else asked


async def decompose_question(
    model: LanguageModel, question: str, *, instruction: str = "", problem: str | None = None
) -> Reply:
    """Ask for the clues of a question; ``problem`` is what was wrong with the last reply."""
    told = decompose.TRAINED_INSTRUCTION if is_trained(model) else decompose.INSTRUCTION
    lines = [instruction.strip(), decompose.decompose_view(question)]
    if problem is not None:
        lines.append(decompose.AGAIN.replace("{problem}", problem))
    prompt = ask(few_shot(told, []), "\n".join(filter(None, lines)))
    return await _reply(model, prompt, DECOMPOSE_TOKENS)


def answer_form(model: LanguageModel, answerer: Answerer, settings: Context) -> str | None:
    """Say how the answer is worded where it comes with the last slots; else None.

    It does if one chat model fills slots and answers, briefly and not from evidence chains.
    """
    task = TASKS[settings.task or DEFAULT_TASK]
    one = not is_trained(model) and getattr(answerer, "model", None) == model
    if not one or settings.history == "chains" or task.max_answer_tokens > RESOLVE_TOKENS // 2:
        return None
    return settings.instruction or task.instruction or resolve.BRIEF


async def resolve_round(
    model: LanguageModel, request: ResolveRequest, form: str | None = None
) -> Reply:
    """Ask what a round found tells of the open clues; ``form`` asks for the answer too."""
    told = resolve.INSTRUCTION + (resolve.ANSWER.replace("{form}", form) if form else "")
    prefix = few_shot(resolve.TRAINED_INSTRUCTION if is_trained(model) else told, [])
    asked = request if is_trained(model) else request.brief()
    # In a thread: a local model's first count of tokens loads its tokenizer.
    text, lost = await asyncio.to_thread(_fit, asked, model, prefix)
    return await _reply(model, ask(prefix, text), RESOLVE_TOKENS, lost)


async def _reply(
    model: LanguageModel, prompt: Sequence[Message], limit: int, lost: int = 0
) -> Reply:
    [made] = await model.generate([prompt], max_new_tokens=limit, stop=STOP)
    return Reply.of(made, lost)


def _fit(
    request: ResolveRequest, model: LanguageModel, prefix: Sequence[Message]
) -> tuple[str, int]:
    """Write a request that fits the model's window; return it and how much was cut."""
    most = room(model, prefix)
    for asked, lost in _smaller(request, most, model.count_tokens):
        text = resolve_view(asked)
        if model.count_tokens(text) <= most:
            return text, lost
    raise InputError(
        f"The question and its clues take more than the {max(most, 0)} tokens that fit. Shorten "
        "it, or use a model with a larger window."
    )


def _smaller(
    request: ResolveRequest, most: int, count: Callable[[str], int]
) -> Iterator[tuple[ResolveRequest, int]]:
    """Yield a request as it is, then with more and more left out."""
    yield request, 0
    whole = len(request.propositions)
    while kept := len(request.propositions):
        request = replace(request, propositions=request.propositions[: kept // 2])
        yield request, whole - kept // 2
    size = most
    while size and request.passages:
        cut: list[Passage] = [
            {**one, "text": shorten(one["text"], size, count)} for one in request.passages
        ]
        yield replace(request, passages=cut), whole + len(cut)
        size //= 2
    yield replace(request, passages=()), whole + len(request.passages)
    yield replace(request, passages=(), resolved=()), whole + len(request.passages)
