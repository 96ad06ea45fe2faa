"""Chat models of any provider, through LangChain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ModelResponseError
from ras_flow.formats.answer import without_thoughts
from ras_flow.llms.local.generation import cut_at
from ras_flow.llms.local.weights import hash_text
from ras_flow.llms.remote.clients import Pools
from ras_flow.llms.remote.providers import connect, endpoint_of
from ras_flow.llms.remote.rate import UntimedRate
from ras_flow.llms.remote.retry import BrokenAnswerError, Retries, call_with_retries
from ras_flow.llms.remote.schemas import PROBE, PROBE_TOKENS, SchemaProbe, response_format
from ras_flow.llms.remote.slots import make_slots, shared_slots
from ras_flow.llms.waiting import a_place
from ras_flow.parts.records import Generation, Message
from ras_flow.support.concurrency import all_or_none

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

DEFAULT_WINDOW = 8000
"""Input tokens to use where the model's own limit is unknown."""

ROOM_FOR_OUTPUT = 1024
"""Tokens of a known limit that are left for the output."""

ROOM_FOR_THOUGHT = 4096
"""Output tokens on top for models that think before they answer."""

LEAST_THOUGHT = 16
"""Tokens, about, from which thoughts are told from an empty pair of tags, or a stop string."""

MOST_STOPS = 4
"""Stop strings that OpenAI's interface takes."""

