"""A checkpoint as planner and answerer share it: opened at once, loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.components import AttributedGraph
from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.manifest import is_checkpoint, read_manifest
from ras_flow.graph_llm.prompt import PromptFormatter
from ras_flow.llms.local import load_tokenizer
from ras_flow.llms.shipped import WEIGHTS, is_default

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


SHIPPED = WEIGHTS / "graph-llm"
"""Where the package keeps its own Graph LLM, if it has one."""


class SharedGraphLLM:
    """A checkpoint folder; making one reads its description only.

    Args:
        folder: The folder.

    Raises:
        ConfigurationError: It holds no Graph LLM, or one of another version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)
        self.identity = self.manifest.identity
        self.takes_soft_tokens = self.manifest.config.gnn is not None
        self._loading = threading.Lock()
        self._model: GraphLLM | None = None

    @cached_property
    def formatter(self) -> PromptFormatter:
        """Formats prompts; needs the tokenizer, not the model.

        Raises:
            ConfigurationError: The base model's tokenizer cannot be loaded.
        """
        config = self.manifest.config
        return PromptFormatter(load_tokenizer(config.base, chat=False), config)

    def model(self) -> GraphLLM:
        """Return the model, loaded once.

        Raises:
            ConfigurationError: A file is missing or damaged, or the base model is another one.
        """
        with self._loading:
            if self._model is None:
                self._model = load_graph_llm(self.folder)
            return self._model

    @property
    def encoder(self) -> str:
        """Name of the sentence encoder of its training."""
        return self.manifest.config.encoder.rpartition("@")[0] or self.manifest.config.encoder

    def reads(self, encoder: str) -> bool:
        """Tell whether it was trained with the vectors of a sentence encoder.

        Args:
            encoder: Identity of the encoder.

        Returns:
            Whether the weights are the same; "name@hash" may differ in name.
        """
        return _weights(encoder) == _weights(self.manifest.config.encoder)

    def check_graphs(self, graphs: Iterable[AttributedGraph | None]) -> None:
        """Refuse graphs whose attributes are of another sentence encoder than in training.

        Raises:
            ConfigurationError: A graph was embedded by another encoder.
        """
        config = self.manifest.config
        for graph in graphs:
            if graph and graph.encoder and not self.reads(graph.encoder):
                raise ConfigurationError(
                    f"The graph was embedded by {graph.encoder!r}, but the Graph LLM in "
                    f"{str(self.folder)!r} was trained with {config.encoder!r}. Set `encoder` to "
                    "that one."
                )


_opening = threading.Lock()


@lru_cache(maxsize=8)
def open_graph_llm(folder: Path) -> SharedGraphLLM:
    """Open a checkpoint once a process.

    Args:
        folder: The folder.

    Returns:
        The same object for the same folder.

    Raises:
        ConfigurationError: It holds no Graph LLM, or one of another version.
    """
    return SharedGraphLLM(folder)


def find_graph_llm(name: str) -> SharedGraphLLM | None:
    """Return the Graph LLM that a model name means.

    Args:
        name: As in the Context, such as ``local:PATH``; ``local:default`` means the package's own.

    Returns:
        The checkpoint; None where the name is of another kind of model.

    Raises:
        ConfigurationError: The checkpoint is damaged or of another version.
    """
    kind, _, path = name.partition(":")
    folder = SHIPPED if is_default(name) else Path(path).expanduser()
    if kind != "local" or not is_checkpoint(folder):
        return None
    # Two threads may miss the cache at once; each would load the weights.
    with _opening:
        return open_graph_llm(folder.resolve())


def _weights(identity: str) -> str:
    """Return what an encoder's identity says of its weights."""
    return identity.rpartition("@")[2]
