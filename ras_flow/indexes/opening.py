"""From a path to a retriever, and to the settings of a run that searches it."""

from __future__ import annotations

import os
from pathlib import Path

from ras_flow.indexes.engines.config import is_engine, read_engine
from ras_flow.indexes.index import CorpusIndex
from ras_flow.indexes.manifest import read_manifest
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import Retriever, SentenceEncoder
from ras_flow.settings.context import DEMO_INDEX, RetrieverKind


def is_demo(index: Path) -> bool:
    """Tell whether a name means the demo's index, and not a folder of that name."""
    return str(index) == DEMO_INDEX and not index.exists()


def settings_of(index: Path) -> dict[str, str]:
    """Return the settings that fit an index: its place, and its encoder or BM25."""
    if is_demo(index):
        return {"index": DEMO_INDEX}
    settings = {"index": os.path.realpath(index)}
    if is_engine(index):
        name = read_engine(index).encoder
    elif (record := read_manifest(index).encoder) is None:
        return {**settings, "retriever": "bm25"}
    else:
        name = record.identity.rpartition("@")[0]
    return {**settings, "encoder": name} if name else settings


def open_retriever(
    path: str | Path, kind: RetrieverKind = "hybrid", encoder: SentenceEncoder | None = None
) -> Retriever:
    """Open an index for retrieval (eq. 3); call it in a thread from async code."""
    if is_engine(path):
        from ras_flow.indexes.engines.retriever import open_engine  # noqa: PLC0415

        return open_engine(path, kind, encoder or LocalSentenceEncoder())
    if kind == "bm25":
        return CorpusIndex.open(path).retriever(kind)
    return CorpusIndex.open(path, encoder=encoder or LocalSentenceEncoder()).retriever(kind)
