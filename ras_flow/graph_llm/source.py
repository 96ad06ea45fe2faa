"""A Graph LLM that planner and answerer share, wherever its language model runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import Prompt, PromptFormatter
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.parts.records import AttributedGraph, Generation


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
