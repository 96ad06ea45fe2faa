"""The parts that a Context names: each is made once a process, and shared by all runs.

A folder that is rewritten, by training for example, is another model from the next step on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeVar, cast

from ras_flow.demo.index import demo_index, demo_propositions
from ras_flow.demo.triples import DemoExtractor
from ras_flow.documents.index_folders import MANIFEST
from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import FEW_FACTS
from ras_flow.graph_llm.export import PART, read_export
from ras_flow.graph_llm.roles import GraphAnswerer, GraphLLMSource, GraphPlanner
from ras_flow.graph_llm.served import ServedGraphLLM, find_export
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.indexes import open_retriever
from ras_flow.indexes.propositions.index import proposition_folder
from ras_flow.indexes.propositions.retriever import open_propositions
from ras_flow.llms import load_language_model
from ras_flow.llms.local.shipped import is_default
from ras_flow.llms.local.tuned import HOP, extractor_name, hop_reader_name, is_trained_for
from ras_flow.llms.local.weights import fingerprint
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.chain_ends import ChainEnds
from ras_flow.parts.prompted import (
    KeptText,
    PromptedAnswerer,
    PromptedHopReader,
    PromptedPlanner,
    make_extractor,
)
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    HopReader,
    LanguageModel,
    Planner,
    Retriever,
    TripleRetriever,
)
from ras_flow.parts.protocols import SentenceEncoder as Encoder
from ras_flow.parts.records import Reading
from ras_flow.settings.context import (
    CHAIN_ENDS,
    DEFAULT_MODEL,
    DEMO_INDEX,
    NO_EXTRACTOR,
    Context,
    Loop,
)
from ras_flow.support.concurrency import PerLoop
from ras_flow.support.paths import path_named

HOP_READING = Reading(top_k=2, max_hops=3, min_score=0.4, kg_triples=FEW_FACTS)
"""How much models that were trained to read a hop in one call read best."""

T = TypeVar("T")


def _shared(most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Keep what a function made for the same arguments, and make it once.

    Two threads that miss an ordinary cache at once would each make their own: two models in
    memory, or twice the requests at once that a server takes.
    """

    def keeping(make: Callable[..., T]) -> Callable[..., T]:
        cached, making = lru_cache(maxsize=most)(make), RLock()

        @wraps(make)
        def kept(*arguments: Hashable, **more: Hashable) -> T:
            with making:
                return cached(*arguments, **more)

        return kept

    return keeping


def planner_of(context: Context) -> Planner:
    """Return the planner: a Graph LLM, or a prompted language model (§3.1)."""
    if graph_llm := _graph_llm(context, context.planner):
        return GraphPlanner(graph_llm)
    return PromptedPlanner(_model(context, context.planner))


def extractor_of(context: Context) -> Extractor:
    """Return the extractor f_t2t, or the one that keeps passages as text (§3.2)."""
    if context.extractor == NO_EXTRACTOR:
        return KeptText()
    if not is_default(context.extractor) and _graph_llm(context, context.extractor):
        raise ConfigurationError(
            f"{context.extractor!r} is a Graph LLM, which plans and answers but extracts no "
            "triples. Name another model as the extractor."
        )
    name = extractor_name(context.extractor)
    if is_trained_for(name, HOP):  # It extracts nothing; what the default one extracted is kept.
        name = extractor_name(DEFAULT_MODEL)
    model = _model(context, name)
    extractor = make_extractor(model, context.extractor_output, together=context.loop != "paper")
    return DemoExtractor(extractor) if context.index == DEMO_INDEX else extractor


def answerer_of(context: Context) -> Answerer:
    """Return the answerer: a Graph LLM, or a prompted language model (§3.3); or one without."""
    if context.answerer == CHAIN_ENDS:
        return ChainEnds()
    if graph_llm := _graph_llm(context, context.answerer):
        return GraphAnswerer(graph_llm)
    return PromptedAnswerer(_model(context, context.answerer))


