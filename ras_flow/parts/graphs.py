"""The knowledge graph and the retriever of its facts that a Context names; each is opened once."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path

from ras_flow.documents.index_folders import MANIFEST
from ras_flow.errors import ConfigurationError
from ras_flow.parts.named import encoder_of
from ras_flow.parts.protocols import FactRetriever, KnowledgeSource, SentenceEncoder
from ras_flow.settings.context import DEMO_INDEX, Context
from ras_flow.support.paths import path_named


def knowledge_of(context: Context) -> KnowledgeSource:
    """Return the knowledge graph as it is now; the first call opens it."""
    if context.kg is None:
        raise ConfigurationError(
            "Name a knowledge graph to answer from: set `kg` to a folder that `ras-flow kg "
            'build` made (or "demo", to try the demo graph).'
        )
    if context.kg == DEMO_INDEX:
        from ras_flow.demo.kg import demo_kg  # noqa: PLC0415

        path = asyncio.run(demo_kg())
    else:
        path = path_named(context.kg)
    described = path / MANIFEST if path.is_dir() else path
    changed = described.stat().st_mtime_ns if described.exists() else 0
    return _opened(path, changed, encoder_of(context))


@lru_cache(maxsize=8)
def _opened(path: Path, _changed: int, encoder: SentenceEncoder) -> KnowledgeSource:
    from ras_flow.kg.source import open_source  # noqa: PLC0415

    return open_source(path, lambda: encoder)


def fact_retriever_of(context: Context) -> FactRetriever:
    """Return the retriever of facts."""
    from ras_flow.kg.retrievers.opening import open_retriever  # noqa: PLC0415

    return open_retriever(context.kg_retriever, encoder_of(context))
