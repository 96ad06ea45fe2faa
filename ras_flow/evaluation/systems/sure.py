"""SuRe: one search, candidate answers, the case for each, and a choice (Kim et al., 2024b).

The stages after the search are a graph of their own inside the node ``answer``, one task for each
call of the model, so that a run that is killed there repeats none that was finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from operator import or_
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import TypedDict

from ras_flow.evaluation.systems.loop import answered
from ras_flow.evaluation.systems.prompting import (
    Block,
    goal_blocks,
    is_long,
    passage_blocks,
    passages_of,
    question_block,
    write,
)
from ras_flow.evaluation.systems.prompts import sure as prompts
from ras_flow.evaluation.systems.replies import parse_candidates, parse_choice, parse_verdict
from ras_flow.evaluation.systems.single import Reader, Single
from ras_flow.formats.answer import clean_answer
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Message, Reply
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.schema import Citation, Hop, Passage, Plan, Usage
from ras_flow.state.usage import Cost, add_up

CANDIDATES = 2
"""Candidate answers, as in the SuRe paper."""

CANDIDATE_TOKENS = 64
SUMMARY_TOKENS = 160
VERDICT_TOKENS = 8


class SureState(TypedDict):
    """What the stages pass on; the first six are RAS's own channels.

    ``candidates``, and by number ``summaries``; ``valid`` by number, and ``chosen`` by two numbers:
    which of two summaries, in this order, says more. ``costs`` are those of the single calls, and
    ``lost`` how many passages did not fit into each.
    """

    question: str
    context: dict[str, Any]
    plans: list[Plan]
    hops: list[Hop]
    passages: dict[str, Passage]
    usage: dict[str, Usage]
    candidates: list[str]
    summaries: Annotated[dict[str, str], or_]
    valid: Annotated[dict[str, bool], or_]
    chosen: Annotated[dict[str, int], or_]
    costs: Annotated[dict[str, Usage], or_]
    lost: Annotated[dict[str, int], or_]


class SureTask(SureState):
    """One candidate, or one pair of them, to be looked at."""

    at: list[int]


class SureOutput(TypedDict):
    """What the run's state gets."""

    answer: str
    citations: list[Citation]
    supported: bool
    support: str
    stop_reason: str
    usage: dict[str, Usage]
    warnings: list[str]


