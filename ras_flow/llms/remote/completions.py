"""vLLM's completions interface: tokens or embeddings in, tokens out.

The chat interface of a server applies its own template and takes text alone. Here the prompt is
made on this side, as it is for a model in this process, so that both read exactly the same.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.llms.local.generation import cut_at
from ras_flow.llms.local.text import LOOP, repeats
from ras_flow.llms.remote.providers import check_address, key_in
from ras_flow.llms.remote.retry import BrokenAnswerError, Endpoint, Retries, call_with_retries
from ras_flow.llms.remote.slots import shared_slots
from ras_flow.llms.waiting import a_place
from ras_flow.parts.records import Generation
from ras_flow.support.concurrency import PerLoop

ADDRESS = "VLLM_BASE_URL"
"""Environment variable with the server's address, where no base_url is given."""

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


class StatusError(Exception):
    """A server's answer that is an error.

    Attributes:
        status_code: HTTP status.
        response: The answer.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"{response.status_code} {_message(response)}")
        self.status_code = response.status_code
        self.response = response


@dataclass(frozen=True)
class Written:
    """What a server wrote.

    Attributes:
        tokens: The new tokens.
        at_limit: They end at the limit, not by the model's choice.
        input_tokens: Tokens of the prompt.
    """

    tokens: list[int]
    at_limit: bool
    input_tokens: int

    def generation(self, tokenizer: Any, stop: Sequence[str] = ()) -> Generation:
        """Return the text, ended where a model in this process would end it."""
        end = _loop_end(self.tokens)
        text = str(
            tokenizer.decode(
                self.tokens[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )
        cut = cut_at(text, stop)
        return Generation(
            text=text[:cut],
            input_tokens=self.input_tokens,
            output_tokens=len(self.tokens),
            truncated=self.at_limit and cut is None and end in (None, len(self.tokens)),
        )


class CompletionsServer:
    """A vLLM server."""

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
        self.model = model
        key = key_in(KEY)
        host = urlsplit(address).netloc.rpartition("@")[2]
        self.endpoint = Endpoint(model, host, KEY, secrets=(key,) if key else ())
        self._url = f"{address.rstrip('/')}/completions"
        self._retries = Retries(max_retries, timeout, total=max(300.0, 2 * timeout))
        self._slots = shared_slots(self.endpoint, max_concurrency)
        # No connection is kept open: what a loop leaves behind would stay until the process ends.
        limits = httpx.Limits(max_keepalive_connections=0)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        # Read here, not in an event loop: a large file, which plain HTTP has no use for.
        verify = httpx.create_ssl_context() if urlsplit(address).scheme == "https" else False
        self._clients = PerLoop(
            lambda: httpx.AsyncClient(timeout=None, headers=headers, limits=limits, verify=verify)
        )

    async def complete(
        self,
        prompt: Callable[[], Awaitable[Mapping[str, Any]]],
        *,
        max_new_tokens: int,
        **more: Any,
    ) -> Written:
        """Send one prompt, to be continued greedily."""
        settings = {"model": self.model, "max_tokens": max_new_tokens, "return_token_ids": True}
        with a_place():
            async with self._slots.current():
                made = await prompt()
                body = await asyncio.to_thread(
                    lambda: json.dumps({**GREEDY, **settings, **more, **made}).encode()
                )
                return await call_with_retries(
                    lambda: self._post(body), retries=self._retries, endpoint=self.endpoint
                )

    async def _post(self, body: bytes) -> Written:
        response = await self._clients.current().post(
            self._url, content=body, headers={"content-type": "application/json"}
        )
        if response.status_code >= 400:
            raise StatusError(response)
        if response.is_redirect:
            raise ModelResponseError(
                f"The server of the model {self.model!r} sends its callers elsewhere, to "
                f"{response.headers['location'][:200]!r}. Name that address, up to /v1, as "
                f"base_url or in {ADDRESS}."
            )
        try:
            answer = response.json()
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


def _loop_end(tokens: Sequence[int]) -> int | None:
    """Return where a text that only repeats itself ends; None where it does not."""
    ends = range(LOOP, len(tokens) + 1)
    return next((end for end in ends if repeats(tokens[:end])), None)


def _message(response: httpx.Response) -> str:
    """Return what a server says of an error."""
    try:
        return str(response.json()["error"]["message"])
    except (LookupError, TypeError, ValueError):
        return response.text[:500]
