"""The demo knowledge graph, built in the cache on first use and again when it is damaged."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

from ras_flow.demo import GRAPH
from ras_flow.errors import CorpusIndexError
from ras_flow.kg.build import build_kg
from ras_flow.kg.store import KnowledgeGraph
from ras_flow.support.paths import cache_folder


async def demo_kg() -> Path:
    """Return the folder of the demo graph."""
    with as_file(files("ras_flow.demo") / GRAPH) as triples:
        content = await asyncio.to_thread(triples.read_bytes)
        path = cache_folder() / "graphs" / sha256(content).hexdigest()[:16] / "demo"
        try:
            await asyncio.to_thread(KnowledgeGraph.open, path)
        except CorpusIndexError:
            await build_kg(path, [triples])
    return path
