"""Refiners: who chooses among a question's candidate paths (§4.1).

``gold`` and ``none`` choose nothing; see :mod:`.labels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ras_flow.kg.subgraph import Subgraph
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.parts.protocols import LanguageModel, SentenceEncoder
from ras_flow.prompts.refiner import AGAIN, EXAMPLE, INSTRUCTION, case_text, chosen
from ras_flow.training.retriever.merging import Candidate, write_path

CHUNK = 60
"""Paths of one prompt."""

_MOST_TOKENS = 600


@dataclass(frozen=True)
class Case:
    """A question whose candidates are to be judged."""

    question: str
    answers: Sequence[str]
    graph: Subgraph
    candidates: Sequence[Candidate]

    def texts(self) -> list[str]:
        """Return the candidates as they are shown."""
        return [write_path(self.graph, one.shown) for one in self.candidates]


class Refiner(Protocol):
    """Chooses candidates."""

    name: str
    """What cards and reports call it."""

    async def choose(self, case: Case) -> list[int] | None:
        """Return the candidates that it chooses; None where its replies cannot be used."""
        ...


class PromptedRefiner:
    """Any language model, asked as in figure 6."""

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.identity
        self._model = model

    async def choose(self, case: Case) -> list[int] | None:
        """Ask once a chunk of candidates, and once more where a reply names none."""
        texts, found, heard = case.texts(), [], False
        for start in range(0, len(texts), CHUNK):
            some = texts[start : start + CHUNK]
            asked = case_text(case.question, case.answers, some)
            for text in (asked, asked + AGAIN):
                [made] = await self._model.generate(
                    [ask(few_shot(INSTRUCTION, [EXAMPLE]), text)], max_new_tokens=_MOST_TOKENS
                )
                picked = chosen(made.text, len(some))
                if picked is not None:
                    heard = True
                    found += [start + at for at in picked]
                    break
        return found if heard else None


class ScoredRefiner:
    """Chooses for each entity of a question the path to an answer that scores highest."""

    name = "similarity"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    async def choose(self, case: Case) -> list[int]:
        """Choose by the scores."""
        paths = [at for at, one in enumerate(case.candidates) if one.shown.kind == "path"]
        texts = case.texts()
        scores = await self.score(case, [texts[at] for at in paths])
        best: dict[int, tuple[float, int]] = {}
        for at, score in zip(paths, scores, strict=True):
            query = case.candidates[at].shown.query
            best[query] = max(best.get(query, (-np.inf, 0)), (float(score), -at))
        return sorted(-at for _, at in best.values())

    async def score(self, case: Case, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return how near each path is to the question."""
        vectors = await self._encoder.encode([case.question, *texts])
        near: npt.NDArray[np.float32] = vectors[1:] @ vectors[0]
        return near
