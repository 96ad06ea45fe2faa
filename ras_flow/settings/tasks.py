"""Task presets: the instruction and the answer's token limit (paper table 5, appendix F.2)."""

from __future__ import annotations

from typing import NamedTuple


class Task(NamedTuple):
    """What a kind of question asks of the answerer.

    Attributes:
        instruction: Wording put before the question; empty for short answers.
        max_answer_tokens: New tokens that the answer may take.
        may_know: A model that reads a hop in one call may answer what any well-read person knows.
    """

    instruction: str
    max_answer_tokens: int
    may_know: bool = False


TASKS: dict[str, Task] = {
    "qa": Task(
        "The answer is only the words that were asked for: a name, a date, a number, yes or no. "
        "Where the question asks how or why, or for several things, it is up to three sentences.",
        140,
    ),
    "short_qa": Task("", 100),
    "multiple_choice": Task("Choose the correct option. Reply with its letter only.", 50, True),
    "fact_check": Task(
        "Is the statement true or false? Reply with 'true' or 'false' only.", 50, True
    ),
    "yes_no": Task("Reply with 'yes' or 'no' only.", 50, True),
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
"""What a person asks, short open-domain QA (PopQA, TriviaQA, 2Wiki), ARC-C, PubHealth,
StrategyQA (ours), ASQA and ELI5, in this order."""


DEFAULT_TASK = "short_qa"
"""For models that were trained on it, and benchmarks."""
