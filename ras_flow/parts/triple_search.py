"""What finds passages by their triples: a stored index, or a search that extracts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore

from ras_flow.errors import ConfigurationError, IndexMismatchError, IndexMissingError
from ras_flow.parts import named
from ras_flow.parts.protocols import TripleRetriever
from ras_flow.settings.context import NO_EXTRACTOR, Context
from ras_flow.state.schema import Passage
from ras_flow.triples.cache import TripleCache
from ras_flow.triples.lazy import LazyTripleRetriever

if TYPE_CHECKING:
    from ras_flow.parts.chosen import Parts


async def open_triple_search(
    parts: Parts, context: Context, store: BaseStore | None, given: Sequence[Passage] | None
) -> TripleRetriever:
    """Open it; see :meth:`ras_flow.parts.source.PartsSource.get_triple_retriever`."""
    has_documents, has_graph = parts.has_documents(context), parts.has_knowledge(context)
    if parts.keeps_text(context) and (has_documents or given is not None):
        raise ConfigurationError(
            f"A search for triples needs an extractor, and {NO_EXTRACTOR!r} extracts none: "
            "name one, or leave the setting out."
        )
    extractor = await parts.get_extractor(context)
    encoder = parts.encoder
    if encoder is None:
        encoder = await asyncio.to_thread(named.encoder_of, context)
    cache = TripleCache(store, extractor.identity)
    if given is not None:
        return LazyTripleRetriever(given, extractor, cache, encoder)
    if has_documents and has_graph:
        raise ConfigurationError(
            "A search for triples is one of documents or of a knowledge graph: leave out the "
            "documents or `kg`."
        )
    wanted, warnings = getattr(context, "triple_index", "auto"), list[str]()
    has_index = has_documents and parts.retriever is None
    if wanted == "stored" and not has_index:
        raise ConfigurationError(
            'A retriever or a knowledge graph has no stored triples: use triple_index="lazy", or '
            "name an index in place of it."
        )
    if wanted != "lazy" and has_index:
        try:
            return await named.open_triples_of(context, extractor.identity, encoder)
        except (IndexMissingError, IndexMismatchError) as error:
            if wanted == "stored":
                raise
            warnings += [str(error)] * isinstance(error, IndexMismatchError)
    retriever = await parts.get_retriever(context)
    return LazyTripleRetriever(retriever, extractor, cache, encoder, warnings)
