"""The extractor f_t2t as a prompted language model (eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from ras_flow.components import Extraction, Generation, LanguageModel
from ras_flow.errors import ModelResponseError
from ras_flow.formats.triples import parse_triples
from ras_flow.prompts import extractor as prompts
from ras_flow.roles.prompting import ask, few_shot
from ras_flow.state.schema import Passage

MAX_NEW_TOKENS = 256
STOP = ("\nTitle:", "\nText:")


class PromptedExtractor:
    """Asks for the triples of each passage.

    Args:
        model: The language model that extracts.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.batch_size = model.batch_size
        self._prefix = few_shot(prompts.INSTRUCTION, prompts.EXAMPLES)
        fingerprint = sha256(repr((self._prefix, MAX_NEW_TOKENS, STOP)).encode()).hexdigest()[:8]
        self.identity = f"{model.identity}+{fingerprint}"

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples.

        Args:
            passages: Titled passages.

        Returns:
            One extraction a passage, in order. Where the model cannot use a passage, that
            passage's extraction has an ``error`` and no triples.

        Raises:
            AuthenticationError: The key was refused.
            ModelUnavailableError: The model cannot be reached.
        """
        if not passages:
            return []
        asked = [
            ask(self._prefix, f"Title: {passage['title']}\nText: {passage['text']}")
            for passage in passages
        ]
        try:
            made = await self.model.generate(asked, max_new_tokens=MAX_NEW_TOKENS, stop=STOP)
        except ModelResponseError as error:
            if len(passages) == 1:
                return [Extraction([], error=str(error))]
            return [(await self.extract([passage]))[0] for passage in passages]
        return [_extraction(generation) for generation in made]


def _extraction(made: Generation) -> Extraction:
    parsed = parse_triples(made.text)
    return Extraction(
        parsed.triples,
        parsed.dropped,
        input_tokens=made.input_tokens,
        output_tokens=made.output_tokens,
    )
