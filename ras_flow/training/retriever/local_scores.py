"""A local model as the refiner: too small for figure 6's prompt, it says yes or no to a path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.llms.local.compute import run_in_lane
from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import SMOLLM2, fingerprint
from ras_flow.support.extras import require
from ras_flow.training.retriever.refining import Case, ScoredRefiner

_ASK = """\
Question: {question}
Answer: {answer}
Path: {path}
Is this path what the question asks for? Reply with yes or no."""


class LocalRefiner(ScoredRefiner):
    """Scores a path by the log-odds of "Yes" against "No"."""

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
        answer = ", ".join(case.answers)
        asked = as_plain_text(
            _ASK.format(question=case.question, answer=answer, path=path), tokenizer
        )
        written = chat_text(tokenizer, [{"role": "user", "content": asked}])
        yes, no, ids = (
            tokenizer.encode(text, add_special_tokens=False) for text in ("Yes", "No", written)
        )
        with torch.inference_mode():
            last = model(torch.tensor([ids], device=model.device)).logits[0, -1]
        return float(last[yes[0]] - last[no[0]])
