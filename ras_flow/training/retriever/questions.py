"""Questions on knowledge graphs, and the labels that retrievers learn from, as JSON lines.

``gold`` are the facts that a question rests on, where a data set says so::

    {"id": "q1", "question": "Who designed the headquarters of Halden?", "graph": "companies",
     "entities": ["Halden"], "answers": ["Ingrid Moe"],
     "gold": [["Halden", "headquarters", "Pier House"], ["Pier House", "architect", "Ingrid Moe"]]}

``group`` keeps questions in one split; by default those with the same first entity are together. A
label adds ``positives``, the facts to find, and ``paths``, the relations that lead from an entity
to an answer, each with whether it is crossed backwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from ras_flow.datasets.reading import read_json_lines
from ras_flow.errors import InputError
from ras_flow.support.validation import checked
from ras_flow.training.data.records import EXACT, Fields, Text
from ras_flow.training.splits import Split

Names = Annotated[list[Text], Field(min_length=1)]
Crossed = tuple[Text, bool]
RelationPath = Annotated[list[Crossed], Field(min_length=1)]


@with_config(EXACT)
class Asked(TypedDict):
    """A question on a graph."""

    id: Text
    question: Text
    graph: Text
    entities: Names
    answers: Names
    gold: NotRequired[list[Fields]]
    group: NotRequired[Text]


@with_config({**EXACT, "strict": False})
class Labelled(Asked):
    """A question with what retrievers learn from it."""

    source: Text
    split: Split
    positives: Annotated[list[Fields], Field(min_length=1)]
    paths: list[RelationPath]
    weak: NotRequired[bool]


_ASKED: TypeAdapter[Asked] = TypeAdapter(Asked)
_LABELLED: TypeAdapter[Labelled] = TypeAdapter(Labelled)


def read_questions(path: Path) -> Iterator[Asked]:
    """Read a file of questions, plain or gzipped."""
    for number, value in read_json_lines(path):
        yield checked(_ASKED, value, f"{path}:{number}", InputError)


def read_labelled(path: Path) -> Iterator[Labelled]:
    """Read a file of labelled questions."""
    for number, value in read_json_lines(path):
        yield checked(_LABELLED, value, f"{path}:{number}", InputError)
