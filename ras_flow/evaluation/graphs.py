"""The knowledge graphs of an evaluation: those that its settings name or its questions bring."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.config import DEMO, OWN, POOL, BenchmarkConfig
from ras_flow.evaluation.question import Benchmark, Question
from ras_flow.formats.node_ids import default_name
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.kg.read import Faults, Row, read_triples
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.files import checksum, write_whole

UNCUT = 20_000
"""Facts up to which a graph is searched whole; a larger one needs vectors of its relations."""

_FILES = (".tsv", ".jsonl", ".nt", ".nq", ".ttl")
"""Endings of files of triples, which a graph is built of."""


async def prepare_graph(
    settings: BenchmarkConfig,
    benchmark: Benchmark,
    folder: Path,
    encoder: Callable[[], SentenceEncoder],
) -> str | Mapping[str, str]:
    """Return where a benchmark's graph is, or each question's own; graphs of triples are built.

    Unanswerable questions, which are a benchmark of their own, have theirs among these.
    """
    kg, where = settings.kg, f"benchmarks.{settings.name}"
    if kg is None:
        raise ConfigurationError(
            f"{where}: a system searches a knowledge graph: set `kg` to a folder, a file of "
            'triples, "demo", or "pool" or "own" for the graphs that come with the questions.'
        )
    if kg in (POOL, OWN) and not any(one.graph for one in benchmark.questions):
        raise ConfigurationError(f"{where}: kg = {kg!r}, but its questions bring no graphs.")
    place = folder / f"{settings.name}-kg"
    if kg == POOL:
        return await _build(place, _written(place, benchmark.facts), encoder)
    if kg == OWN:
        own = {}
        for at, one in enumerate([*benchmark.questions, *benchmark.unanswerable]):
            if one.graph:
                beside = place / f"{at:06d}"
                own[one.id] = await _build(beside, _written(beside, one.graph), encoder)
        return own
    return await _build(place, Path(kg), encoder, settings.split) if _is_file(kg) else kg


def knows_answer(settings: BenchmarkConfig) -> Callable[[Question], bool]:
    """Return a test of whether a question's graph has one of its answers."""
    if settings.kg in (POOL, OWN):
        return lambda question: _has(_names(question.graph), question)
    if settings.kg is None or settings.kg == DEMO:
        raise ConfigurationError(
            f"benchmarks.{settings.name}: answerable = true needs `kg`, another one than the demo."
        )
    if _is_file(settings.kg):
        rows = _rows(Path(settings.kg), settings.split)
        known = _names((default_name(s), p, default_name(o)) for s, p, o, _ in rows)
        return lambda question: _has(known, question)
    from ras_flow.kg.store import KnowledgeGraph  # noqa: PLC0415

    graph = KnowledgeGraph.open(settings.kg)
    return lambda question: any(graph.named_all(question.answers))


async def _build(
    place: Path,
    source: Path,
    encoder: Callable[[], SentenceEncoder],
    kb: str | None = None,
) -> str:
    """Build a graph of a file of triples, or of one part of it, unless it is there."""
    from ras_flow.kg.build import build_kg  # noqa: PLC0415

    mark = place.with_name(f"{place.name}.source")
    state = await asyncio.to_thread(checksum, source)
    state += f" {kb}" if kb else ""
    if not (mark.is_file() and mark.read_text(encoding="utf-8") == state):
        place.parent.mkdir(parents=True, exist_ok=True)
        read = await asyncio.to_thread(lambda: list(islice(_rows(source, kb), UNCUT + 1)))
        vectors = encoder() if len(read) > UNCUT else None
        await build_kg(place, [source], kb=kb, encoder=vectors)
        write_whole(mark, state)
    return str(place)


def _rows(source: Path, kb: str | None) -> Iterator[Row]:
    return read_triples([source], Faults(skip=True), kb)


def _written(place: Path, facts: Iterable[Spo]) -> Path:
    """Write triples into a file beside the graph that is to be built of them."""
    path = place.with_name(f"{place.name}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps({"triple": fact}, ensure_ascii=False) for fact in facts)
    write_whole(path, "".join(f"{row}\n" for row in rows))
    return path


def _is_file(kg: str) -> bool:
    return Path(kg.removesuffix(".gz")).suffix.lower() in _FILES


def _names(facts: Iterable[Spo]) -> set[str]:
    return {normalize_name(name) for subject, _, object in facts for name in (subject, object)}


def _has(names: set[str], question: Question) -> bool:
    return any(normalize_name(answer) in names for answer in question.answers)
