"""A trained extractor against its untrained base, on data that neither has seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local import LocalLanguageModel
from ras_flow.llms.seq2seq import LocalSeq2SeqModel
from ras_flow.llms.tuned import Tuned, find_tuned
from ras_flow.roles.extractor import PromptedExtractor
from ras_flow.roles.extractor_forms import Form, text_form, tuned_form
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import load_data
from ras_flow.training.triples.measuring import Aim, Measured, add_to_card, aims, measure


async def compare(
    config: TrainingConfig,
    folder: Path,
    *,
    data: Path = Path(),
    most: int | None = None,
    batch_size: int = 16,
    log: Callable[[str], None] = lambda _: None,
) -> tuple[list[Measured], list[Aim]]:
    """Measure a trained extractor and its base; the figures go into its model card.

    The base is asked with the instruction and the example of :mod:`ras_flow.prompts.extractor`.

    Args:
        config: The settings of the training, which name the data.
        folder: What training wrote.
        data: Where the data files are.
        most: At most so many texts, and so many passages, to try things out.
        batch_size: Texts that are decoded at once.
        log: Told how far it is.

    Returns:
        The figures of both, the trained one first, and the aims.

    Raises:
        ConfigurationError: The folder holds no trained extractor, or a model cannot be loaded.
        InputError: The data cannot be read.
    """
    tuned = find_tuned(str(folder))
    if tuned is None:
        raise ConfigurationError(f"{folder} holds no trained extractor. Name what training wrote.")
    loaded = load_data(config.data, data)
    texts, passages = loaded.splits.test[:most], loaded.facts[:most]
    measured = [
        await measure(name, _extractor(tuned, model, form, batch_size), texts, passages, log)
        for name, model, form in (
            ("trained", str(folder), tuned_form(tuned)),
            (f"{tuned.base}, with an example", tuned.base, text_form()),
        )
    ]
    add_to_card(folder, measured)
    return measured, aims(measured[1], measured[0])


def _extractor(tuned: Tuned, name: str, form: Form, batch_size: int) -> PromptedExtractor:
    kind = LocalSeq2SeqModel if tuned.kind == "seq2seq" else LocalLanguageModel
    return PromptedExtractor(kind(name, batch_size=batch_size), form)