_LIMITS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Names that chat models give the limit of output tokens."""

_ENDS = ("finish_reason", "stop_reason", "done_reason", "status")
_CUT_OFF = {"length", "max_tokens", "model_context_window_exceeded", "incomplete"}
_WITHHELD = {"content_filter", "refusal"}
_BROKEN = {"error", "abort", "aborted", "cancelled", "failed", "insufficient_system_resource"}
"""What servers and gateways say where they gave up in the middle of an answer."""
_NAMES_STOP = re.compile(r"\bstop(?:_?sequences)?\b", re.IGNORECASE)
_STRICT = ("openai", "anthropic")
"""Kinds of chat model that always tell why an answer ended, unless it broke off."""

_ROUTES = {"path", "query"}
"""Parts of an address that count where they are given."""

_PATIENCE = {"default_request_timeout", "max_retries"}
"""Settings that Anthropic's integration counts as the model's: they change nothing it writes."""


class ChatLanguageModel:
    """A chat model as a :class:`ras_flow.parts.protocols.LanguageModel`."""

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
        self._chat = connect(model, base_url, timeout) if isinstance(model, str) else model
        if limiter := self._chat.rate_limiter:
            self._chat = self._chat.model_copy(update={"rate_limiter": UntimedRate(limiter)})
        self._endpoint = endpoint_of(self._chat)
        self._retries = Retries(max_retries, timeout, total=max(300.0, 2 * timeout))
        self._schemas = SchemaProbe(f"{self._endpoint.model} at {self._endpoint.host}")
        self._slots = (
            shared_slots(self._endpoint, max_concurrency)
            if self._by_name
            else make_slots(max_concurrency)
        )
        self._pools = Pools(self._chat, by_name=self._by_name)
        profile: dict[str, Any] = dict(getattr(self._chat, "profile", None) or {})
        limit = window or profile.get("max_input_tokens")
        self.window = max(limit - ROOM_FOR_OUTPUT, limit // 2) if limit else DEFAULT_WINDOW
        self._takes_stops = True
        self._thinks = bool(profile.get("reasoning_output")) and profile.get("temperature") is False
        # Some servers pass over the name that OpenAI gives the limit now.
        compatible = self._by_name and self._chat._llm_type.startswith("openai") and not profile
        self._limit_as_before = compatible and "openai" not in self._endpoint.host
        told = dict(self._chat._identifying_params.items())
        # A gateway may tell models of one name apart by these.
        told |= {"path": self._endpoint.path, "query": getattr(self._chat, "default_query", None)}
        named = {key: value for key, value in told.items() if value or key not in _ROUTES}
        settings = hash_text(repr(sorted(i for i in named.items() if i[0] not in _PATIENCE)))
        self.identity = f"{self._chat._llm_type}:{self._endpoint.model}@{self._endpoint.host}"
        self.identity += f"#{settings}"

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
        """Send each prompt as one request, several at once."""
        if prompts and schema is not None and not await self._writes_by(schema):
            schema = None
        return await all_or_none(
            self._answer(prompt, max_new_tokens, list(stop), schema) for prompt in prompts
        )

    async def _writes_by(self, schema: Mapping[str, Any]) -> bool:
        return bool(self._schema_settings(schema, self._chat)) and await self._schemas.enforces(
            schema, lambda schema: self._answer(PROBE, PROBE_TOKENS, [], schema)
        )

    async def _answer(
        self,
        prompt: Sequence[Message],
        max_new_tokens: int,
        stop: list[str],
        schema: Mapping[str, Any] | None,
    ) -> Generation:
        messages = [(message["role"], message["content"]) for message in prompt]
        thinks = self._thinks
        sent = self._accepted(stop)
        chat = await self._limited(max_new_tokens)
        more = self._schema_settings(schema, chat)
        try:
            with a_place():
                # Outside the attempts: the wait for a slot is not the model's time.
                async with self._slots.current():
                    answer = await call_with_retries(
                        lambda: self._invoke(chat, messages, sent, more),
                        retries=self._retries,
                        endpoint=self._endpoint,
                    )
        except ModelResponseError as error:
            if self._may_change_settings(chat, sent, error):
                return await self._answer(prompt, max_new_tokens, stop, schema)
            raise
        self._check(answer)
        made = self._generation(prompt, answer, stop)
        if thinks or not _lost_to_thought(answer):
            return made
        self._thinks = True
        again = await self._answer(prompt, max_new_tokens, stop, schema)
        return replace(
            again,
            input_tokens=made.input_tokens + again.input_tokens,
            output_tokens=made.output_tokens + again.output_tokens,
        )

    async def _invoke(
        self,
        chat: BaseChatModel,
        messages: Sequence[tuple[str, str]],
        stop: list[str],
        more: dict[str, Any],
    ) -> AIMessage:
        strict = self._chat._llm_type.startswith(_STRICT)
        try:
            answer = await chat.ainvoke(list(messages), stop=stop or None, **more)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # What the integrations raise for a body that is no answer, such as a web page.
            if not strict:
                raise
            raise BrokenAnswerError(f"the answer cannot be read ({error})") from error
        if strict and not any(answer.response_metadata.get(name) for name in _ENDS):
            raise BrokenAnswerError("the answer broke off before its end")
        if broken := _ends(answer) & _BROKEN:
            raise BrokenAnswerError(f"the server ended its answer by {', '.join(broken)!r}")
        return answer

    def _check(self, answer: AIMessage) -> None:
        """Refuse an answer that is none."""
        who = f"The model {self._endpoint.model!r} at {self._endpoint.host}"
        if why := _withheld(answer):
            raise ModelResponseError(
                f"{who} refused to answer, or its server withheld what it wrote "
                f"({self._endpoint.redact(why)}). Change what is asked, or name another model."
            )
        calls = [call["name"] for call in (*answer.tool_calls, *answer.invalid_tool_calls)]
        if calls and not str(answer.text).strip():
            raise ModelResponseError(
                f"{who} called a tool ({self._endpoint.redact(str(calls[0]))!r}) where text was "
                "asked for. Give it no tools, or name another model."
            )

    def _may_change_settings(
        self, chat: BaseChatModel, sent: Sequence[str], error: ModelResponseError
    ) -> bool:
        """Leave out what a model refused and was set here; tell whether there was anything."""
        if sent and _NAMES_STOP.search(str(error)):
            self._takes_stops = False
            return True
        if not self._by_name:
            return False
        if "max_completion_tokens" in str(error) and "max_tokens" in _body(chat):
            self._limit_as_before = False
            return True
        if "temperature" in str(error) and getattr(chat, "temperature", None) is not None:
            self._chat = self._chat.model_copy(update={"temperature": None})
            return True
        return False

    def _schema_settings(
        self, schema: Mapping[str, Any] | None, chat: BaseChatModel
    ) -> dict[str, Any]:
        """Return what asks the server for JSON; nothing where that is not known to be possible."""
        if schema is None:
            return {}
        asked = response_format(schema)
        if chat._llm_type.startswith("openai"):
            # As a plain argument it would go through a parser that fails where the output is cut.
            return {"extra_body": {**_body(chat), "response_format": asked}}
        return {"response_format": asked} if chat._llm_type.startswith("anthropic") else {}

    async def _limited(self, max_new_tokens: int) -> BaseChatModel:
        """Return the event loop's chat model with a limit for its output, whatever its name."""
        pool = await self._pools.here()
        limit = max_new_tokens + (ROOM_FOR_THOUGHT if self._thinks else 0)
        key = (limit, self._limit_as_before, getattr(self._chat, "temperature", None))
        if key not in pool.models:
            names = [name for name in _LIMITS if name in type(self._chat).model_fields]
            told: dict[str, Any] = dict.fromkeys(names[:1], limit)
            if self._limit_as_before:
                told = {"extra_body": {"max_tokens": limit}}
            changed = {**pool.fields, **told}
            # A model of a user's own may count or remember, which a copy would do for itself.
            pool.models[key] = self._chat.model_copy(update=changed) if changed else self._chat
        return pool.models[key]

    def _accepted(self, stop: Sequence[str]) -> list[str]:
        """Return the stop strings that the server takes; all are cut off here in any case."""
        if self._thinks or not self._takes_stops:
            return []
        if self._chat._llm_type.startswith("anthropic"):
            stop = [string for string in stop if string.strip()]
        return list(stop[:MOST_STOPS])

    def _generation(
        self, prompt: Sequence[Message], answer: AIMessage, stop: Sequence[str]
    ) -> Generation:
        whole = str(answer.text)
        text = without_thoughts(whole)
        cut = cut_at(text, stop)
        usage: dict[str, Any] = dict(answer.usage_metadata or {})
        if "total_cost" in usage and not usage["total_cost"]:
            # LangChain's cache answered, which says so by this alone: nothing was spent.
            read = written = 0
        else:
            # Clients write 0 for what a server does not count; a budget needs an estimate.
            asked = sum(self.count_tokens(message["content"]) for message in prompt)
            read = usage.get("input_tokens") or asked
            written = usage.get("output_tokens") or self.count_tokens(whole)
        return Generation(
            text=text[:cut],
            input_tokens=read,
            output_tokens=written,
            truncated=cut is None and _is_cut_off(answer),
        )


