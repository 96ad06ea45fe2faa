"""The questions of an evaluation, and the indexes over their documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import Any

from ras_flow.documents.source import SourceDocument
from ras_flow.errors import ConfigurationError, IndexMissingError
from ras_flow.evaluation.config import DEMO, POOL, BenchmarkConfig, EvalConfig
from ras_flow.evaluation.metrics.long_answers import check_mauve
from ras_flow.evaluation.question import Benchmark, Question, findable, of_unanswerable
from ras_flow.formats.normalize import normalize_name
from ras_flow.indexes.engines.config import is_engine
from ras_flow.settings.context import Context
from ras_flow.state.schema import Document
from ras_flow.support.validation import checked, load_toml
from ras_flow.training.splits import Split, read_apart

SHIPPED = {"demo": ("jsonl", "questions.jsonl"), "demo_kg": ("kg", "kg_questions.jsonl")}
"""Formats of the questions that come with the package: their form and file."""

SplitBy = Callable[[Path], Callable[[Question], Split | None]]
"""Returns the splits of a training by the path of its mix."""

_LOOKED_AT = 10_000
"""Passages of an index that are looked at for a title; to read all of a large one takes minutes."""


def load_questions(config: EvalConfig) -> list[tuple[BenchmarkConfig, Benchmark]]:
    """Read all benchmarks."""
    found = []
    split_by = cache(_splitter)
    for settings in config.benchmarks:
        loaded = _load(settings, config.seed, split_by)
        retrieval = settings.retrieval or loaded.retrieval
        if retrieval != "corpus" and not any(one.documents for one in loaded.questions):
            raise ConfigurationError(
                f"{settings.name}: retrieval = {retrieval!r} needs questions with documents."
            )
        if settings.entities == "given" and not any(one.entities for one in loaded.questions):
            raise ConfigurationError(
                f"{settings.name}: its questions name no entities: say entities = 'linked'."
            )
        together = _together(settings, loaded)
        if "mauve" in together:
            check_mauve(len(loaded.questions))
        own = settings.index == POOL or retrieval != "corpus"
        titled = _has_titles(settings.index, loaded.pool if own else None)
        questions = tuple(
            replace(one, support=findable(one, own=own, titled=titled)) for one in loaded.questions
        )
        benchmark = replace(
            loaded,
            name=settings.name,
            questions=questions,
            retrieval=retrieval,
            corpus_metrics=together,
        )
        found.append((settings, benchmark))
        if benchmark.unanswerable:
            found.append((settings, of_unanswerable(benchmark)))
    return found


def _load(settings: BenchmarkConfig, seed: int, split_by: SplitBy) -> Benchmark:
    # The loaders read published files of many kinds; their imports are not needed before.
    from ras_flow.evaluation.benchmarks import load_benchmark  # noqa: PLC0415

    chosen: dict[str, Any] = {
        "limit": settings.limit,
        "seed": seed,
        "split": settings.split,
        "unanswerable": settings.unanswerable,
        "given": settings.retrieval == "given" or settings.index != POOL,
        "pooled": settings.kg == POOL,
        "only": _chooser(settings, split_by),
    }
    if settings.path is not None:
        return load_benchmark(settings.format, settings.path, **chosen)
    if settings.format not in SHIPPED:
        raise ConfigurationError(
            f"benchmarks.{settings.name}: give the `path` of a file of {settings.format}."
        )
    form, name = SHIPPED[settings.format]
    with as_file(files("ras_flow.demo").joinpath(name)) as path:
        return load_benchmark(form, path, **chosen)


def _together(settings: BenchmarkConfig, loaded: Benchmark) -> tuple[str, ...]:
    """Return the metrics of all answers together that are wanted."""
    if settings.corpus_metrics is None:
        return tuple(metric for metric in loaded.corpus_metrics if metric != "mauve")
    return loaded.corpus_metrics if settings.corpus_metrics else ()


def _chooser(settings: BenchmarkConfig, split_by: SplitBy) -> Callable[[Question], bool] | None:
    """Return which questions may be asked; None for all."""
    tests: list[Callable[[Question], bool]] = []
    if settings.untouched_by is not None:
        split_of = split_by(settings.untouched_by)
        tests.append(lambda question: split_of(question) == settings.part)
    if settings.answerable:
        from ras_flow.evaluation.graphs import knows_answer  # noqa: PLC0415

        tests.append(knows_answer(settings))
    return (lambda question: all(test(question) for test in tests)) if tests else None


def _splitter(path: Path) -> Callable[[Question], Split | None]:
    """Return the split of questions in a training: by text and pages, or for facts by topic."""
    tables = load_toml(path)
    if any("graphs" in one for one in tables.get("sets", ())):
        from ras_flow.training.retriever.supervise import Mix  # noqa: PLC0415

        mix: Mix = checked(Mix, tables, str(path))
        return lambda one: mix.of(normalize_name(one.entities[0] if one.entities else one.question))
    apart = read_apart(path)
    return lambda one: apart(one.question, one.pages)


def _has_titles(index: str, pool: Sequence[Document] | None) -> bool:
    """Tell whether what is searched has titles, as far as that can be seen before a search."""
    if pool is not None:
        return not pool or any(document.get("title") for document in pool)
    if index == DEMO or is_engine(index):
        return True
    from ras_flow.indexes import CorpusIndex  # noqa: PLC0415

    try:
        passages = CorpusIndex.open(index).passages
    except IndexMissingError:
        return True  # The search will say that it is missing.
    return not passages or any(passage["title"] for passage in islice(passages, _LOOKED_AT))


async def prepare_index(
    settings: BenchmarkConfig, benchmark: Benchmark, context: Context, folder: Path
) -> str:
    """Make the index over the documents of all the file's questions, where that is searched."""
    if settings.index != POOL:
        return settings.index
    documents = benchmark.pool
    if not documents:
        raise ConfigurationError(
            f"benchmarks.{settings.name}: its questions bring no documents to search: name an "
            '`index`, a folder or "demo".'
        )
    from ras_flow.indexes.sync import sync_index  # noqa: PLC0415
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder  # noqa: PLC0415

    encoder = None if context.retriever == "bm25" else LocalSentenceEncoder(context.encoder)
    kind = "bm25" if encoder is None else sha256(context.encoder.encode()).hexdigest()[:8]
    path = folder / f"{settings.name}-{kind}"
    sources = [
        SourceDocument(f"{number:06d}", document.get("title", ""), document["text"])
        for number, document in enumerate(documents)
    ]
    await sync_index(path, sources, encoder)
    return str(path)
