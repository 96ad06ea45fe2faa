"""What parts of a user's own may get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ras_flow.errors import ConfigurationError

T = TypeVar("T")


def one_each(results: Sequence[T], asked: int, part: object) -> Sequence[T]:
    """Check that a part answered everything that it was asked.

    Args:
        results: What it returned.
        asked: How many results it should have returned.
        part: The part.

    Returns:
        The results.

    Raises:
        ConfigurationError: There are more or fewer; the message names the part's class.
    """
    if len(results) != asked:
        raise ConfigurationError(
            f"{type(part).__name__} returned {len(results)} results where {asked} were asked for: "
            "parts take a list and return a list of the same length."
        )
    return results