def _body(chat: BaseChatModel) -> dict[str, Any]:
    """Return what is added to the body of requests in OpenAI's interface."""
    return getattr(chat, "extra_body", None) or {}


def _ends(answer: AIMessage) -> set[str]:
    """Return what the server says of the answer's end."""
    return {str(answer.response_metadata.get(name)).lower() for name in _ENDS}


def _is_cut_off(answer: AIMessage) -> bool:
    return bool(_ends(answer) & _CUT_OFF)


def _withheld(answer: AIMessage) -> str:
    """Return why an answer is not the one that was asked for; empty where it is."""
    said = str(answer.additional_kwargs.get("refusal") or "")
    return said or ", ".join(_ends(answer) & _WITHHELD)


def _lost_to_thought(answer: AIMessage) -> bool:
    """Tell whether thoughts, seen or not, ended an answer before its first word or its last."""
    text = str(answer.text)
    spoken = without_thoughts(text)
    usage: dict[str, Any] = dict(answer.usage_metadata or {})
    if not spoken.strip():
        # A stop string in unseen thoughts ends an answer too; a stop string alone is few tokens.
        written = usage.get("output_tokens", 0)
        return bool(text.strip()) or _is_cut_off(answer) or written >= LEAST_THOUGHT
    unseen = usage.get("output_token_details", {}).get("reasoning")
    thought = max(unseen or 0, (len(text) - len(spoken)) // 4)
    return _is_cut_off(answer) and thought >= LEAST_THOUGHT