def loop_of(context: Context, *, knowledge: bool) -> Loop:
    """Return the loop that is asked for, or one call a hop where one model in all roles can do it.

    Chat models can. So can models that were trained to, unless a knowledge graph is searched: they
    would read too many of its facts at once.
    """
    if context.loop is not None:
        return context.loop
    [name, *others] = {context.planner, context.extractor, context.answerer}
    kind = name.partition(":")[0]
    if others or (kind == "vllm" and _graph_llm(context, name)):
        return "paper"
    can = kind != "local" or (not knowledge and is_trained_for(hop_reader_name(name), HOP))
    return "one_call" if can else "paper"


def hop_reader_of(context: Context) -> HopReader:
    """Return the language model of every role, as the reader of a hop."""
    name = hop_reader_name(context.planner)
    if len({context.planner, context.extractor, context.answerer}) > 1:
        raise ConfigurationError(
            'loop="one_call" takes one model for planner, extractor and answerer: name the same '
            'for all three, or use loop="paper".'
        )
    if _graph_llm(context, name):
        raise ConfigurationError(
            f'{name!r} is a Graph LLM, which works in the paper\'s loop: use loop="paper", or name '
            "a chat model."
        )
    return PromptedHopReader(_model(context, name), context.extractor_output, context.reads)


def reading_of_answerer(context: Context) -> Reading:
    """Return how much the answerer reads best, without loading it."""
    if local := find_graph_llm(context.answerer):
        return local.config.reading
    if is_trained_for(context.answerer, HOP):
        return HOP_READING
    if context.answerer == CHAIN_ENDS:
        return ChainEnds.reading
    export = find_export(context.answerer)
    return Reading() if export is None else read_export(export).config.reading


def _graph_llm(context: Context, name: str) -> GraphLLMSource | None:
    if local := find_graph_llm(name):
        return local
    folder = find_export(name)
    if folder is None:
        return None
    return _served_graph_llm(folder, fingerprint(str(folder / PART)), **_remote(context))


@_shared(32)
def _served_graph_llm(folder: Path, files: str, **remote: Any) -> GraphLLMSource:
    """Make one for what a folder's files are now."""
    return ServedGraphLLM(folder, **remote)


def model_of(name: str, context: Context) -> LanguageModel:
    """Return a language model that plays none of the roles."""
    if not is_default(name) and _graph_llm(context, name):
        raise ConfigurationError(
            f"{name!r} is a Graph LLM, which plans and answers only. Name a language model here, "
            "for example the one that it was trained from."
        )
    return _model(context, name)


def _model(context: Context, name: str) -> LanguageModel:
    kind, _, path = name.partition(":")
    files = fingerprint(path) if path and kind in ("local", "vllm") else ""
    return _load_model(name, files, window=context.model_window, **_remote(context))


@_shared(32)
def _load_model(name: str, files: str, **settings: Any) -> LanguageModel:
    """Make one for what a folder's files are now."""
    return load_language_model(name, **settings)


def _remote(context: Context) -> dict[str, Any]:
    """Return how model servers are called."""
    return {
        "base_url": context.base_url,
        "timeout": context.model_timeout,
        "max_retries": context.max_retries,
        "max_concurrency": context.max_concurrency,
    }


@_shared(8)
def _encoder(name: str) -> LocalSentenceEncoder:
    return LocalSentenceEncoder(name)


def encoder_of(context: Context) -> LocalSentenceEncoder:
    """Return the sentence encoder of dense retrieval."""
    return _encoder(context.encoder)


def attribute_encoder_of(context: Context, models: Sequence[str]) -> LocalSentenceEncoder:
    """Return the sentence encoder of the graph's attributes (eq. 5)."""
    encoder = _encoder(context.encoder)
    for model in models:
        graph_llm = _graph_llm(context, model)
        if graph_llm is None or not graph_llm.takes_soft_tokens:
            continue
        if not graph_llm.config.reads(encoder.identity):
            return _encoder(graph_llm.config.encoder_name)
    return encoder


