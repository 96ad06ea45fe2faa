"""Fact retrievers by name."""

from __future__ import annotations

from ras_flow.errors import ConfigurationError
from ras_flow.kg.retrievers.checkpoint import NAME
from ras_flow.kg.retrievers.similarity import SimilarityRetriever
from ras_flow.kg.retrievers.trained import TrainedRetriever
from ras_flow.llms.local.shipped import WEIGHTS, is_default
from ras_flow.parts.protocols import FactRetriever, SentenceEncoder
from ras_flow.support.paths import path_named

SHIPPED = WEIGHTS / "reg"
"""Where the package keeps its own retriever."""

SIMILARITY = "similarity"


def open_retriever(name: str, encoder: SentenceEncoder) -> FactRetriever:
    """Return the retriever that a name means: ``similarity``, ``local:default``, ``local:FOLDER``.

    A trained one is read from its folder each time.
    """
    if name == SIMILARITY:
        return SimilarityRetriever(encoder)
    kind, _, path = name.partition(":")
    folder = SHIPPED if is_default(name) else path_named(path)
    if kind != "local" or not (folder / NAME).is_file():
        raise ConfigurationError(
            f"{name!r} is not a retriever of facts. Name local:default, similarity, or local: with "
            "a folder that `ras-flow train retriever` wrote."
        )
    return TrainedRetriever(folder, encoder)
