"""Chains as a model reads them: ``Ada → [wrote] → Notes → [about] → Engine; Loom``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ras_flow.formats.chains.expansion import Chain
from ras_flow.formats.text import plain
from ras_flow.formats.triples import MAX_FIELD

CHAINS = "Evidence Chains:\n"
_ARROWS = str.maketrans({"→": "->", "←": "<-"})


class ChainText(NamedTuple):
    """Chains as text, and how many triples did not fit."""

    text: str
    lost: int = 0


def format_chains(
    blocks: Sequence[Sequence[Chain]],
    *,
    before: str = "",
    after: str = "",
    max_tokens: int | None = None,
    count_tokens: Callable[[str], int] = len,
    shown: Callable[[str], str] = str,
) -> ChainText:
    """Write numbered chains, the blocks in their order; blocks that do not fit are left out."""
    written = [[write_chain(chain, shown) for chain in block] for block in blocks]

    def write(kept: Sequence[int]) -> str:
        lines = [line for at in kept for line in written[at]]
        numbered = (f"Chain {number}.\n{line}\n" for number, line in enumerate(lines, start=1))
        return f"{before}{CHAINS if lines else ''}{''.join(numbered)}{after}"

    kept = list(range(len(blocks)))
    if max_tokens is not None and count_tokens(write(kept)) > max_tokens:
        room, kept = max_tokens - count_tokens(write([])), []
        for at, lines in enumerate(written):
            size = sum(count_tokens(f"Chain {at}.\n{line}\n") for line in lines)
            if size <= room:
                room -= size
                kept.append(at)
        while kept and count_tokens(write(kept)) > max_tokens:
            kept.pop()
    left_out = [block for at, block in enumerate(blocks) if at not in set(kept)]
    lost = frozenset[int]().union(*(chain.facts for block in left_out for chain in block))
    return ChainText(write(kept), len(lost))


def write_chain(chain: Chain, shown: Callable[[str], str] = str) -> str:
    """Write a chain from left to right, as its triples point; one that turns begins at its root."""
    targets = "; ".join(dict.fromkeys(name(shown(target)) for target in chain.targets))
    stops = [name(shown(chain.root)), *map(name, chain.between), targets]
    marks = [f"[{name(step.relation)}]" for step in chain.steps]
    if all(step.inverse for step in chain.steps):
        stops.reverse()
        return stops[0] + "".join(
            f" → {mark} → {stop}" for mark, stop in zip(reversed(marks), stops[1:], strict=True)
        )
    return stops[0] + "".join(
        f" ← {mark} ← {stop}" if step.inverse else f" → {mark} → {stop}"
        for step, mark, stop in zip(chain.steps, marks, stops[1:], strict=True)
    )


def name(text: str) -> str:
    """Return a name on one line, of bounded length, without the arrows that part names."""
    short = plain(text[: 4 * MAX_FIELD]).translate(_ARROWS)
    return short if len(short) <= MAX_FIELD else f"{short[:MAX_FIELD]}…"
