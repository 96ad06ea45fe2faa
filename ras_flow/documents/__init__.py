"""Documents: files read into texts, and texts split into passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.documents.langchain import from_langchain
    from ras_flow.documents.reading import ReadReport, read_documents
    from ras_flow.documents.source import SourceDocument
    from ras_flow.documents.split import split_text

_HOMES = {
    "ReadReport": "reading",
    "SourceDocument": "source",
    "from_langchain": "langchain",
    "read_documents": "reading",
    "split_text": "split",
}

__all__ = ["ReadReport", "SourceDocument", "from_langchain", "read_documents", "split_text"]

__getattr__ = load_on_use(__name__, _HOMES)
