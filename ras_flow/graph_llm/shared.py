"""A checkpoint as planner and answerer share it: opened at once, loaded on first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.errors import ConfigurationError, RasFlowError
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.manifest import is_checkpoint, own_tokenizer, read_manifest
from ras_flow.graph_llm.prompt import Prompt, PromptFormatter
from ras_flow.graph_llm.roles import GraphLLMSource
from ras_flow.llms.local.joining import GROUP, Call, JoinedCalls
from ras_flow.llms.local.precision import local_precision
from ras_flow.llms.local.shipped import WEIGHTS, is_default
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import fingerprint
from ras_flow.parts.records import AttributedGraph, Generation
from ras_flow.support.paths import path_named

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


SHIPPED = WEIGHTS / "graph-llm"
"""Where the package keeps its own Graph LLM."""


_Asked = tuple[Prompt, AttributedGraph | None]
_Call = Call[_Asked, int]
"""Prompts with their graphs, and the limit of new tokens."""

JOINED = 8 * GROUP
"""Prompts of different callers that are joined at most."""


class SharedGraphLLM(GraphLLMSource):
    """A checkpoint folder; making one reads its description only.

    Calls that wait for the compute lane are made together; see :mod:`ras_flow.llms.local.joining`.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        super().__init__(folder, manifest.config, manifest.identity, manifest.config.base)
        self._end = manifest.end
        self._loading = threading.Lock()
        self._model: GraphLLM | None = None
        self._calls: JoinedCalls[_Asked, int, list[Generation]] = JoinedCalls(
            self._serve, most=JOINED
        )

    @cached_property
    def formatter(self) -> PromptFormatter:
        """Formats prompts as in training; needs the tokenizer, not the model."""
        tokenizer = load_tokenizer(self.tokenizer, chat=False)
        return PromptFormatter(own_tokenizer(tokenizer, self._end, self.folder), self.config)

    def model(self) -> GraphLLM:
        """Return the model, loaded once."""
        with self._loading:
            if self._model is None:
                if read_manifest(self.folder).identity != self.identity:
                    raise ConfigurationError(
                        f"The Graph LLM in {str(self.folder)!r} was written anew after it was "
                        "named here. Try again, with the one that is there now."
                    )
                self._model = load_graph_llm(self.folder, precision=local_precision())
            return self._model

    async def generate(
        self,
        prompts: Sequence[Prompt],
        graphs: Sequence[AttributedGraph | None],
        *,
        max_new_tokens: int,
    ) -> list[Generation]:
        """Continue each prompt greedily, in the compute lane; see :class:`GraphLLMSource`."""
        if not prompts:
            return []
        asked = list(zip(prompts, graphs, strict=True))
        return await self._calls.make(asked, max_new_tokens)

    def _serve(
        self, calls: Sequence[_Call], given_up: threading.Event
    ) -> dict[_Call, list[Generation] | RasFlowError]:
        prompts, graphs = zip(*(asked for call in calls for asked in call.items), strict=True)
        try:
            made = iter(
                self.model().generate(
                    prompts, graphs, max_new_tokens=calls[0].limits, given_up=given_up
                )
            )
        except RasFlowError as error:
            if len(calls) == 1:
                return {calls[0]: error}
            # Any of them may have caused it.
            return {call: self._serve([call], given_up)[call] for call in calls}
        return {call: list(islice(made, len(call.items))) for call in calls}


def open_graph_llm(name: str) -> GraphLLM:
    """Load a Graph LLM that is not shared, for training and measuring."""
    source = find_graph_llm(name)
    return load_graph_llm(source.folder if source else Path(name))


_opening = threading.Lock()


def find_graph_llm(name: str) -> SharedGraphLLM | None:
    """Return the Graph LLM that a model name means."""
    kind, _, path = name.partition(":")
    if kind != "local":
        return None
    folder = SHIPPED if is_default(name) else path_named(path)
    if not is_checkpoint(folder):
        return None
    folder = folder.resolve()
    # Two threads may miss the cache at once; each would load the weights.
    with _opening:
        opened, files = _opened(folder), fingerprint(str(folder))
        if files not in opened:
            opened.clear()
            opened[files] = SharedGraphLLM(folder)
        return opened[files]


@lru_cache(maxsize=8)
def _opened(folder: Path) -> dict[str, SharedGraphLLM]:
    """Keep a folder's checkpoint under its files: the last alone, which holds the weights."""
    return {}
