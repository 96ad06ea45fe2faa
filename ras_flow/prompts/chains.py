"""What the answerer is told that reads evidence chains (ReG figure 7, in our words)."""

from __future__ import annotations

from typing import Literal

_READ = """\
You answer a question from facts of a knowledge graph. They are written as evidence chains: an \
arrow leads from a fact's subject over its relation, in brackets, to its object. Names with ";" \
between them stand in the same place. Use the chains that help and ignore the others."""
_LIST = """\
Write every answer on a line of its own that begins with "ans:", in the spelling of the chains, \
and nothing else."""
_NONE = "not available"
_UNKNOWN = {
    "say so": f'Where the chains do not hold the answer, write only "ans: {_NONE}".',
    "guess": "Always give your best answer.",
}

ASK_AGAIN = 'Your reply had no line that begins with "ans:". Write only such lines.'
"""What is said where the answers cannot be read."""

_EXAMPLES = [
    (
        "Evidence Chains:\n"
        "Chain 1.\n"
        "Clara Novak → [place of birth] → Lindau → [located on] → River Aach; Lake Halden\n"
        "Chain 2.\n"
        "Lindau → [country] → Germany\n"
        "Question: On which waters does the town lie where Clara Novak was born?",
        "ans: River Aach\nans: Lake Halden",
    ),
]
_UNKNOWN_EXAMPLE = (
    "Evidence Chains:\n"
    "Chain 1.\n"
    "Halden Old Bridge → [opened] → 1898\n"
    "Question: Who painted the Halden Old Bridge?",
    f"ans: {_NONE}",
)


def listing(when_unknown: Literal["say so", "guess"]) -> tuple[str, list[tuple[str, str]]]:
    """Return instruction and examples for an answer that is a set."""
    told = f"{_READ} {_LIST} {_UNKNOWN[when_unknown]}"
    return told, [*_EXAMPLES, _UNKNOWN_EXAMPLE] if when_unknown == "say so" else _EXAMPLES
