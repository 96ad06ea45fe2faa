"""A trained extractor against its untrained base, on data that neither has seen: the figures."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ras_flow.datasets.facts import FactPassage, fact_recall
from ras_flow.errors import ConfigurationError
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.quality import RULES, Rule
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel
from ras_flow.llms.local.tuned import MANIFEST, Tuned, find_tuned
from ras_flow.parts.prompted.extractor import PromptedExtractor
from ras_flow.parts.prompted.forms import Form, text_form, trained_form
from ras_flow.parts.records import Extraction
from ras_flow.runs.databases.stores import open_store
from ras_flow.support.calls import CallCache
from ras_flow.support.files import write_whole
from ras_flow.training.run import Logger
from ras_flow.training.splits import fraction
from ras_flow.training.texts.folder import CARD
from ras_flow.training.triples.card import model_card
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import TrainingData, load_data
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import extract_raw, passages_of, refined
from ras_flow.training.triples.scores import Prediction, score, share

Figures = dict[str, Any]
"""An extractor's figures, as JSON-like data: shares, numbers, and scores by source."""


async def compare(
    config: TrainingConfig,
    folder: Path,
    *,
    data: Path = Path(),
    most: int | None = None,
    most_base: int | None = None,
    batch_size: int = 16,
    keep: Path | None = None,
    log: Logger = lambda _: None,
) -> list[Figures]:
    """Measure an extractor and its base, asked with an example; the figures go into its card."""
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
    _add_to_card(folder, measured)
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


def figures(
    name: str,
    made: Mapping[str, Extraction],
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
    rules: Mapping[str, Rule] | None = None,
) -> Figures:
    """Compare what an extractor made.

    ``sources`` are its scores on the untouched part, ``fact_recall`` is the share of the
    answer-bearing facts of whole passages that it found, ``unparsable`` the share of the texts and
    passages from whose output no triple could be read.
    """
    passages = passages_of(examples, facts)
    raw = [made[passage["id"]] for passage in passages]
    kept = [refined(one, p, rules or {}) for p, one in zip(passages, raw, strict=True)]
    predictions = [
        Prediction(example.source, extraction.triples, example.triples, bool(extraction.dropped))
        for example, extraction in zip(examples, kept, strict=False)
    ]
    subjects = [subject for extraction in kept for subject, _, _ in extraction.triples]
    found = fact_recall(facts, [one.triples for one in kept[len(examples) :]])
    return {
        "name": name,
        "fact_recall": round(found, 4),
        "facts": sum(len(stated.facts) for stated in facts),
        "unparsable": round(share(not one.triples for one in raw), 4),
        "pronoun_subjects": round(share(map(is_pronoun, subjects)), 4),
        "errors": sum(one.error is not None for one in raw),
        "output_tokens": sum(one.output_tokens for one in raw),
        "sources": score(predictions),
    }


def _add_to_card(folder: Path, measured: Sequence[Figures]) -> None:
    """Write figures into ``metrics.json`` and the model card of a trained extractor."""
    record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    write_whole(folder / "metrics.json", json.dumps(measured, indent=2) + "\n")
    write_whole(folder / CARD, model_card(record, measured))
