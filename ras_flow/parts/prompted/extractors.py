"""The extractor of a language model, and the one that extracts nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.parts.prompted.extractor import PromptedExtractor
from ras_flow.parts.prompted.forms import form_for
from ras_flow.parts.prompted.shared import SharedExtractor
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Extraction
from ras_flow.settings.context import ExtractorOutput
from ras_flow.state.schema import Passage


def make_extractor(
    model: LanguageModel, output: ExtractorOutput = "text", *, together: bool = False
) -> SharedExtractor:
    """Make an extractor of a language model, asked in the form that suits it.

    ``together`` has a chat model read several passages at once.
    """
    return SharedExtractor(PromptedExtractor(model, form_for(model, output, together=together)))


class KeptText:
    """Extracts nothing; planner and answerer read the passages themselves (paper, table 2)."""

    identity = "none"
    batch_size = 1_000

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Return an extraction without triples for each passage, at no cost."""
        return [Extraction([]) for _ in passages]
