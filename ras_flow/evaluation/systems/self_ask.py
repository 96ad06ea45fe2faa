"""Self-Ask with search: follow-up questions, each answered (Press et al., 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.evaluation.systems.loop import Thought
from ras_flow.evaluation.systems.prompting import Block, goal_blocks, passage_blocks
from ras_flow.evaluation.systems.replies import parse_self_ask
from ras_flow.evaluation.systems.stepwise import Stepwise
from ras_flow.parts.records import Reply
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Hop

UNKNOWN = "unknown"
"""Stands for an intermediate answer that the model did not give."""

INSTRUCTION = """\
You answer a question by asking yourself simpler ones. Write one of these:
Follow up: a simple question, complete in itself, that has to be answered first.
So the final answer is: the answer, as briefly as possible, once all that is needed is known.
After each follow-up question you are shown passages. Then begin with the line
Intermediate answer: what the passages say to your follow-up question, in a few words,
and go on with another follow-up question or with the final answer."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?",
        "Follow up: Where was Clara Novak born?",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Follow up: Where was Clara Novak born?\n"
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.",
        "Intermediate answer: Lindau\nFollow up: Which river flows through Lindau?",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Follow up: Where was Clara Novak born?\n"
        "Intermediate answer: Lindau\n"
        "Follow up: Which river flows through Lindau?\n"
        "[Lindau] Lindau is a town in Germany on the River Aach.",
        "Intermediate answer: River Aach\nSo the final answer is: River Aach",
    ),
]

AGAIN = (
    "Your last reply could not be used: {problem} Write a new follow-up question, or the final "
    "answer."
)
"""Put after the transcript when a step is asked for a second time."""


class SelfAsk(Stepwise):
    """Sees the follow-up questions with their answers, and only the last one's passages."""

    task, instruction, examples, again = "self_ask", INSTRUCTION, EXAMPLES, AGAIN
    step_tokens = 96
    stop = ("\n[", "\nQuestion:")

    def blocks(self, state: RasState, context: Context) -> list[Block]:
        """Write the question, the follow-up questions so far, and what the last one found."""
        blocks = goal_blocks(state, context)
        for question, answer in _asked(state, state["hops"][:-1]):
            blocks.append(Block(f"Follow up: {question}\nIntermediate answer: {answer}", rank=0))
        for last in state["hops"][-1:]:
            if _is_follow_up(state, last["index"]):
                blocks.append(Block(f"Follow up: {last['subquery']}"))
            blocks += passage_blocks([state["passages"][id] for id in last["passages"]])
        return blocks

    def decide(self, reply: Reply) -> Thought:
        """Conclude, or search for the next follow-up question."""
        said = parse_self_ask(reply.text)
        if said.final:
            return Thought("SUFFICIENT", reply=reply)
        if said.follow_up:
            return Thought("SUBQ", search=said.follow_up, reply=reply)
        problem = "It has neither a follow-up question nor a final answer."
        return Thought(None, problem=problem, reply=reply)

    def conclusion(self, text: str) -> str:
        """Return the final answer."""
        return parse_self_ask(text).final

    def notes(self, state: RasState) -> str:
        """Write the follow-up questions that were answered."""
        asked = _asked(state, state["hops"])
        return "\n".join(f"{q} {answer}" for q, answer in asked if answer != UNKNOWN)


def _asked(state: RasState, hops: Sequence[Hop]) -> list[tuple[str, str]]:
    """Return the follow-up questions of hops with their answers, also those of rejected replies."""
    answers = {
        plan["hop"]: said
        for plan in state["plans"]
        if (said := parse_self_ask(plan["raw"]).intermediate)
    }
    return [
        (hop["subquery"], answers.get(hop["index"] + 1, UNKNOWN))
        for hop in hops
        if _is_follow_up(state, hop["index"])
    ]


def _is_follow_up(state: RasState, hop: int) -> bool:
    """Tell a hop that the model asked for from given passages."""
    return any(plan["hop"] == hop and plan["label"] == "SUBQ" for plan in state["plans"])
