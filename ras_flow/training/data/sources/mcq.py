"""ARC and OpenBookQA: closed-set questions, answered by a letter without any graph.

They come without facts, so there is nothing to simulate: a record is the question and the letter,
with the instruction of the task. Whether the first plan is [NO_RETRIEVAL] or [SUBQ] only a base
model can tell; it has to find the right option in two further orders of the options too, since one
right letter in four comes by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import ascii_uppercase

from ras_flow.tasks import TASKS
from ras_flow.training.data.case import Case
from ras_flow.training.data.choices import write_choices
from ras_flow.training.data.sources.reading import Row
from ras_flow.training.data.sources.texts import Texts


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question."""
    del texts
    for row in rows:
        stem, choices, right = _question(row)
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


def _question(row: Row) -> tuple[str, list[str], int]:
    """Return stem, options and the right one's position, of our form or ARC's own."""
    if row.has("choices"):
        stem, choices, answer = row.text("question"), row.texts("choices"), row.text("answer")
        labels = list(ascii_uppercase[: len(choices)])
    else:
        [inner] = [Row(row.value.get("question"), f"{row.where}:question")]
        stem, answer = inner.text("stem"), row.text("answerKey")
        options = inner.rows("choices")
        choices = [option.text("text") for option in options]
        labels = [option.text("label") for option in options]
    if not 2 <= len(choices) <= len(ascii_uppercase):
        row.fail("choices", "expected 2 to 26 options")
    if answer not in labels:
        row.fail("answer", f"{answer!r} is none of {', '.join(labels)}")
    return stem, choices, labels.index(answer)
