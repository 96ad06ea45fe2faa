"""What all retrievers check before they search."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.errors import InputError


def check_queries(queries: Sequence[str], k: int) -> None:
    """Reject what cannot be searched for."""
    if isinstance(queries, str):
        raise InputError("Retrievers take a list of queries, not one string: pass [query].")
    if k < 1:
        raise InputError(f"k is {k}: ask for at least 1 passage.")
    for position, query in enumerate(queries):
        if not query.strip():
            raise InputError(f"Query {position} is empty: give it some words to search for.")
