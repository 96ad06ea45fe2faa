"""Examples of an extractor as token ids.

Of a partial example, or a target that had to be cut, the last ")" and the end token are not learnt:
they would say that nothing more follows.
"""

from __future__ import annotations

from ras_flow.formats.triples import format_triples
from ras_flow.prompts.extractor import source
from ras_flow.training.texts.encoding import Encoder
from ras_flow.training.triples.examples import Example


def encode_example(
    encoder: Encoder, instruction: str, example: Example
) -> dict[str, list[int]] | None:
    """Encode a text with as many of its triples as fit; None if none does, or the text is long."""
    if not encoder.fits(example.text):
        return None
    asked = source(example.title, example.text)
    for count in range(len(example.triples), 0, -1):
        whole = example.complete and count == len(example.triples)
        target = format_triples(example.triples[:count])
        if row := encoder(instruction, asked, target, ends=whole):
            return row
    return None
