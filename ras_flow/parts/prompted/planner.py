"""The planner as a prompted language model (eq. 1 and 2)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from ras_flow.formats.history import format_history, regroup
from ras_flow.formats.plan import parse_plan
from ras_flow.formats.reply import spoken
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.parts.prompted.prompting import ask, few_shot, room
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Generation, Message, PlanRequest, Reply
from ras_flow.prompts import planner as prompts

MAX_NEW_TOKENS = 64
STOP = ("\nQuestion:",)

_BRACKET = re.compile(r"\n(?=\[)")


class PromptedPlanner:
    """Plans from the text of the subquery chain; takes no soft tokens."""

    takes_soft_tokens = False

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.identity = model.identity
        self._first = few_shot(prompts.INSTRUCTION, prompts.FIRST_EXAMPLES)
        self._next = few_shot(prompts.INSTRUCTION, prompts.NEXT_EXAMPLES)
        grouped = [(regroup(seen), plan) for seen, plan in prompts.NEXT_EXAMPLES]
        self._open = few_shot(prompts.OPEN_INSTRUCTION, grouped)
        self.searches_first = isinstance(model, ChatLanguageModel)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan for each request."""
        # In a thread: a local model's first count of tokens loads its tokenizer.
        prompts_and_losses = [
            await asyncio.to_thread(self._prompt, request) for request in requests
        ]
        generations = await self.model.generate(
            [prompt for prompt, _ in prompts_and_losses], max_new_tokens=MAX_NEW_TOKENS, stop=STOP
        )
        return [
            _reply(made, lost)
            for made, (_, lost) in zip(generations, prompts_and_losses, strict=True)
        ]

    def _prompt(self, request: PlanRequest) -> tuple[list[Message], int]:
        prefix = self._next if request.chain else self._first
        if request.may_give_up:
            prefix = self._open
        again = ""
        if request.problem is not None:
            again = "\n" + prompts.AGAIN.replace("{problem}", request.problem)
        history = format_history(
            request.question,
            request.chain,
            instruction=request.instruction,
            max_tokens=room(self.model, prefix) - self.model.count_tokens(again),
            count_tokens=self.model.count_tokens,
            grouped=request.may_give_up,
        )
        return ask(prefix, history.text + again), history.lost_triples


def _reply(made: Generation, lost: int) -> Reply:
    said = spoken(made.text)
    plan = _first_plan(said)
    # What is cut off after the plan is not missed.
    truncated = made.truncated and plan == said
    return replace(Reply.of(made, lost), text=plan, truncated=truncated)


def _first_plan(text: str) -> str:
    """Cut before the first line with a bracket that follows a usable plan."""
    ends = (match.start() for match in islice(_BRACKET.finditer(text), MAX_NEW_TOKENS))
    return next((text[:end] for end in ends if parse_plan(text[:end]).label), text)
