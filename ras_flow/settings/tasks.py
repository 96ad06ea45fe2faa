"""Task presets: the instruction and the answer's token limit (paper table 5, appendix F.2)."""

from __future__ import annotations

from typing import NamedTuple

from ras_flow.errors import ConfigurationError


class Task(NamedTuple):
    """What a kind of question asks of the answerer.

    Attributes:
        instruction: Wording put before the question; empty for short answers.
        max_answer_tokens: New tokens that the answer may take.
    """

    instruction: str
    max_answer_tokens: int


TASKS: dict[str, Task] = {
    "short_qa": Task("", 100),
    "multiple_choice": Task("Choose the correct option. Reply with its letter only.", 50),
    "fact_check": Task("Is the statement true or false? Reply with 'true' or 'false' only.", 50),
    "yes_no": Task("Reply with 'yes' or 'no' only.", 50),
    "ambiguous_qa": Task(
        "The question may be read in several ways. Write a passage that gives the right answer "
        "to each reading. [Long Form]",
        300,
    ),
    "explain": Task(
        "Explain the answer in one paragraph that a newcomer to the subject can follow. "
        "[Long Form]",
        300,
    ),
}
"""Short open-domain QA (PopQA, TriviaQA, 2Wiki), ARC-C, PubHealth, StrategyQA (ours), ASQA,
ELI5, in this order."""


def get_task(name: str) -> Task:
    """Look up a preset."""
    try:
        return TASKS[name]
    except KeyError:
        raise ConfigurationError(
            f"Unknown task {name!r}. Choose one of: {', '.join(TASKS)}."
        ) from None
