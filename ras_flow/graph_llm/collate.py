"""Training examples as padded tensors: labels on the target and its end only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from ras_flow.graph_llm.batching import GraphBatch, Graphs
from ras_flow.graph_llm.prompt import PromptFormatter
from ras_flow.parts.records import AnswerRequest, PlanRequest

IGNORED = -100
"""Label of a position that the loss leaves out."""

MAX_TARGET = 300
"""Tokens of a target at most (appendix D.2)."""


@dataclass(frozen=True)
class Example:
    """What the model is asked, exactly as inference asks it, and what it is to write."""

    request: PlanRequest | AnswerRequest
    target: str


class Collated(TypedDict):
    """The arguments of :meth:`ras_flow.graph_llm.model.GraphLLM.forward`."""

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor
    graphs: Graphs | GraphBatch


class Collator:
    """Makes batches, padded on the left as in inference, so that all targets end together."""

    def __init__(
        self,
        formatter: PromptFormatter,
        *,
        max_target: int = MAX_TARGET,
        label_weight: float = 1.0,
        batch: Callable[[Graphs], GraphBatch] | None = None,
    ) -> None:
        self.formatter = formatter
        self.max_target = max_target
        self.label_weight = label_weight
        self.batch = batch

    def __call__(self, examples: Sequence[Example]) -> Collated:
        """Format and pad examples to tensors of shape (examples, tokens)."""
        graphs = [example.request.graph for example in examples]
        prompts = [self.formatter.prompt(example.request).input_ids for example in examples]
        targets = [self.formatter.target(one.target, self.max_target) for one in examples]
        length = max(len(p) + len(t) for p, t in zip(prompts, targets, strict=True))
        size = (len(examples), length)
        input_ids = torch.zeros(size, dtype=torch.long)
        attention_mask = torch.zeros(size, dtype=torch.long)
        labels = torch.full(size, IGNORED)
        weights = torch.ones(size)
        for row, (prompt, target) in enumerate(zip(prompts, targets, strict=True)):
            whole = torch.tensor([*prompt, *target])
            start = length - len(target)
            input_ids[row, length - len(whole) :] = whole
            attention_mask[row, length - len(whole) :] = 1
            labels[row, start:] = torch.tensor(target)
            weights[row, start : start + self._label_tokens(examples[row])] = self.label_weight
        return Collated(
            input_ids=input_ids,
            attention_mask=attention_mask,
            labels=labels,
            weights=weights,
            graphs=self.batch(graphs) if self.batch else graphs,
        )

    def _label_tokens(self, example: Example) -> int:
        """Return how many tokens of a target are its label: none of an answer's."""
        if not isinstance(example.request, PlanRequest):
            return 0
        label, closing, _ = example.target.partition("]")
        return len(self.formatter.target(label + closing)) - 1
