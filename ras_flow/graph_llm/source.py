"""A Graph LLM that planner and answerer share, wherever its language model runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from ras_flow.components import AttributedGraph, Generation
from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import Prompt, PromptFormatter
from ras_flow.llms.tokenizer import load_tokenizer


class GraphLLMSource(ABC):
    """What is known of a Graph LLM before any weight is read, and how to have it write.

    Args:
        folder: Where its files are.
        config: What it is made of.
        identity: Names its weights.
        tokenizer: Where its tokenizer is, as
            :func:`ras_flow.llms.tokenizer.load_tokenizer` takes it.
    """

    def __init__(self, folder: Path, config: GraphLLMConfig, identity: str, tokenizer: str) -> None:
        self.folder = folder
        self.config = config
        self.identity = identity
        self.tokenizer = tokenizer
        self.takes_soft_tokens = config.gnn is not None

    @cached_property
    def formatter(self) -> PromptFormatter:
        """Formats prompts; needs the tokenizer, not the model.

        Raises:
            ConfigurationError: The tokenizer cannot be loaded.
        """
        return PromptFormatter(load_tokenizer(self.tokenizer, chat=False), self.config)

    def check_graphs(self, graphs: Iterable[AttributedGraph | None]) -> None:
        """Refuse graphs whose attributes are of another sentence encoder than in training.

        Raises:
            ConfigurationError: A graph was embedded by another encoder.
        """
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
        """Continue each prompt greedily.

        Args:
            prompts: Prompts of :attr:`formatter`.
            graphs: One graph a prompt.
            max_new_tokens: Limit for each output.

        Returns:
            One generation a prompt, in order; a result never depends on the others.

        Raises:
            ConfigurationError: The model cannot be used as it is set up.
            ModelError: It cannot be reached, or cannot read a prompt.
            OverloadedError: Too many calls of this process wait already.
        """
