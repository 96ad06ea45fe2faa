"""Training of an extractor: its data, encoded for the text-to-text trainer."""

from __future__ import annotations

from pathlib import Path

from ras_flow.formats.triples import format_triples
from ras_flow.prompts.extractor import source
from ras_flow.training.run import Logger, Progress
from ras_flow.training.texts import training
from ras_flow.training.texts.encoding import Encoder
from ras_flow.training.triples.card import model_card
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import load_data
from ras_flow.training.triples.examples import Example


def train(
    config: TrainingConfig,
    output: Path,
    *,
    data: Path = Path(),
    seconds: float | None = None,
    examples: int | None = None,
    log: Logger = lambda _: None,
) -> Progress:
    """Train an extractor, or go on where an earlier call stopped."""

    def prepare(encoder: Encoder) -> training.Prepared:
        loaded = load_data(config.data, data)
        parts = {"train": loaded.splits.train, "dev": loaded.splits.dev}
        rows = {
            part: [
                row
                for example in some[:examples]
                if (row := encode_example(encoder, config.model.instruction, example))
            ]
            for part, some in parts.items()
        }
        return training.Prepared(rows, loaded.counts())

    return training.train(
        config, output, prepare, model_card, seconds=seconds, examples=examples, log=log
    )


def encode_example(
    encoder: Encoder, instruction: str, example: Example
) -> dict[str, list[int]] | None:
    """Encode a text with as many of its triples as fit; None if none does, or the text is long.

    Of a partial example, or a target that had to be cut, the last ")" and the end are not learnt:
    they would say that nothing more follows.
    """
    if not encoder.fits(example.text):
        return None
    asked = source(example.title, example.text)
    for count in range(len(example.triples), 0, -1):
        whole = example.complete and count == len(example.triples)
        target = format_triples(example.triples[:count])
        if row := encoder(instruction, asked, target, ends=whole):
            return row
    return None
