"""A language model on a vLLM server, asked with tokens as a local model is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ras_flow.llms.local.tokenized import TokenizedModel
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import fingerprint
from ras_flow.llms.remote.completions import CompletionsServer
from ras_flow.llms.remote.providers import ServerSettings, response_format
from ras_flow.parts.records import Generation, Message
from ras_flow.parts.tracing import traced_generation
from ras_flow.support.concurrency import all_or_none


class ServedLanguageModel(TokenizedModel):
    """A model of a vLLM server whose tokenizer and chat template are here.

    It reads what the same model reads in this process: special tokens that a document spells out
    stay text, which a server's chat interface does not promise.
    """

    batch_size = 1

    def __init__(self, name: str, **server: Unpack[ServerSettings]) -> None:
        super().__init__(name)
        self.identity = f"vllm:{fingerprint(name)}"
        self._server = CompletionsServer(name, **server)

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> list[Generation]:
        """Continue each prompt greedily, each as one request."""
        if not prompts:
            return []
        async with traced_generation(self.name, prompts, max_new_tokens=max_new_tokens) as made:
            made += await all_or_none(
                self._continue(prompt, max_new_tokens, stop, schema) for prompt in prompts
            )
        return made

    async def _continue(
        self,
        prompt: Sequence[Message],
        max_new_tokens: int,
        stop: Sequence[str],
        schema: Mapping[str, Any] | None,
    ) -> Generation:
        more: dict[str, Any] = {"stop": list(stop)} if stop else {}
        if schema is not None:
            more["response_format"] = response_format(schema)

        # Here and below in a thread: the tokenizer may have to be loaded.
        async def sent() -> Mapping[str, Any]:
            tokens = (await asyncio.to_thread(self._encode, prompt, share=False)).rest
            return {"prompt": list(tokens), "add_special_tokens": False}

        written = await self._server.complete(sent, max_new_tokens=max_new_tokens, **more)
        return await asyncio.to_thread(lambda: written.generation(load_tokenizer(self.name), stop))
