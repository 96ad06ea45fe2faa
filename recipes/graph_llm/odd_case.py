"""Questions in lower case, as people type them, and with titles as 2Wiki writes them."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from recipes.graph_llm.case import Case


def odd_case(case: Case, chance: float, rng: Random) -> Case:
    """Return a case; its question is, with this chance, in lower case or has titles in capitals."""
    if not chance or rng.random() >= chance:
        return case
    question = case.question
    if rng.random() < 0.5:
        return replace(case, question=question.lower())
    for title in sorted({step.page.title for step in case.steps} - {""}):
        # With what tells the page from others, whether the question has that or not.
        bare, bracket, qualifier = title.partition(" (")
        pattern = rf"\b{re.escape(bare)}\b(?: \([^)]*\))?"
        said = (bare + bracket + qualifier).title().replace("\\", r"\\")
        question = re.sub(pattern, said, question, flags=re.IGNORECASE)
    return replace(case, question=question)
