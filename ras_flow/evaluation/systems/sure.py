"""SuRe: one search, candidate answers, the case for each, and a choice (Kim et al., 2024b)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ras_flow.evaluation.systems.prompting import (
    Block,
    goal_blocks,
    is_long,
    passage_blocks,
    passages_of,
    question_block,
    write,
)
from ras_flow.evaluation.systems.replies import parse_candidates, parse_choice, parse_verdict
from ras_flow.evaluation.systems.single import Single
from ras_flow.formats.answer import clean_answer
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Message, Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.support.concurrency import all_or_none

CANDIDATES = 2
"""Candidate answers, as in the SuRe paper."""

CANDIDATE_TOKENS = 64
SUMMARY_TOKENS = 160
VERDICT_TOKENS = 8

PROPOSE = """\
You read passages, each after its title in brackets, and a question. Write {count} different \
answers that the passages make likely, the likeliest first, each on a line of its own after its \
number, as briefly as possible. Write nothing else."""

PROPOSE_EXAMPLE: list[tuple[str, str]] = [
    (
        "[Halden Opera] The opera house of Halden was designed by Ingrid Moe and completed by Leo "
        "Fahr after her death.\n"
        "Question: Who was the architect of the opera house of Halden?",
        "1. Ingrid Moe\n2. Leo Fahr",
    ),
]

SUMMARY = """\
You read passages, each after its title in brackets, a question and a possible answer. Summarise \
in at most four sentences what the passages say for this answer, as the case for it. Keep to the \
passages; leave out what has nothing to do with the question."""

VALID = """\
You check an argument. You read a question, a possible answer, and a summary that speaks for it. \
Reply true if the summary really supports this answer to this question, and false if it does not. \
Write nothing else."""

CHOICE = """\
You read a question and two summaries, each of which speaks for one answer. Reply 1 if the first \
tells more that helps to answer the question, and 2 if the second does. Write nothing else."""


class Sure(Single):
    """Searches once, and answers in stages; the calls of a stage are made at once."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._model = model
        self._propose = few_shot(PROPOSE.replace("{count}", str(CANDIDATES)), PROPOSE_EXAMPLE)

    async def answer(self, state: RasState, context: Context) -> Reply:
        """Take the candidate that wins; without candidates, answer from the passages."""
        found = [*passage_blocks(passages_of(state)), *goal_blocks(state, context)]
        proposed = await self._ask(self._propose, found, CANDIDATE_TOKENS)
        candidates = parse_candidates(proposed.text, CANDIDATES)
        if not candidates:
            read = await super().answer(state, context)
            return _total([proposed, read], clean_answer(read.text), truncated=read.truncated)
        if len(candidates) == 1:
            return _total([proposed], candidates[0])
        possible = [Block(f"Possible answer: {one}") for one in candidates]
        told = few_shot(SUMMARY, [])
        summaries = await all_or_none(
            self._ask(told, [*found, one], SUMMARY_TOKENS) for one in possible
        )
        cases = [clean_answer(one.text) for one in summaries]
        votes, valid, chosen = await self._vote(question_block(state), possible, cases)
        best = winner(valid, chosen)
        text = cases[best] if is_long(context) else ""
        return _total([proposed, *summaries, *votes], text or candidates[best])

    async def _vote(
        self, question: Block, possible: Sequence[Block], cases: Sequence[str]
    ) -> tuple[list[Reply], list[bool], list[int]]:
        """Ask whether each summary supports its candidate, and which of two says more."""
        pairs = list(permutations(range(len(cases)), 2))
        asked = [
            (VALID, [question, one, Block(f"Summary: {case}")])
            for one, case in zip(possible, cases, strict=True)
        ]
        asked += [
            (
                CHOICE,
                [question, Block(f"Summary 1: {cases[a]}"), Block(f"Summary 2: {cases[b]}")],
            )
            for a, b in pairs
        ]
        votes = await all_or_none(
            self._ask(few_shot(told, []), blocks, VERDICT_TOKENS) for told, blocks in asked
        )
        valid = [parse_verdict(vote.text) for vote in votes[: len(cases)]]
        choices = [parse_choice(vote.text) for vote in votes[len(cases) :]]
        chosen = [
            pair[choice] for pair, choice in zip(pairs, choices, strict=True) if choice is not None
        ]
        return votes, valid, chosen

    async def _ask(self, prefix: Sequence[Message], blocks: Sequence[Block], limit: int) -> Reply:
        return await write(self._model, prefix, blocks, max_new_tokens=limit)


def winner(valid: Sequence[bool], chosen: Sequence[int]) -> int:
    """Return the candidate with the most points, the earlier of equals.

    A summary that supports its candidate is worth a point; so is winning all comparisons, and each
    of them its share.
    """
    comparisons = 2 * (len(valid) - 1)
    points = [fine + chosen.count(at) / comparisons for at, fine in enumerate(valid)]
    return points.index(max(points))


def _total(replies: Sequence[Reply], text: str, *, truncated: bool = False) -> Reply:
    return Reply(
        text,
        sum(one.input_tokens for one in replies),
        sum(one.output_tokens for one in replies),
        max(one.lost_triples for one in replies),
        calls=len(replies),
        truncated=truncated,
        cached_tokens=sum(one.cached_tokens for one in replies),
    )
