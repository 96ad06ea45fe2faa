"""Fact retrievers by name."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError
from ras_flow.kg.retrievers.checkpoint import NAME, load
from ras_flow.kg.retrievers.similarity import SimilarityRetriever
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.local.joining import run_in_lane
from ras_flow.llms.local.shipped import WEIGHTS, is_default
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.protocols import FactRetriever, SentenceEncoder
from ras_flow.settings.context import SIMILARITY
from ras_flow.support.paths import path_named

SHIPPED = WEIGHTS / "reg"
"""Where the package keeps its own retriever."""


class TrainedRetriever:
    """Scores facts by a model that was trained on labels."""

    def __init__(self, folder: Path, encoder: SentenceEncoder) -> None:
        self.manifest, self._model = load(folder)
        wanted = self.manifest.encoder
        if self.manifest.model.kind != "lm" and not same_encoder(wanted, encoder.identity):
            raise ConfigurationError(
                f"The retriever in {str(folder)!r} was trained with the sentence encoder "
                f"{wanted!r}; this run has {encoder.identity!r}. Name that encoder, or another "
                "retriever."
            )
        self.identity = self.manifest.identity
        self._encoder = encoder

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        """Score facts, each question alone."""
        found = []
        for question, graph in zip(questions, subgraphs, strict=True):
            texts = self._model.texts(question, graph)
            vectors = dict(zip(texts, await self._encoder.encode(texts), strict=True))
            work = partial(self._model.score_facts, question, graph, vectors)
            found.append(await run_in_lane(work))
        return found


def open_retriever(name: str, encoder: SentenceEncoder) -> FactRetriever:
    """Return the retriever that a name means: ``similarity``, ``local:default``, ``local:FOLDER``.

    A folder is read once, and again after it was written anew.
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
    written = max(file.stat().st_mtime_ns for file in folder.iterdir())
    return _opened(folder.resolve(), written, cast(Hashable, encoder))


@lru_cache(maxsize=8)
def _opened(folder: Path, _written: int, encoder: Hashable) -> TrainedRetriever:
    return TrainedRetriever(folder, cast(SentenceEncoder, encoder))
