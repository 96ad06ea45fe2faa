"""A local language model as the planner of paths (eq. 31): it writes relations that the graph has.

Each is a line; only tokens are allowed that lead to a relation where the lines before have led.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ras_flow.kg.retrievers.batch import entity_text, relation_text
from ras_flow.kg.retrievers.model import FactModel, Vectors
from ras_flow.kg.retrievers.path import HOPS, STOP, Near, mark, options_at, step, topics_of
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.local.adapter import without_peft_warnings
from ras_flow.llms.local.generation import as_plain_text, chat_text
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.support.extras import require

BEAM = 5

_ASK = "Question: {question}\nWhich relations lead from {entities} to the answer? One a line."


class LmModel(FactModel):
    """A base model with an adapter; the adapter alone is trained and kept."""

    def __init__(self, _dimension: int, *, base: str, rank: int) -> None:
        super().__init__()
        peft = require("peft", extra="local")
        settings = peft.LoraConfig(
            task_type="CAUSAL_LM", r=rank, lora_alpha=2 * rank, target_modules="all-linear"
        )
        with without_peft_warnings():
            self.lm = peft.get_peft_model(read_model(base), settings)
        self.tokenizer = load_tokenizer(base, chat=True)
        self.line = self.tokenizer.encode("\n", add_special_tokens=False)

    def state_dict(self, *_: Any, **__: Any) -> Any:
        """Return the adapter's weights."""
        return dict(require("peft", extra="local").get_peft_model_state_dict(self.lm))

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Put weights into the adapter; those of the base are not missing."""
        peft = require("peft", extra="local")
        return peft.set_peft_model_state_dict(self.lm, state_dict)._replace(missing_keys=[])

    def prompt(self, question: str, entities: Sequence[str]) -> list[int]:
        """Return the tokens that ask for a path."""
        names = ", ".join(map(entity_text, entities))
        asked = as_plain_text(_ASK.format(question=question, entities=names), self.tokenizer)
        written = chat_text(self.tokenizer, [{"role": "user", "content": asked}])
        return list(self.tokenizer.encode(written, add_special_tokens=False))

    def tokens(self, relation: str, inverse: bool) -> list[int]:
        """Return the tokens of a line."""
        text = relation_text(relation) + (" backwards" if inverse else "")
        plain = as_plain_text(text, self.tokenizer)
        return [*self.tokenizer.encode(plain, add_special_tokens=False), *self.line]

    accepts_loss_kwargs = False
    """Tells the Trainer that the loss is a mean already."""

    def forward(self, **batch: Any) -> dict[str, torch.Tensor]:
        """Return the loss of texts."""
        return {"loss": self.lm(**batch).loss}

    def texts(self, question: str, graph: Subgraph) -> list[str]:
        """Need no vectors."""
        return []

    def score_facts(
        self, question: str, graph: Subgraph, vectors: Vectors
    ) -> npt.NDArray[np.float32]:
        """Return the probability of the likeliest written path that each triple is on."""
        asked = self.prompt(question, [graph.entities[at] for at in graph.topics])
        allowed = _Allowed(self, graph)
        with torch.inference_mode():
            made = self.lm.generate(
                input_ids=torch.tensor([asked], device=self.lm.device),
                attention_mask=torch.ones((1, len(asked)), device=self.lm.device),
                num_beams=BEAM,
                num_return_sequences=BEAM,
                do_sample=False,
                max_new_tokens=80,
                length_penalty=0.0,
                early_stopping=True,
                return_dict_in_generate=True,
                output_scores=True,
                prefix_allowed_tokens_fn=lambda _, ids: allowed.after(ids[len(asked) :].tolist()),
            )
        ended = []
        for tokens, chance in zip(made.sequences, made.sequences_scores.tolist(), strict=True):
            path, rest = allowed.read(tokens[len(asked) :].tolist())
            if rest[:1] == [allowed.end]:
                ended.append((chance, path))
        return mark(graph, ended)


class _Allowed:
    """Which tokens may follow, and what relations tokens write."""

    def __init__(self, model: LmModel, graph: Subgraph) -> None:
        self.end = int(model.tokenizer.eos_token_id)
        self._model, self._graph = model, graph
        self._near: dict[tuple[int, ...], Near] = {(): topics_of(graph)}
        self._lines: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}

    def after(self, tokens: list[int]) -> list[int]:
        """Return the tokens that may follow; the end where nothing else may."""
        path, rest = self.read(tokens)
        own, size = tuple(rest), len(rest)
        found = {line[size] for line in self._of(path) if line[:size] == own and len(line) > size}
        return list(found) or [self.end]

    def read(self, tokens: list[int]) -> tuple[tuple[int, ...], list[int]]:
        """Return the codes of whole lines, and the tokens after them."""
        path: tuple[int, ...] = ()
        while line := next((one for one in self._of(path) if _begins(tokens, one)), None):
            tokens, code = tokens[len(line) :], self._of(path)[line]
            if code == STOP:
                return path, [self.end]
            self._near[*path, code] = step(self._graph, self._near[path], code)[1]
            path = (*path, code)
        return path, tokens

    def _of(self, path: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        if path not in self._lines:
            lines: dict[tuple[int, ...], int] = {(self.end,): STOP}
            options = options_at(self._graph, self._near[path]) if len(path) < HOPS else ()
            for code in map(int, options):
                if code != STOP:
                    kind, inverse = divmod(code - 1, 2)
                    tokens = self._model.tokens(self._graph.relations[kind], bool(inverse))
                    lines.setdefault(tuple(tokens), code)
            self._lines[path] = lines
        return self._lines[path]


def _begins(tokens: list[int], line: tuple[int, ...]) -> bool:
    return tuple(tokens[: len(line)]) == line
