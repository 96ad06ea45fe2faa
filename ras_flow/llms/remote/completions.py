"""vLLM's completions interface: tokens or embeddings in, tokens out.

A server's chat interface applies its own template and takes text alone. Here the prompt is made
on this side, as for a model in this process, so that both read exactly the same.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.llms.local.generation import cut_at, decoded
from ras_flow.llms.local.text import LOOP, repeats
from ras_flow.llms.remote.clients import LoopClients, open_http, shared_slots
from ras_flow.llms.remote.failures import BrokenAnswerError, Endpoint, call_model
from ras_flow.llms.remote.providers import NO_KEY, check_address, key_in
from ras_flow.llms.waiting import call_slot
from ras_flow.parts.records import Generation
from ras_flow.support.extras import require
from ras_flow.support.network import check_network

ADDRESS = "VLLM_BASE_URL"
"""Environment variable with the server's address, if no base_url is given."""

KEY = "VLLM_API_KEY"
"""Environment variable with the server's key; `vllm serve` reads the same one."""

GREEDY = {
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""All that a model's own settings could change in what a server writes."""


@dataclass(frozen=True)
class Written:
    """What a server wrote, up to the limit of new tokens or to an end of the model's choice."""

    tokens: list[int]
    at_limit: bool
    input_tokens: int

    def generation(self, tokenizer: Any, stop: Sequence[str] = ()) -> Generation:
        """Return the text, ended where a model in this process would end it."""
        # A server goes on where the text then only repeats itself.
        ends = range(LOOP, len(self.tokens) + 1)
        end = next((end for end in ends if repeats(self.tokens[:end])), None)
        text = decoded(tokenizer, self.tokens[:end])
        cut = cut_at(text, stop)
        return Generation(
            text=text[:cut],
            input_tokens=self.input_tokens,
            output_tokens=len(self.tokens),
            truncated=self.at_limit and cut is None and end in (None, len(self.tokens)),
        )


class CompletionsServer:
    """A vLLM server, called through OpenAI's SDK."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 4,
        max_concurrency: int = 8,
    ) -> None:
        address = base_url or os.environ.get(ADDRESS)
        if not address:
            raise ConfigurationError(
                f"The model {model!r} needs the address of a vLLM server: set base_url, or the "
                f"environment variable {ADDRESS}, for example to http://localhost:8000/v1."
            )
        check_address("base_url" if base_url else ADDRESS, address)
        self._sdk = require("openai", extra="openai")
        check_network()
        self.model = model
        key = key_in(KEY)
        host = urlsplit(address).netloc.rpartition("@")[2]
        self.endpoint = Endpoint(model, host, KEY, secrets=(key,) if key else ())
        self._slots = shared_slots(self.endpoint, max_concurrency)
        self._max_retries = max_retries

        def client() -> tuple[Any, Any]:
            http = open_http("openai")
            settings = {"base_url": address, "api_key": key or NO_KEY, "http_client": http}
            return self._sdk.AsyncOpenAI(timeout=timeout, max_retries=max_retries, **settings), http

        self._clients = LoopClients(client)

    async def complete(
        self,
        prompt: Callable[[], Awaitable[Mapping[str, Any]]],
        *,
        max_new_tokens: int,
        **more: Any,
    ) -> Written:
        """Send one prompt, to be continued greedily."""
        settings = {"model": self.model, "max_tokens": max_new_tokens, "return_token_ids": True}
        with call_slot():
            async with self._slots.current():
                body = {**GREEDY, **settings, **more, **await prompt()}
                return await call_model(
                    lambda: self._post(body), max_retries=self._max_retries, endpoint=self.endpoint
                )

    async def _post(self, body: Mapping[str, Any]) -> Written:
        client = await self._clients.current()
        # A redirect would send the documents to a server that nobody named.
        options = {"follow_redirects": False}
        try:
            answer = await client.post("/completions", cast_to=object, body=body, options=options)
        except self._sdk.APIStatusError as error:
            if error.response.is_redirect:
                raise ModelResponseError(
                    f"The server of the model {self.model!r} redirects to "
                    f"{error.response.headers['location'][:200]!r}. Name that address, up to /v1, "
                    f"as base_url or in {ADDRESS}."
                ) from None
            raise
        try:
            [choice] = answer["choices"]
            tokens = [int(token) for token in choice["token_ids"]]
            end, read = choice["finish_reason"], int(answer["usage"]["prompt_tokens"])
        except (LookupError, TypeError, ValueError) as error:
            raise BrokenAnswerError(
                f"the answer cannot be read as one of vLLM's completions with token_ids ({error!r})"
            ) from error
        if end not in ("stop", "length"):
            raise BrokenAnswerError(f"the server ended its answer by {end!r}")
        return Written(tokens, end == "length", read)
