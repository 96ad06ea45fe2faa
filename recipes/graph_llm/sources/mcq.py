"""ARC and OpenBookQA: closed-set questions, answered by a letter without any graph.

They come without facts, so nothing is simulated: a record is the question and the letter,
with the instruction of the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import ascii_uppercase

from ras_flow.datasets.choices import read_choices, write_choices
from ras_flow.datasets.reading import Row
from ras_flow.settings.tasks import TASKS
from recipes.graph_llm.case import Case
from recipes.graph_llm.sources.texts import Texts


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question."""
    del texts
    for row in rows:
        stem, choices, right = read_choices(row)
        yield Case(
            source="mcq",
            id=row.text("id"),
            question=write_choices(stem, choices),
            answer=ascii_uppercase[right],
            instruction=TASKS["multiple_choice"].instruction,
        )
