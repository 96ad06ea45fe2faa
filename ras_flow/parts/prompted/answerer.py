"""The answerer as a prompted language model (eq. 7 and 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ras_flow.formats.chains import format_chains, reorganise
from ras_flow.formats.history import FOUND, QUESTION, SUBQUERY, format_history, regroup
from ras_flow.formats.triples import parse_triples
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.parts.prompted.prompting import ask, few_shot, room
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import AnswerRequest, Message, Reply
from ras_flow.prompts import answerer as prompts
from ras_flow.prompts import chains as chain_prompts
from ras_flow.support.concurrency import all_or_none

LONG_FORM_TOKENS = 150
"""From this limit on an answer is a text, not a phrase, and is asked for with other examples."""

LISTED_TOKENS = 400
"""Tokens for an answer that is a set, at least."""

STOP = ("\nQuestion:", "\n[SUBQ]", "\nEvidence Chains:")


class PromptedAnswerer:
    """Answers from the text of the subquery chain; takes no soft tokens."""

    takes_soft_tokens = False

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.identity = model.identity
        self._is_chat = isinstance(model, ChatLanguageModel)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request."""
        return await all_or_none(map(self._answer, requests))

    async def _answer(self, request: AnswerRequest) -> Reply:
        # In a thread: a local model's first count of tokens loads its tokenizer.
        prompt, lost = await asyncio.to_thread(self._prompt, request)
        most = max(request.max_new_tokens, LISTED_TOKENS * request.listed)
        [made] = await self.model.generate([prompt], max_new_tokens=most, stop=STOP)
        return Reply.of(made, lost)

    def _prompt(self, request: AnswerRequest) -> tuple[list[Message], int]:
        grouped = request.grouped and self._is_chat and not request.listed
        prefix = self._prefix(request, grouped=grouped)
        space = room(self.model, prefix)
        if request.chains is None:
            history = format_history(
                request.question,
                request.chain,
                instruction=request.instruction,
                max_tokens=space,
                count_tokens=self.model.count_tokens,
                grouped=grouped,
            )
            return ask(prefix, history.text), history.lost_triples
        problem = f"\n{request.problem}" if request.problem else ""
        chains = format_chains(
            request.chains.blocks,
            before=_before(request),
            after=f"{QUESTION}{request.question.strip()}{problem}",
            max_tokens=space,
            count_tokens=self.model.count_tokens,
            shown=request.chains.shown,
        )
        return ask(prefix, chains.text), chains.lost

    def _prefix(self, request: AnswerRequest, *, grouped: bool) -> list[Message]:
        if request.listed:
            return few_shot(*chain_prompts.listing(request.when_unknown))
        is_long = request.max_new_tokens >= LONG_FORM_TOKENS
        examples = prompts.LONG_FORM_EXAMPLES if is_long else prompts.EXAMPLES
        if request.when_unknown == "say so":
            examples = [*examples, prompts.UNKNOWN_EXAMPLE]
        if request.chains is not None:
            examples = [(rechain(seen), answer) for seen, answer in examples]
        elif grouped:
            examples = [(regroup(seen), answer) for seen, answer in examples]
        return few_shot(prompts.INSTRUCTIONS[request.when_unknown, is_long], examples)


def _before(request: AnswerRequest) -> str:
    """Write what stands before the chains: the instruction, and the searches of a loop."""
    searches = [] if request.listed else [" ".join(link.subquery.split()) for link in request.chain]
    lines = [request.instruction.strip(), *(f"{SUBQUERY}{subquery}" for subquery in searches)]
    return "".join(f"{line}\n" for line in lines if line)


def rechain(history: str) -> str:
    """Write the triples of a history as evidence chains from what its question names."""
    lines = history.split("\n")
    found = [line.removeprefix(FOUND) for line in lines if line.startswith(FOUND)]
    facts = list(dict.fromkeys(fact for line in found for fact in parse_triples(line).triples))
    kept = [line for line in lines if not line.startswith(FOUND)]
    roots = [name for name in dict.fromkeys(s for s, _, _ in facts) if name in kept[-1]]
    before = "".join(f"{line}\n" for line in kept[:-1])
    return format_chains(reorganise(facts, roots).blocks, before=before, after=kept[-1]).text
