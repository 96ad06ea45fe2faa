"""A trained extractor against its untrained base, on data that neither has seen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from ras_flow.datasets.facts import FactPassage
from ras_flow.errors import ConfigurationError
from ras_flow.formats.quality import RULES
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel
from ras_flow.llms.local.tuned import Tuned, find_tuned
from ras_flow.parts.prompted.extractor import PromptedExtractor
from ras_flow.parts.prompted.forms import Form, text_form, trained_form
from ras_flow.runs.databases.stores import open_store
from ras_flow.support.calls import CallCache
from ras_flow.training.splits import fraction
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import TrainingData, load_data
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.measuring import Figures, add_to_card, figures
from ras_flow.training.triples.raw import extract_raw, passages_of


async def compare(
    config: TrainingConfig,
    folder: Path,
    *,
    data: Path = Path(),
    most: int | None = None,
    most_base: int | None = None,
    batch_size: int = 16,
    keep: Path | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> list[Figures]:
    """Measure a trained extractor and its base; the figures go into its model card.

    The base is asked with the instruction and the example of :mod:`ras_flow.prompts.extractor`.
    """
    tuned, extractor = trained_extractor(folder, batch_size)
    untrained = _extractor(tuned, tuned.base, text_form(256), batch_size)
    loaded = load_data(config.data, data)
    texts, stated = drawn(loaded, most, seed=config.data.seed)
    fewer, fewer_stated = texts[:most_base], stated[:most_base]
    async with kept_in(keep) as cache:
        passages = passages_of(texts, stated)
        trained = await extract_raw(
            extractor, passages, cache, lambda line: log(f"trained: {line}")
        )
        passages = passages_of(fewer, fewer_stated)
        base = await extract_raw(untrained, passages, cache, lambda line: log(f"base: {line}"))
    measured = [
        figures("trained", trained, texts, stated),
        figures("trained, what enters the graph", trained, texts, stated, RULES),
        figures("trained, on the texts of the base", trained, fewer, fewer_stated),
        figures(f"{tuned.base}, with an example", base, fewer, fewer_stated),
    ]
    if len(fewer) == len(texts) and len(fewer_stated) == len(stated):
        del measured[2]
    add_to_card(folder, measured)
    return measured


@asynccontextmanager
async def kept_in(folder: Path | None) -> AsyncIterator[CallCache]:
    """Give a cache in a folder; without a folder, nothing is kept."""
    if folder is None:
        yield CallCache(None)
        return
    async with open_store(str(folder), new=True) as store:
        yield CallCache(store)


def trained_extractor(folder: Path, batch_size: int) -> tuple[Tuned, PromptedExtractor]:
    """Return an extractor that was trained, asked as it was trained."""
    tuned = find_tuned(str(folder))
    if tuned is None:
        raise ConfigurationError(f"{folder} holds no trained extractor. Name what training wrote.")
    form = trained_form(tuned.instruction(), tuned.max_new_tokens)
    return tuned, _extractor(tuned, str(folder), form, batch_size)


def drawn(
    loaded: TrainingData, most: int | None, *, seed: int
) -> tuple[list[Example], list[FactPassage]]:
    """Draw texts of the untouched part and passages with facts."""
    texts = sorted(loaded.splits.test, key=lambda text: fraction(seed, "measured", text.id))
    stated = sorted(loaded.facts, key=lambda f: fraction(seed, "measured", f.passage["id"]))
    return texts[:most], stated[:most]


def _extractor(tuned: Tuned, name: str, form: Form, batch_size: int) -> PromptedExtractor:
    kind = LocalSeq2SeqModel if tuned.kind == "seq2seq" else LocalLanguageModel
    return PromptedExtractor(kind(name, batch_size=batch_size), form)
