"""Measures of retrieval: how much of what a question rests on was found, hop by hop.

A piece of support is found *by title* when a passage has its title, and *by text* when a passage
holds its words, or is itself a piece of it (paragraphs are cut into passages of about 100 words).
Either is judged only where it is known; support with neither title nor text is not judged at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ras_flow.evaluation.question import Support
from ras_flow.formats.normalize import normalize_name
from ras_flow.state.schema import Passage

By = Literal["title", "text"]
"""What support is recognised by."""

MIN_PIECE = 5
"""Words from which on a passage can be a piece of a longer text."""


@dataclass(frozen=True)
class Found:
    """What was found of a question's support.

    Attributes:
        recall: The share of its support, in [0, 1].
        all_support: Whether it is all there.
    """

    recall: float
    all_support: bool


def is_found(support: Support, passages: Iterable[Passage], by: By = "title") -> bool:
    """Tell whether passages hold a piece of support.

    Args:
        support: Something that a question rests on.
        passages: What was retrieved.
        by: Whether the title is compared, or the text.
    """
    wanted = normalize_name(support.title if by == "title" else support.text)
    if not wanted:
        return False
    if by == "title":
        return any(normalize_name(passage["title"]) == wanted for passage in passages)
    return any(_holds(normalize_name(passage["text"]), wanted) for passage in passages)


def recall_by_hop(
    support: Sequence[Support],
    hops: Sequence[Sequence[Passage]],
    by: By = "title",
) -> list[Found] | None:
    """Measure a run after each of its hops.

    Args:
        support: What the question rests on. The same title or text counts once.
        hops: What each hop retrieved, the best first.
        by: Whether titles are compared, or texts.

    Returns:
        What had been found by the end of each hop, in their order, so that it never falls; None
        where there is nothing to judge by.
    """
    wanted = _known(support, by)
    if not wanted:
        return None
    seen: list[Passage] = []
    found: list[Found] = []
    for passages in hops:
        seen += passages
        found.append(_found(wanted, seen, by))
    return found


def _known(support: Iterable[Support], by: By) -> list[Support]:
    """Return the support that can be judged, the same title or text once."""
    names = {normalize_name(part.title if by == "title" else part.text): part for part in support}
    return [part for name, part in names.items() if name]


def _found(wanted: Sequence[Support], passages: Sequence[Passage], by: By) -> Found:
    hits = [is_found(part, passages, by) for part in wanted]
    return Found(sum(hits) / len(hits), all(hits))


def _holds(text: str, wanted: str) -> bool:
    if f" {wanted} " in f" {text} ":
        return True
    return len(text.split()) >= MIN_PIECE and f" {text} " in f" {wanted} "