_openings: PerLoop[dict[Hashable, asyncio.Task[Any]]] = PerLoop(dict)


async def _in_one_thread(what: Hashable, open: Callable[[], T]) -> T:
    """Open something in a thread; all that wait for the same take this one."""
    here = _openings.current()
    if what not in here:
        here[what] = asyncio.create_task(asyncio.to_thread(open))
        here[what].add_done_callback(lambda _: here.pop(what))
    return cast(T, await asyncio.shield(here[what]))


async def open_retriever_of(context: Context) -> Retriever:
    """Return the retriever as :func:`retriever_of` does."""
    what = (context.index, context.retriever, context.encoder)
    return await _in_one_thread(what, lambda: retriever_of(context))


async def open_triples_of(context: Context, extractor: str, encoder: Encoder) -> TripleRetriever:
    """Return what searches the index's propositions as :func:`stored_triples_of` does."""
    what = (context.index, context.retriever, context.encoder, extractor, id(encoder))
    return await _in_one_thread(what, lambda: stored_triples_of(context, extractor, encoder))


def retriever_of(context: Context) -> Retriever:
    """Return the retriever of the index as it is now; the first call opens it."""
    with _index(context) as (path, encoder):
        return _current(
            (path, context.retriever, encoder),
            _version(path),
            lambda: open_retriever(path, context.retriever, encoder),
        )


def stored_triples_of(context: Context, extractor: str, encoder: Encoder) -> TripleRetriever:
    """Return what searches the index's propositions as they are now."""
    with _index(context) as (path, _):
        folder = proposition_folder(path, extractor)
        if context.index == DEMO_INDEX and not (folder / MANIFEST).exists():
            asyncio.run(demo_propositions(path, extractor, encoder))
        return _current(
            (path, extractor, encoder.identity),
            (_version(path), _version(folder)),
            lambda: open_propositions(path, extractor, encoder),
        )


@contextmanager
def _index(context: Context) -> Iterator[tuple[Path, LocalSentenceEncoder | None]]:
    """Give an index's folder and its encoder, to one thread at a time."""
    if context.index is None:
        raise ConfigurationError(
            "There are no documents to search. Set `index` to a folder that `ras-flow index build` "
            'made (or "demo", to try the demo corpus), build the graph with a retriever, or pass '
            '`documents` with planning="static" to answer from these alone.'
        )
    encoder = None if context.retriever == "bm25" else encoder_of(context)
    with _opening(context.index, encoder):
        if context.index == DEMO_INDEX:
            path = _demo_path(encoder)
            if not (path / MANIFEST).exists():  # The cache was cleaned since.
                _demo_path.cache_clear()
                path = _demo_path(encoder)
        else:
            path = path_named(context.index)
        yield path, encoder


def _version(folder: Path) -> int:
    """Return when an index was written last; 0 if it does not exist."""
    manifest = path_named(str(folder / MANIFEST))
    return manifest.stat().st_mtime_ns if manifest.exists() else 0


@lru_cache(maxsize=64)
def _opening(index: str, encoder: Encoder | None) -> Lock:
    """Return what makes one thread at a time open an index; others are opened meanwhile."""
    return Lock()


@lru_cache(maxsize=8)
def _demo_path(encoder: Encoder | None) -> Path:
    return asyncio.run(demo_index(encoder))


def _current(what: tuple[Hashable, ...], version: Hashable, open: Callable[[], T]) -> T:
    """Return what was opened at this version, or open it: the last alone, which holds files."""
    opened = _opened(what)
    if version not in opened:
        opened.clear()
        opened[version] = open()
    return cast(T, opened[version])


@lru_cache(maxsize=16)
def _opened(what: tuple[Hashable, ...]) -> dict[Hashable, object]:
    """Keep what was opened, by its version."""
    return {}
