"""A checkpoint as planner and answerer share it: opened at once, loaded on first use."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.components import AttributedGraph, Generation
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.manifest import is_checkpoint, read_manifest
from ras_flow.graph_llm.prompt import Prompt
from ras_flow.graph_llm.source import GraphLLMSource
from ras_flow.llms.compute import run_in_lane
from ras_flow.llms.shipped import WEIGHTS, is_default

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


SHIPPED = WEIGHTS / "graph-llm"
"""Where the package keeps its own Graph LLM, if it has one."""


class SharedGraphLLM(GraphLLMSource):
    """A checkpoint folder; making one reads its description only.

    Args:
        folder: The folder.

    Raises:
        ConfigurationError: It holds no Graph LLM, or one of another version.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        super().__init__(folder, manifest.config, manifest.identity, manifest.config.base)
        self._loading = threading.Lock()
        self._model: GraphLLM | None = None

    def model(self) -> GraphLLM:
        """Return the model, loaded once.

        Raises:
            ConfigurationError: A file is missing or damaged, or the base model is another one.
        """
        with self._loading:
            if self._model is None:
                self._model = load_graph_llm(self.folder)
            return self._model

    async def generate(
        self,
        prompts: Sequence[Prompt],
        graphs: Sequence[AttributedGraph | None],
        *,
        max_new_tokens: int,
        batch_size: int,
    ) -> list[Generation]:
        """Continue each prompt greedily, in the compute lane; see :class:`GraphLLMSource`.

        Raises:
            ConfigurationError: The model cannot be loaded, or memory ran out.
            ModelResponseError: A prompt is longer than the base model can read.
        """
        given_up = threading.Event()

        def work() -> list[Generation]:
            return self.model().generate(
                prompts,
                graphs,
                max_new_tokens=max_new_tokens,
                batch_size=batch_size,
                given_up=given_up,
            )

        try:
            return await run_in_lane(work)
        except asyncio.CancelledError:
            given_up.set()
            raise


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
