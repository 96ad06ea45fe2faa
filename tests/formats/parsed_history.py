"""Reads a formatted history back, as tests look at what models were given."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ras_flow.formats.history import FOUND, QUESTION, SUBQUERY, TEXT
from ras_flow.formats.triples import parse_triples

_MARKER = re.compile(rf"^(?={re.escape(SUBQUERY)}|{QUESTION})", re.MULTILINE)


@dataclass(frozen=True)
class ParsedHistory:
    """What a formatted history says.

    Attributes:
        question: The main question Q.
        chain: Each subquery with its (subject, predicate, object) triples.
        instruction: The task's wording, possibly empty.
        texts: For each subquery, title and text of its passages; empty if no subquery has one.
    """

    question: str
    chain: list[tuple[str, list[tuple[str, str, str]]]]
    instruction: str = ""
    texts: list[list[tuple[str, str]]] = field(default_factory=list)


def parse_history(text: str) -> ParsedHistory:
    """Read a formatted history back: each triple once, passages on one line."""
    first = _MARKER.search(text)
    lines = text[first.start() :].split("\n") if first else []
    chain: list[tuple[str, list[tuple[str, str, str]]]] = []
    texts: list[list[tuple[str, str]]] = []
    while len(lines) > 2 and lines[0].startswith(SUBQUERY) and lines[1].startswith((FOUND, TEXT)):
        subquery, *lines = lines
        found = lines.pop(0).removeprefix(FOUND) if lines[0].startswith(FOUND) else ""
        texts.append([])
        while lines and lines[0].startswith(TEXT):
            title, _, body = lines.pop(0).removeprefix(TEXT).partition("|")
            while lines and not lines[0].startswith((SUBQUERY, TEXT, QUESTION)):
                body += f" {lines.pop(0)}"
            texts[-1].append((title, " ".join(body.split())))
        chain.append((subquery.removeprefix(SUBQUERY), parse_triples(found).triples))
    assert first and lines and lines[0].startswith(QUESTION), f"{text!r} is not a history"
    question = "\n".join(lines).removeprefix(QUESTION)
    return ParsedHistory(
        question, chain, text[: first.start()].removesuffix("\n"), texts if any(texts) else []
    )
