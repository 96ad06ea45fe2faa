"""Replies to hops as a reasoning, so that a trained IRCoT learns from what RAS's hop reader did.

A sentence asks for what a reply searches for next, or concludes. Facts stay out: a baseline that
was to note them too took both kinds of sentence for one, and concluded after the first search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ras_flow.evaluation.systems.ircot import MOST_PASSAGES
from ras_flow.formats.history import QUESTION
from ras_flow.formats.hop_reply import HopReply, parse_hop_reply
from ras_flow.formats.hop_view import SEARCH
from recipes.t2rag.convert import TextRow

_PASSAGE = re.compile(r"(\d+) (\[.*)")


class _Shown(NamedTuple):
    question: str
    searches: tuple[str, ...]
    passages: dict[int, str]


def reasoned(rows: Iterable[TextRow]) -> Iterator[TextRow]:
    """Yield a row for each reply whose run is known from its beginning."""
    states = [(row, _read(row["input"])) for row in rows]
    known = {shown[:2]: (shown, parse_hop_reply(row["output"])) for row, shown in states}
    for row, shown in states:
        passages, said, at = dict[int, str](), list[str](), tuple[str, ...]()
        while found := known.get((shown.question, at)):
            earlier, reply = found
            passages |= earlier.passages
            if at == shown.searches:
                view = [*list(passages.values())[:MOST_PASSAGES], f"{QUESTION}{shown.question}"]
                view.append(f"Reasoning: {' '.join(said)}".strip())
                made = {"task": "reason", "input": "\n".join(view), "output": _sentence(reply)}
                yield {**row, **made}
                break
            said.append(_sentence(reply))
            at = (*at, *reply.subqueries)
            if not reply.subqueries or shown.searches[: len(at)] != at:
                break


def _read(shown: str) -> _Shown:
    """Read what a hop's model was shown: its new passages, and those shown again."""
    first, *lines = shown.split("\n")
    passages: dict[int, str] = {}
    number = None
    for line in lines:
        if found := _PASSAGE.fullmatch(line):
            number = int(found[1])
            passages[number] = found[2]
        elif number is not None and line.startswith("  "):
            passages[number] += f"\n{line.strip()}"
        else:
            number = None
    searches = tuple(line.removeprefix(SEARCH) for line in lines if line.startswith(SEARCH))
    return _Shown(first.removeprefix(QUESTION), searches, passages)


def _sentence(reply: HopReply) -> str:
    """Write a step as one sentence: what to search for next, or the answer."""
    if reply.label == "SUBQ":
        return " and ".join(one.rstrip("?. ") for one in reply.subqueries) + "?"
    return f"So the answer is: {reply.text}"
