"""A local model as the refiner: too small for figure 6's prompt, it says yes or no to a path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.llms.local.compute import run_in_lane
from ras_flow.llms.local.generation import chat_text
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

_AT_ONCE = 16


class LocalRefiner(ScoredRefiner):
    """Scores a path by the log-odds of "yes"."""

    def __init__(self, name: str) -> None:
        self._name = SMOLLM2 if name in ("", "default") else name
        self.name = f"local:{fingerprint(self._name)}, scored"

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        tokenizer = load_tokenizer(self._name, chat=True)
        return read_model(self._name), tokenizer

    async def score(self, case: Case, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return each path's log-odds of "yes" against "no"."""
        return await run_in_lane(lambda: self._scores(case, texts))

    def _scores(self, case: Case, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        torch = require("torch", extra="local")
        model, tokenizer = self._loaded
        answer = ", ".join(case.answers)
        written = [
            chat_text(
                tokenizer,
                [
                    {
                        "role": "user",
                        "content": _ASK.format(question=case.question, answer=answer, path=text),
                    }
                ],
            )
            for text in texts
        ]
        words = [tokenizer.encode(word, add_special_tokens=False)[0] for word in ("Yes", "No")]
        found = np.zeros(len(written), dtype=np.float32)
        for start in range(0, len(written), _AT_ONCE):
            rows = [
                tokenizer.encode(text, add_special_tokens=False)
                for text in written[start : start + _AT_ONCE]
            ]
            longest = max(map(len, rows))
            ids = torch.zeros((len(rows), longest), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for at, row in enumerate(rows):
                ids[at, : len(row)] = torch.tensor(row)
                mask[at, : len(row)] = 1
            with torch.inference_mode():
                logits = model(
                    input_ids=ids.to(model.device), attention_mask=mask.to(model.device)
                ).logits
            last = logits[torch.arange(len(rows)), mask.sum(1) - 1].log_softmax(-1).cpu()
            found[start : start + len(rows)] = (last[:, words[0]] - last[:, words[1]]).numpy()
        return found
