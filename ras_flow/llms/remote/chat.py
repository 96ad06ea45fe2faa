"""Chat models of any provider, through LangChain."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ModelResponseError
from ras_flow.llms.local.tokenized import without_system
from ras_flow.llms.local.weights import hash_text
from ras_flow.llms.remote.answers import (
    as_generation,
    check_said,
    check_text,
    check_whole,
    lost_to_thought,
)
from ras_flow.llms.remote.clients import LoopClients, make_slots, open_clients, shared_slots
from ras_flow.llms.remote.failures import BrokenAnswerError, call_model
from ras_flow.llms.remote.providers import (
    as_sent,
    connect,
    endpoint_of,
    extra_body,
    schema_settings,
)
from ras_flow.llms.waiting import call_slot
from ras_flow.parts.records import Generation, Message
from ras_flow.support.concurrency import all_or_none

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

DEFAULT_WINDOW = 8000
"""Input tokens to use if the model's own limit is unknown."""

ROOM_FOR_OUTPUT = 1024
"""Tokens of a known limit that are left for the output."""

ROOM_FOR_THOUGHT = 4096
"""Output tokens on top for models that think before they answer."""

MOST_STOPS = 4
"""Stop strings that OpenAI's interface takes."""

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Names that chat models give the limit of output tokens."""

_NAMES_STOP = re.compile(r"\bstop(?:_?sequences)?\b", re.IGNORECASE)
_NAMES_SYSTEM = re.compile(
    r"\bsystem[\s_'\"`]*(?:role|message|prompt|instruction)|\brole\b[^.]{0,60}\bsystem\b"
    r"|roles must alternate|only user and assistant|developer instruction",
    re.IGNORECASE,
)
_NAMES_SCHEMA = re.compile(r"response_?format|output_config|schema|structured", re.IGNORECASE)

_STRICT = ("openai", "anthropic")
"""Kinds of chat model that always tell why an answer ended, unless it broke off."""

_ROUTES = {"path", "query"}
"""Parts of an address that belong to the identity only if they are given."""

_PATIENCE = {"default_request_timeout", "max_retries"}
"""Settings that Anthropic's integration counts as the model's: they change nothing it writes."""

_log = logging.getLogger(__name__)


class ChatLanguageModel:
    """A chat model as a :class:`ras_flow.parts.protocols.LanguageModel`.

    A model by name leaves timeouts and retries to its SDK. One that is given as an object has its
    own, and ``timeout`` and ``max_retries`` on top.
    """

    batch_size = 1

    def __init__(
        self,
        model: BaseChatModel | str,
        *,
        base_url: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 4,
        max_concurrency: int = 8,
        window: int | None = None,
    ) -> None:
        self._by_name = isinstance(model, str)
        self._chat = (
            connect(model, base_url, timeout=timeout, max_retries=max_retries)
            if isinstance(model, str)
            else model
        )
        self._timeout = None if self._by_name else timeout
        self._max_retries = max_retries
        # Waited for here, so that the wait is not the model's time.
        if limiter := self._chat.rate_limiter:
            self._chat = self._chat.model_copy(update={"rate_limiter": None})
        self._limiter = limiter
        self._endpoint = endpoint_of(self._chat)
        self._slots = (
            shared_slots(self._endpoint, max_concurrency)
            if self._by_name
            else make_slots(max_concurrency)
        )
        self._clients = LoopClients(lambda: open_clients(self._chat, by_name=self._by_name))
        profile = self._chat.profile or {}
        limit = window or profile.get("max_input_tokens")
        self.window = max(limit - ROOM_FOR_OUTPUT, limit // 2) if limit else DEFAULT_WINDOW
        self._takes_stops = self._takes_schemas = self._takes_system = True
        self._thinks = bool(profile.get("reasoning_output")) and profile.get("temperature") is False
        # Some servers ignore the name that OpenAI gives the limit now.
        compatible = self._by_name and self._chat._llm_type.startswith("openai") and not profile
        self._limit_as_before = compatible and "openai" not in self._endpoint.host
        self.identity = self._identity()

    def _identity(self) -> str:
        told = dict(self._chat._identifying_params)
        # A gateway may tell models of one name apart by these.
        told |= {"path": self._endpoint.path, "query": getattr(self._chat, "default_query", None)}
        named = {key: value for key, value in told.items() if value or key not in _ROUTES}
        settings = hash_text(repr(sorted(i for i in named.items() if i[0] not in _PATIENCE)))
        endpoint = self._endpoint
        return f"{self._chat._llm_type}:{endpoint.model}@{endpoint.host}#{settings}"

    def count_tokens(self, text: str) -> int:
        """Estimate a text's tokens: 4 ASCII characters, or 1 other character, a token."""
        plain = len(text.encode("ascii", "ignore"))
        return len(text) - plain + -(-plain // 4)

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> list[Generation]:
        """Send each prompt as one request, several at once.

        A server that rejects the schema is asked without it from then on; one may also ignore it.
        """
        return await all_or_none(
            self._answer(prompt, max_new_tokens, list(stop), schema) for prompt in prompts
        )

    async def _answer(
        self,
        prompt: Sequence[Message],
        max_new_tokens: int,
        stop: list[str],
        schema: Mapping[str, Any] | None,
    ) -> Generation:
        told = list(prompt) if self._takes_system else without_system(prompt)
        messages = as_sent(self._chat, told)
        thinks = self._thinks
        chat = await self._limited(max_new_tokens)
        sent = self._accepted(stop)
        more = schema_settings(chat, schema if self._takes_schemas else None)
        try:
            with call_slot():
                async with self._slots.current():
                    answer = await call_model(
                        lambda: self._invoke(chat, messages, stop=sent or None, **more),
                        max_retries=self._max_retries,
                        endpoint=self._endpoint,
                        sdk_retries=self._by_name,
                    )
        except ModelResponseError as error:
            system = told != without_system(prompt)
            if self._may_change(
                chat, str(error), stops=bool(sent), schema=bool(more), system=system
            ):
                return await self._answer(prompt, max_new_tokens, stop, schema)
            raise
        check_text(answer, self._endpoint)
        made = as_generation(prompt, answer, stop, self.count_tokens)
        if thinks:
            check_said(answer, self._endpoint)
        if thinks or not lost_to_thought(answer):
            return made
        self._thinks = True
        again = await self._answer(prompt, max_new_tokens, stop, schema)
        return replace(
            again,
            input_tokens=made.input_tokens + again.input_tokens,
            output_tokens=made.output_tokens + again.output_tokens,
            cached_tokens=made.cached_tokens + again.cached_tokens,
        )

    async def _invoke(
        self, chat: BaseChatModel, messages: Sequence[tuple[str, Any]], **more: Any
    ) -> AIMessage:
        strict = chat._llm_type.startswith(_STRICT)
        if self._limiter:
            await self._limiter.aacquire(blocking=True)
        try:
            async with asyncio.timeout(self._timeout):
                answer = await chat.ainvoke(list(messages), **more)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # What the integrations raise for a body without an answer, such as a web page.
            if not strict:
                raise
            raise BrokenAnswerError(f"the answer cannot be read ({error})") from error
        check_whole(answer, tells_end=strict)
        return answer

    def _may_change(
        self, chat: BaseChatModel, said: str, *, stops: bool, schema: bool, system: bool
    ) -> bool:
        """Leave out what the server refused; tell whether it was sent."""
        if stops and _NAMES_STOP.search(said):
            self._takes_stops = False
            return True
        if schema and _NAMES_SCHEMA.search(said):
            if self._takes_schemas:
                _log.warning("JSON is asked for in words alone, without a schema. %s", said)
            self._takes_schemas = False
            return True
        if system and _NAMES_SYSTEM.search(said):
            self._takes_system = False
            return True
        if not self._by_name:
            return False
        if "max_completion_tokens" in said and "max_tokens" in extra_body(chat):
            self._limit_as_before = False
            return True
        if "temperature" in said and getattr(chat, "temperature", None) is not None:
            self._chat = self._chat.model_copy(update={"temperature": None})
            return True
        return False

    async def _limited(self, max_new_tokens: int) -> BaseChatModel:
        """Return the event loop's chat model with a limit for its output, whatever its name."""
        clients = await self._clients.current()
        limit = max_new_tokens + (ROOM_FOR_THOUGHT if self._thinks else 0)
        key = (limit, self._limit_as_before, getattr(self._chat, "temperature", None))
        if key not in clients.models:
            names = [name for name in _LIMITS if name in type(self._chat).model_fields]
            told: dict[str, Any] = dict.fromkeys(names[:1], limit)
            if self._limit_as_before:
                told = {"extra_body": {"max_tokens": limit}}
            changed = {**clients.fields, **told}
            # A user's own model may count or remember, which a copy would do for itself.
            clients.models[key] = self._chat.model_copy(update=changed) if changed else self._chat
        return clients.models[key]

    def _accepted(self, stop: Sequence[str]) -> list[str]:
        """Return the stop strings that the server takes; outputs are cut at all of them anyway."""
        if self._thinks or not self._takes_stops:
            return []
        if self._chat._llm_type.startswith("anthropic"):
            stop = [string for string in stop if string.strip()]
        return list(stop[:MOST_STOPS])
