"""A Graph LLM on a vLLM server: soft tokens are computed here, and sent among embeddings."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.graph_llm.build import require_packages
from ras_flow.graph_llm.export import PART, is_export, read_export
from ras_flow.graph_llm.prompt import Prompt
from ras_flow.graph_llm.roles import GraphLLMSource
from ras_flow.llms.local.joining import run_in_lane
from ras_flow.llms.remote.completions import CompletionsServer
from ras_flow.llms.remote.providers import ServerSettings
from ras_flow.parts.records import AttributedGraph, Generation
from ras_flow.support.concurrency import all_or_none
from ras_flow.support.paths import path_named

if TYPE_CHECKING:
    from ras_flow.graph_llm.embedder import PromptEmbedder


class ServedGraphLLM(GraphLLMSource):
    """An exported Graph LLM whose language model runs on a vLLM server."""

    def __init__(self, folder: Path, **server: Unpack[ServerSettings]) -> None:
        self.exported = read_export(folder)
        super().__init__(folder, self.exported.config, self.exported.identity, str(folder / PART))
        self.server = CompletionsServer(self.exported.served_name, **server)
        self._loading = threading.Lock()
        self._embedder: PromptEmbedder | None = None

    def embedder(self) -> PromptEmbedder:
        """Return what makes embeddings of prompts, loaded once."""
        require_packages("safetensors")
        # Its imports need torch.
        from ras_flow.graph_llm.embedder import PromptEmbedder  # noqa: PLC0415

        with self._loading:
            if self._embedder is None:
                self._embedder = PromptEmbedder(self.exported, self.folder)
            return self._embedder

    async def generate(
        self,
        prompts: Sequence[Prompt],
        graphs: Sequence[AttributedGraph | None],
        *,
        max_new_tokens: int,
    ) -> list[Generation]:
        """Continue each prompt greedily, each as one request; see :class:`GraphLLMSource`."""
        return await all_or_none(
            self._continue(prompt, graph, max_new_tokens)
            for prompt, graph in zip(prompts, graphs, strict=True)
        )

    async def _continue(
        self, prompt: Prompt, graph: AttributedGraph | None, max_new_tokens: int
    ) -> Generation:
        async def sent() -> Mapping[str, Any]:
            if not self.takes_soft_tokens:
                return {"prompt": prompt.input_ids, "add_special_tokens": False}
            embeds = await run_in_lane(lambda: self.embedder().encoded(prompt, graph))
            return {"prompt_embeds": embeds}

        try:
            written = await self.server.complete(
                sent, max_new_tokens=max_new_tokens, stop_token_ids=list(self.exported.ends)
            )
        except ModelResponseError as error:
            raise self._explained(error) from None
        return await asyncio.to_thread(written.generation, self.formatter.tokenizer)

    def _explained(self, error: ModelResponseError) -> ModelResponseError | ConfigurationError:
        """Explain a rejection by a server that was started with other options."""
        said, server = str(error), self.server.endpoint.host
        name = self.exported.served_name
        if "enable-prompt-embeds" in said:
            return ConfigurationError(
                f"The server at {server} takes no prompt embeddings, with which the graph is sent. "
                "Start `vllm serve` with --enable-prompt-embeds."
            )
        if "hidden_size" in said:
            return ConfigurationError(
                f"The server at {server} serves another model under the name {name!r}: its "
                f"embeddings have another width. Serve {str(self.folder)!r}. {said}"
            )
        if "NotFoundError" in said:
            return ConfigurationError(
                f"The server at {server} knows no model {name!r}. Check the base_url (with /v1 at "
                f"its end), and start `vllm serve` on {str(self.folder)!r} with "
                f"--served-model-name {name}. {said}"
            )
        return error


def find_export(name: str) -> Path | None:
    """Return the export that a model name means."""
    kind, _, path = name.partition(":")
    if kind != "vllm" or not path:
        return None
    folder = path_named(path)
    return folder.resolve() if is_export(folder) else None
