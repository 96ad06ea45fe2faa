"""Refiners: who chooses among a question's candidate paths (§4.1).

``gold`` and ``none`` choose nothing; see :mod:`.labels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.llms.local.joining import run_in_lane
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import SMOLLM2, fingerprint
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.parts.protocols import LanguageModel, SentenceEncoder
from ras_flow.prompts.refiner import AGAIN, EXAMPLE, INSTRUCTION, case_text, chosen
from ras_flow.support.extras import require
from ras_flow.training.retriever.pool import Candidate, write_path

Joining = Literal["union", "intersection"]

CHUNK = 60
"""Paths of one prompt."""

_MOST_TOKENS = 600

_YES_OR_NO = """\
Question: {question}
Answer: {answer}
Path: {path}
Is this path what the question asks for? Reply with yes or no."""


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
    """Chooses candidates; cards and reports call it by its ``name``."""

    name: str

    async def choose(self, case: Case) -> list[int] | None:
        """Return the candidates that it chooses; None where its replies cannot be used."""


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


class JoinedRefiner:
    """Chooses what any, or what all, of several refiners choose whose replies can be used."""

    def __init__(self, how: Joining, refiners: Sequence[Refiner]) -> None:
        self.name = f"{how}({', '.join(one.name for one in refiners)})"
        self._join = set[int].union if how == "union" else set[int].intersection
        self._refiners = refiners

    async def choose(self, case: Case) -> list[int] | None:
        """Ask each of them."""
        made = [await one.choose(case) for one in self._refiners]
        usable = [set(some) for some in made if some is not None]
        return sorted(self._join(*usable)) if usable else None


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


class LocalRefiner(ScoredRefiner):
    """A local model, too small for figure 6's prompt: the log-odds of "Yes" against "No"."""

    def __init__(self, name: str) -> None:
        self._name = SMOLLM2 if name in ("", "default") else name
        self.name = f"local:{fingerprint(self._name)}, scored"

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return read_model(self._name), load_tokenizer(self._name, chat=True)

    async def score(self, case: Case, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return each path's log-odds."""
        return await run_in_lane(lambda: np.array([self._odds(case, text) for text in texts]))

    def _odds(self, case: Case, path: str) -> float:
        torch = require("torch", extra="local")
        model, tokenizer = self._loaded
        asked = _YES_OR_NO.format(question=case.question, answer=", ".join(case.answers), path=path)
        asked = as_plain_text(asked, tokenizer)
        written = chat_text(tokenizer, [{"role": "user", "content": asked}])
        yes, no, ids = (
            tokenizer.encode(text, add_special_tokens=False) for text in ("Yes", "No", written)
        )
        with torch.inference_mode():
            last = model(torch.tensor([ids], device=model.device)).logits[0, -1]
        return float(last[yes[0]] - last[no[0]])
