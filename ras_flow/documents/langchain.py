"""Documents that LangChain's document loaders make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.documents.source import SourceDocument

if TYPE_CHECKING:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document


def from_langchain(documents: BaseLoader | Iterable[Document]) -> Iterator[SourceDocument]:
    """Take documents of LangChain into an index.

    Args:
        documents: A document loader, which is read as it goes, or the documents of one. Their
            metadata's ``source`` names each, ``title`` titles it; without a title, a file's name
            does. Several of one source are told apart by their ``page``, or by a number.

    Yields:
        The documents that have a text, for ``CorpusIndex.build`` and ``CorpusIndex.update``.
    """
    from langchain_core.document_loaders import BaseLoader  # noqa: PLC0415

    if isinstance(documents, BaseLoader):
        documents = documents.lazy_load()
    count: Counter[str] = Counter()
    for document in documents:
        if not document.page_content.strip():
            continue
        said = document.metadata
        source = str(said.get("source") or "document")
        place = f"page={page + 1}" if isinstance(page := said.get("page"), int) else ""
        count[f"{source}#{place}"] += 1
        number = count[f"{source}#{place}"]
        if not place or number > 1:
            place += f"{'.' if place else ''}{number}"
        title = str(said.get("title") or Path(source).stem)
        yield SourceDocument(f"{source}#{place}", title, document.page_content)
