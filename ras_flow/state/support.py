"""Whether the documents support an answer, judged without a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ras_flow.state.citations import cite, cite_passages
from ras_flow.state.schema import Citation, Passage, Triple


class Verdict(NamedTuple):
    """What an answer rests on.

    Attributes:
        citations: The facts and passages that lead from the question to the answer.
        supported: Whether they support it.
        support: Why, or why not: a short sentence.
    """

    citations: list[Citation]
    supported: bool
    support: str


def judge(
    answer: str, question: str, triples: Mapping[str, Triple], passages: Mapping[str, Passage]
) -> Verdict:
    """Find what supports an answer in a question's graph and passages."""
    citations = cite(answer, question, triples, passages)
    citations = citations or cite_passages(answer, question, passages)
    if citations:
        return Verdict(citations, True, "Facts that were found lead from the question to it.")
    why = "Nothing that was found states it." if answer else "There is no answer."
    return Verdict([], False, why)
