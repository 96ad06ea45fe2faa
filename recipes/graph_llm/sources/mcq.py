"""ARC and OpenBookQA: closed-set questions, answered by a letter without any graph.

They come without facts, so nothing is simulated: a record is the question and the letter,
with the instruction of the task. Whether the first plan is [NO_RETRIEVAL] or [SUBQ] only a base
model can tell; it has to find the right option in two further orders of the options too, since one
right letter in four comes by chance.
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
        orders = [choices[turn:] + choices[:turn] for turn in range(min(3, len(choices)))]
        written = [
            (write_choices(stem, order), ascii_uppercase[order.index(choices[right])])
            for order in orders
        ]
        yield Case(
            source="mcq",
            id=row.text("id"),
            question=written[0][0],
            answer=written[0][1],
            instruction=TASKS["multiple_choice"].instruction,
            variants=tuple(written[1:]),
        )