class Sure(Single):
    """Searches once, and answers in stages."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._model = model

    def stages(self, parts: PartsSource) -> Any:
        """Return the node that answers."""
        return _Stages(self._model, parts).build()


class _Stages:
    """The stages of the answer, each a node."""

    def __init__(self, model: LanguageModel, parts: PartsSource) -> None:
        self._model = model
        self._reader = Reader(model)
        self._parts = parts
        self._propose = few_shot(
            prompts.CANDIDATES.replace("{count}", str(CANDIDATES)), prompts.CANDIDATES_EXAMPLE
        )

    def build(self) -> Any:
        """Compile the stages."""
        # Its output has channels that only the run's own graph has: answer and what goes with it.
        builder: Any = StateGraph(
            SureState, context_schema=Context, input_schema=SureState, output_schema=SureOutput
        )
        for node in (self.propose, self.summarise, self.validate, self.choose, self.conclude):
            builder.add_node(node.__name__, node)
        builder.add_node("compare", lambda state: {})
        builder.add_edge(START, "propose")
        builder.add_conditional_edges("propose", self._to_summaries, ["summarise", "conclude"])
        builder.add_edge("summarise", "compare")
        builder.add_conditional_edges("compare", self._to_votes, ["validate", "choose"])
        builder.add_edge("validate", "conclude")
        builder.add_edge("choose", "conclude")
        builder.add_edge("conclude", END)
        return builder.compile()

    async def propose(self, state: SureState, runtime: Runtime[Context]) -> dict[str, Any]:
        """Ask for candidate answers."""
        blocks = self._blocks(state, runtime)
        said, took = await self._ask("propose", self._propose, blocks, CANDIDATE_TOKENS)
        return {"candidates": parse_candidates(said, CANDIDATES), **took}

    async def summarise(self, state: SureTask, runtime: Runtime[Context]) -> dict[str, Any]:
        """Ask for the case for one candidate."""
        [at] = state["at"]
        blocks = [*self._blocks(state, runtime), _possible(state, at)]
        prefix = few_shot(prompts.SUMMARY, [])
        said, took = await self._ask(f"summarise:{at}", prefix, blocks, SUMMARY_TOKENS)
        return {"summaries": {str(at): clean_answer(said)}, **took}

    async def validate(self, state: SureTask, runtime: Runtime[Context]) -> dict[str, Any]:
        """Ask whether a summary supports its candidate."""
        [at] = state["at"]
        blocks = [question_block(_run(state)), _possible(state, at), _summary("Summary", state, at)]
        prefix = few_shot(prompts.VALID, [])
        said, took = await self._ask(f"validate:{at}", prefix, blocks, VERDICT_TOKENS)
        return {"valid": {str(at): parse_verdict(said)}, **took}

    async def choose(self, state: SureTask, runtime: Runtime[Context]) -> dict[str, Any]:
        """Ask which of two summaries says more, in one of the two orders."""
        first, second = state["at"]
        blocks = [
            question_block(_run(state)),
            _summary("Summary 1", state, first),
            _summary("Summary 2", state, second),
        ]
        prefix = few_shot(prompts.CHOICE, [])
        said, took = await self._ask(f"choose:{first}:{second}", prefix, blocks, VERDICT_TOKENS)
        choice = parse_choice(said)
        chosen = {} if choice is None else {f"{first}:{second}": state["at"][choice]}
        return {"chosen": chosen, **took}

    async def conclude(self, state: SureState, runtime: Runtime[Context]) -> dict[str, Any]:
        """Take the candidate that won; without candidates, answer from the passages."""
        context = self._parts.context(_run(state), runtime)
        costs = dict(state["costs"])
        candidates = state["candidates"]
        reply = Reply("", lost_triples=max(state["lost"].values()))
        if candidates:
            best = winner(len(candidates), state["valid"], state["chosen"])
            text = state["summaries"].get(str(best), "") if is_long(context) else ""
            text = text or candidates[best]
        else:
            cost = Cost("answerer", "read")
            reply = await self._reader.read(_run(state), context)
            cost.add(reply)
            costs |= cost.usage()
            text = clean_answer(reply.text)
        return {
            **answered(_run(state), runtime, context, text, reply),
            "usage": {"answer": _total(costs)},
        }

    def _to_summaries(self, state: SureState) -> list[Send] | str:
        # One candidate needs no weighing.
        count = len(state["candidates"])
        return [_send("summarise", state, at) for at in range(count)] if count > 1 else "conclude"

    def _to_votes(self, state: SureState) -> list[Send]:
        count = range(len(state["candidates"]))
        return [_send("validate", state, at) for at in count] + [
            _send("choose", state, *pair) for pair in permutations(count, 2)
        ]

    def _blocks(self, state: SureState, runtime: Runtime[Context]) -> list[Block]:
        context = self._parts.context(_run(state), runtime)
        passages = passage_blocks(passages_of(_run(state)))
        return [*passages, *goal_blocks(_run(state), context)]

    async def _ask(
        self, step: str, prefix: Sequence[Message], blocks: Sequence[Block], limit: int
    ) -> tuple[str, dict[str, Any]]:
        """Return what the model wrote, and the update of what that took."""
        cost = Cost("answerer", step)
        reply = await write(self._model, prefix, blocks, max_new_tokens=limit)
        cost.add(reply)
        return reply.text, {"costs": cost.usage(), "lost": {step: reply.lost_triples}}


def winner(count: int, valid: dict[str, bool], chosen: dict[str, int]) -> int:
    """Return the candidate with the most points, the earlier of equals.

    A summary that supports its candidate is worth a point; so is winning all comparisons, and each
    of them its share.
    """
    comparisons = max(2 * (count - 1), 1)
    points = [
        float(valid.get(str(at), False)) + sum(won == at for won in chosen.values()) / comparisons
        for at in range(count)
    ]
    return points.index(max(points))


def _run(state: SureState) -> Any:
    """Return the state as that of a run, which has all that is read of it here."""
    return state


def _send(node: str, state: SureState, *at: int) -> Send:
    return Send(node, {**state, "at": list(at)})


def _possible(state: SureState, at: int) -> Block:
    return Block(f"Possible answer: {state['candidates'][at]}")


def _summary(name: str, state: SureState, at: int) -> Block:
    return Block(f"{name}: {state['summaries'].get(str(at), '')}")


def _total(costs: Mapping[str, Usage]) -> Usage:
    """Add up costs of the answerer; what is asked at once takes as long as the longest of it."""
    longest: dict[str, float] = {}
    for step, cost in costs.items():
        stage = step.partition(":")[0].replace("validate", "choose")
        longest[stage] = max(longest.get(stage, 0.0), cost["seconds"])
    total = Usage(role="answerer", **add_up(costs.values()))
    total["seconds"] = sum(longest.values())
    return total
