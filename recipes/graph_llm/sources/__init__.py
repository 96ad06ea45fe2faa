"""Published and shared formats to cases; which format a file has is seen from its fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ras_flow.datasets.contexts import gold_titles
from ras_flow.datasets.reading import Row, read_rows
from ras_flow.errors import ConfigurationError, InputError
from recipes.graph_llm.case import Case
from recipes.graph_llm.sources import (
    fever,
    hotpotqa,
    mcq,
    musique,
    pathquestion,
    qed,
    strategyqa,
    webqsp,
    wiki2,
)
from recipes.graph_llm.sources.texts import Texts


class Format(NamedTuple):
    """A format.

    Attributes:
        name: Its name in messages.
        fields: Sets of fields; a row that has all of one set is of this format.
        read: Turns rows into cases.
    """

    name: str
    fields: tuple[tuple[str, ...], ...]
    read: Callable[[Iterable[Row], Texts], Iterator[Case]]


FORMATS = (
    Format(
        "2WikiMultihopQA",
        (("question", "answer", "triples", "support"), ("question", "answer", "evidences")),
        wiki2.read,
    ),
    Format(
        "MuSiQue",
        (("question", "answer", "decomp"), ("question", "answer", "question_decomposition")),
        musique.read,
    ),
    Format(
        "HotpotQA",
        (("question", "answer", "docs", "support"), ("question", "context", "supporting_facts")),
        hotpotqa.read,
    ),
    Format("StrategyQA", (("question", "answer", "facts", "decomposition"),), strategyqa.read),
    Format(
        "WebQSP",
        (("question", "answers", "triples"), ("question", "answer", "graph", "q_entity")),
        webqsp.read,
    ),
    Format(
        "ARC / OpenBookQA", (("question", "choices", "answer"), ("question", "answerKey")), mcq.read
    ),
    Format("FEVER", (("claim", "label", "evidence"),), fever.read),
    Format("QED", (("question", "title", "paragraph", "answers"),), qed.read),
)
"""In order of preference; PathQuestion, which needs its graph, is told apart earlier."""

UNUSED = "rows that no question could be made of"


def read_cases(
    path: Path,
    texts: Texts | None = None,
    *,
    kb: Path | None = None,
    dropped: Counter[str] | None = None,
) -> Iterator[Case]:
    """Read a data set."""
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path} is empty: name a file with rows.")
    row, taken, made = first, 0, 0

    def noted() -> Iterator[Row]:
        nonlocal row, taken
        for row in chain([first], rows):
            taken += 1
            yield row

    # Each format makes a row's cases before it takes the next row.
    for case in _read(first, noted(), texts or Texts(), kb, path.name):
        yield replace(case, titles=gold_titles(row))
        made += 1
    if dropped is not None:
        dropped[UNUSED] += taken - made


def _read(
    first: Row, rows: Iterator[Row], texts: Texts, kb: Path | None, name: str
) -> Iterator[Case]:
    if first.has("question", "path", "answers"):
        if kb is None:
            raise ConfigurationError(f"{name} needs its knowledge graph: set `kb`.")
        return pathquestion.read(rows, pathquestion.read_kb(kb))
    if kb is not None:
        raise ConfigurationError(f"{name} is not a PathQuestion file: leave out `kb`.")
    return detect(first).read(rows, texts)


def detect(row: Row) -> Format:
    """Tell a row's format from its fields."""
    for known in FORMATS:
        if any(row.has(*fields) for fields in known.fields):
            return known
    listed = "; ".join(
        f"{known.name}: {' or '.join(', '.join(fields) for fields in known.fields)}"
        for known in FORMATS
    )
    raise InputError(
        f"{row.where}: this format cannot be converted. It has the fields "
        f"{', '.join(sorted(row.value))}. Known are {listed}; PathQuestion: question, path, "
        "answers."
    )
