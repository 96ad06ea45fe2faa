"""Checks that a part, which may be a user's, answered everything it was asked."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence
from inspect import isawaitable
from typing import TypeVar, cast

from ras_flow.errors import ConfigurationError
from ras_flow.formats.text import scrub, scrub_all
from ras_flow.parts.protocols import Answerer, Planner
from ras_flow.parts.records import Reading, ScoredPassage
from ras_flow.settings.context import LARGEST
from ras_flow.state.schema import Passage, passage_id

T = TypeVar("T")

_PAPERS = Reading()
"""How much the paper's models read."""


async def one_each(
    asked: int, kind: type[T], results: Awaitable[Sequence[T]], part: object
) -> Sequence[T]:
    """Await a part, and check that it answered everything that it was asked."""
    name = type(part).__name__
    if not isawaitable(results):
        raise ConfigurationError(
            f"{name} returned a {type(results).__name__}, which cannot be awaited: write the "
            "methods of parts with `async def`, and have them return a list."
        )
    made = await results
    if not isinstance(made, Sequence) or not all(isinstance(one, kind) for one in made):
        raise ConfigurationError(
            f"{name} returned {made!r:.200}: parts take a list and return a list of the same "
            f"length, here of {kind.__name__} (see ras_flow.parts)."
        )
    for result in made:
        _check_fields(result, name)
    if len(made) != asked:
        raise ConfigurationError(
            f"{name} returned {len(made)} results where {asked} were asked for: "
            "parts take a list and return a list of the same length."
        )
    return made


def _check_fields(result: object, part: str) -> None:
    """Check what a reply or an extraction says of itself; other results have no such fields."""
    if not isinstance(getattr(result, "text", ""), str):
        raise ConfigurationError(f"{part} returned {result!r:.200}: its `text` must be a text.")
    for name in ("input_tokens", "output_tokens", "cached_tokens", "lost_triples", "calls"):
        count = getattr(result, name, 0)
        if not isinstance(count, int) or not 0 <= count <= LARGEST:
            raise ConfigurationError(
                f"{part} returned {result!r:.200}: its `{name}` must be a whole number of at least "
                "0; where it is not known, leave it out."
            )


def storable(scored: ScoredPassage, retriever: object) -> ScoredPassage:
    """Return a passage with its content's id; a retriever's own may stand for several."""
    try:
        passage, score = scored
        title, text = scrub(passage["title"]), scrub(passage["text"])
        more = {name: it for name, it in passage.items() if name != "source"}
        named = {"id": passage_id(title, text), "title": title, "text": text}
        kept = cast(Passage, {**scrub_all(more), **named})
        if (source := passage.get("source")) is not None:
            kept["source"] = scrub(str(source))
        # JSON holds finite numbers alone: the cosine with a vector of zeros is NaN.
        return ScoredPassage(kept, round(float(score), 6) if math.isfinite(score) else 0.0)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ConfigurationError(
            f"{type(retriever).__name__} found {scored!r:.250}: give a ScoredPassage each, which "
            "is a passage with a `title` and a `text`, which are texts, and a number as its score. "
            "What else a passage has must be JSON."
        ) from error


def reading_of(reader: Planner | Answerer) -> Reading:
    """Return how much a model reads best.

    Args:
        reader: A planner or answerer.

    Returns:
        Its ``reading``; the paper's if it has none.

    Raises:
        ConfigurationError: Its ``reading`` is something else.
    """
    reading = getattr(reader, "reading", _PAPERS)
    if not isinstance(reading, Reading):
        raise ConfigurationError(
            f"The `reading` of {type(reader).__name__} is a {type(reading).__name__}: give it a "
            "ras_flow.parts.Reading, which says how much it reads best, or another name."
        )
    return reading
