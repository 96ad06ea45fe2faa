"""The Graph LLM as planner and answerer (eq. 1, 2, 7 and 8)."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import Prompt, PromptFormatter
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.parts.records import (
    AnswerRequest,
    AttributedGraph,
    Generation,
    Message,
    PlanRequest,
    Reply,
)
from ras_flow.parts.tracing import traced_generation

PLAN_TOKENS = 64
"""New tokens that a plan may take."""

_NEXT_PLAN = re.compile(r"(?<=\S)\s*\[(?:SUBQ|SUFFICIENT|NO_RETRIEVAL|NOT FOUND)\].*", re.DOTALL)


class GraphLLMSource(ABC):
    """What is known of a Graph LLM before any weight is read, and how to have it write."""

    def __init__(self, folder: Path, config: GraphLLMConfig, identity: str, tokenizer: str) -> None:
        self.folder = folder
        self.config = config
        self.identity = identity
        self.tokenizer = tokenizer
        self.takes_soft_tokens = config.gnn is not None

    @cached_property
    def formatter(self) -> PromptFormatter:
        """Formats prompts; needs the tokenizer, not the model."""
        return PromptFormatter(load_tokenizer(self.tokenizer, chat=False), self.config)

    def check_graphs(self, graphs: Iterable[AttributedGraph | None]) -> None:
        """Refuse graphs whose attributes are of another sentence encoder than in training."""
        for graph in graphs:
            if graph and graph.encoder and not self.config.reads(graph.encoder):
                raise ConfigurationError(
                    f"The graph was embedded by {graph.encoder!r}, but the Graph LLM in "
                    f"{str(self.folder)!r} was trained with {self.config.encoder!r}. Set "
                    "`encoder` to that one."
                )

    @abstractmethod
    async def generate(
        self,
        prompts: Sequence[Prompt],
        graphs: Sequence[AttributedGraph | None],
        *,
        max_new_tokens: int,
    ) -> list[Generation]:
        """Continue each prompt greedily."""


class _Role:
    """What a Graph LLM plays."""

    def __init__(self, source: GraphLLMSource) -> None:
        self.source = source
        self.identity = source.identity
        self.takes_soft_tokens = source.takes_soft_tokens
        self.reading = source.config.reading


class GraphPlanner(_Role):
    """Plans from the graph's soft tokens and the text of the subquery chain."""

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan for each request."""
        return await _write(self.source, requests, PLAN_TOKENS)


class GraphAnswerer(_Role):
    """Answers from the graph's soft tokens and the text of the subquery chain."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request."""
        replies: dict[int, Reply] = {}
        for limit in dict.fromkeys(request.max_new_tokens for request in requests):
            rows = [i for i, request in enumerate(requests) if request.max_new_tokens == limit]
            alike = [requests[row] for row in rows]
            made = await _write(self.source, alike, limit)
            replies.update(zip(rows, made, strict=True))
        ordered = [replies[row] for row in range(len(requests))]
        return [replace(reply, text=_NEXT_PLAN.sub("", reply.text)) for reply in ordered]


async def _write(
    source: GraphLLMSource,
    requests: Sequence[PlanRequest | AnswerRequest],
    max_new_tokens: int,
) -> list[Reply]:
    if not requests:
        return []
    graphs = [request.graph if source.takes_soft_tokens else None for request in requests]
    source.check_graphs(graphs)
    # In a thread: the first prompt loads the tokenizer.
    prompts = await asyncio.to_thread(lambda: [source.formatter.prompt(one) for one in requests])
    messages = [
        [
            Message(role="system", content=prompt.instruction),
            Message(role="user", content=prompt.text),
        ]
        for prompt in prompts
    ]
    name = source.folder.name
    async with traced_generation(name, messages, max_new_tokens=max_new_tokens) as made:
        made += await source.generate(prompts, graphs, max_new_tokens=max_new_tokens)
    return [
        Reply(
            one.text,
            one.input_tokens,
            one.output_tokens,
            prompt.lost_triples,
            truncated=one.truncated,
        )
        for one, prompt in zip(made, prompts, strict=True)
    ]
