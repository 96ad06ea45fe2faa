"""No text-to-triples (paper, table 2): passages stay text."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage


class KeptText:
    """Extracts nothing; planner and answerer read the passages themselves."""

    identity = "none"
    batch_size = 1_000

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Return an extraction without triples for each passage, at no cost."""
        return [Extraction([]) for _ in passages]
