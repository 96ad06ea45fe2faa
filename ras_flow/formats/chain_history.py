"""A history of searches whose facts are read as evidence chains."""

from __future__ import annotations

from ras_flow.formats.chains import format_chains, reorganise
from ras_flow.formats.history import FOUND
from ras_flow.formats.triples import parse_triples


def rechain(history: str) -> str:
    """Write the triples of a history as evidence chains from what its question names."""
    lines = history.split("\n")
    found = [line.removeprefix(FOUND) for line in lines if line.startswith(FOUND)]
    facts = list(dict.fromkeys(fact for line in found for fact in parse_triples(line).triples))
    kept = [line for line in lines if not line.startswith(FOUND)]
    roots = [name for name in dict.fromkeys(s for s, _, _ in facts) if name in kept[-1]]
    before = "".join(f"{line}\n" for line in kept[:-1])
    return format_chains(reorganise(facts, roots).blocks, before=before, after=kept[-1]).text
