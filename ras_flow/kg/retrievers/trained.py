"""A trained retriever as runs use it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError
from ras_flow.kg.retrievers.batch import Item, Placed, Texts, place, stack
from ras_flow.kg.retrievers.checkpoint import load
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.local.compute import run_in_lane
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.protocols import SentenceEncoder


class TrainedRetriever:
    """Scores facts by a model that was trained on labels."""

    def __init__(self, folder: Path, encoder: SentenceEncoder) -> None:
        self.manifest, model = load(folder)
        self._model: Any = model
        if self.manifest.model.kind != "lm" and not same_encoder(
            self.manifest.encoder, encoder.identity
        ):
            raise ConfigurationError(
                f"The retriever in {str(folder)!r} was trained with the sentence encoder "
                f"{self.manifest.encoder!r}; this run has {encoder.identity!r}. Name that encoder, "
                "or another retriever."
            )
        self.identity = self.manifest.identity
        self._encoder = encoder

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        """Score facts, each question alone."""
        texts, settings = Texts(), self.manifest.model
        if settings.kind == "lm":
            asked = zip(questions, subgraphs, strict=True)
            return [await run_in_lane(partial(self._model.score_facts, *one)) for one in asked]
        rows = [texts.add(question) for question in questions]
        placed = [
            await asyncio.to_thread(
                place,
                graph,
                texts,
                rounds=settings.rounds,
                named=settings.entity_text and settings.kind != "path",
            )
            for graph in subgraphs
        ]
        vectors = await self._encoder.encode(list(texts.rows))
        return await asyncio.to_thread(self._scores, rows, placed, subgraphs, vectors)

    def _scores(
        self,
        rows: list[int],
        placed: list[Placed],
        subgraphs: Sequence[Subgraph],
        vectors: npt.NDArray[np.float32],
    ) -> list[npt.NDArray[np.float32]]:
        import torch  # noqa: PLC0415

        found: list[npt.NDArray[np.float32]] = []
        with torch.inference_mode():
            for row, graph, whole in zip(rows, placed, subgraphs, strict=True):
                if not len(whole):
                    found.append(np.zeros(0, dtype=np.float32))
                    continue
                if self.manifest.model.kind == "path":
                    from ras_flow.kg.retrievers.path import score_facts  # noqa: PLC0415

                    asked, relations = vectors[row], vectors[graph.relations]
                    scores = score_facts(
                        self._model, torch.from_numpy(asked), torch.from_numpy(relations), whole
                    )
                    found.append(scores)
                    continue
                batch: dict[str, Any] = stack([Item(row, graph)], vectors)
                found.append(self._model(**batch)["scores"].float().numpy())
        return found
