"""Whether what a chat model answered can be used, and what of it is text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ModelResponseError
from ras_flow.formats.reply import spoken
from ras_flow.llms.local.generation import cut_at
from ras_flow.llms.remote.failures import BrokenAnswerError, Endpoint
from ras_flow.parts.records import Generation, Message

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

LEAST_THOUGHT = 16
"""Tokens from which an answer counts as thoughts, not as an empty pair of tags or a stop string."""

_ENDS = ("finish_reason", "stop_reason", "done_reason", "status")
_CUT_OFF = {"length", "max_tokens", "model_context_window_exceeded", "incomplete"}
_WITHHELD = {"content_filter", "refusal"}
_BROKEN = {"error", "abort", "aborted", "cancelled", "failed", "insufficient_system_resource"}
"""What servers and gateways say when they gave up in the middle of an answer."""


def check_whole(answer: AIMessage, *, tells_end: bool) -> None:
    """Refuse an answer that broke off.

    ``tells_end``: whether the interface names the reason for every end that is not a break.
    """
    if tells_end and not any(answer.response_metadata.get(name) for name in _ENDS):
        raise BrokenAnswerError("the answer broke off before its end")
    if broken := _ends(answer) & _BROKEN:
        raise BrokenAnswerError(f"the server ended its answer by {', '.join(broken)!r}")


def check_text(answer: AIMessage, endpoint: Endpoint) -> None:
    """Refuse a refusal, a withheld answer, and a tool call without text."""
    who = f"The model {endpoint.model!r} at {endpoint.host}"
    refusal = str(answer.additional_kwargs.get("refusal") or "")
    if why := refusal or ", ".join(_ends(answer) & _WITHHELD):
        raise ModelResponseError(
            f"{who} refused to answer, or its server withheld the answer "
            f"({endpoint.redact(why)}). Ask for something else, or name another model."
        )
    calls = [call["name"] for call in (*answer.tool_calls, *answer.invalid_tool_calls)]
    if calls and not str(answer.text).strip():
        raise ModelResponseError(
            f"{who} called a tool ({endpoint.redact(str(calls[0]))!r}) instead of writing text. "
            "Give it no tools, or name another model."
        )


def as_generation(
    prompt: Sequence[Message],
    answer: AIMessage,
    stop: Sequence[str],
    count_tokens: Callable[[str], int],
) -> Generation:
    """Return an answer's text, without thoughts, up to a stop string; with its tokens."""
    whole = str(answer.text)
    text = spoken(whole)
    cut = cut_at(text, stop)
    usage: dict[str, Any] = dict(answer.usage_metadata or {})
    if "total_cost" in usage and not usage["total_cost"]:
        # LangChain's cache answered, which says so by this alone: nothing was spent.
        read = written = 0
    else:
        # Clients write 0 for what a server does not count; a budget needs an estimate.
        asked = sum(count_tokens(message["content"]) for message in prompt)
        read = usage.get("input_tokens") or asked
        written = usage.get("output_tokens") or count_tokens(whole)
    return Generation(
        text=text[:cut],
        input_tokens=read,
        output_tokens=written,
        truncated=cut is None and bool(_ends(answer) & _CUT_OFF),
        cached_tokens=(usage.get("input_token_details") or {}).get("cache_read") or 0,
    )


def lost_to_thought(answer: AIMessage) -> bool:
    """Tell whether thoughts, shown or hidden, took an answer's place or part of it."""
    text = str(answer.text)
    said = spoken(text)
    usage: dict[str, Any] = dict(answer.usage_metadata or {})
    cut_off = bool(_ends(answer) & _CUT_OFF)
    if not said.strip():
        return bool(text.strip()) or cut_off or _reasoned(answer)
    hidden = usage.get("output_token_details", {}).get("reasoning")
    thought = max(hidden or 0, (len(text) - len(said)) // 4)
    return cut_off and thought >= LEAST_THOUGHT


def check_said(answer: AIMessage, endpoint: Endpoint) -> None:
    """Refuse an answer whose server took all of it for reasoning, though it had room for both."""
    if not str(answer.text).strip() and not _ends(answer) & _CUT_OFF and _reasoned(answer):
        raise ModelResponseError(
            f"The model {endpoint.model!r} at {endpoint.host} wrote no text: its server took the "
            "whole reply for reasoning. Start the server with the reasoning parser of this model "
            "(vLLM: --reasoning-parser), or without one if the model does not think first."
        )


def _reasoned(answer: AIMessage) -> bool:
    """Tell whether an answer without text has thoughts; a stop string alone is few tokens."""
    usage: dict[str, Any] = dict(answer.usage_metadata or {})
    many = usage.get("output_tokens", 0) >= LEAST_THOUGHT
    return many or bool(answer.additional_kwargs.get("reasoning_content"))


def _ends(answer: AIMessage) -> set[str]:
    """Return what the server says of the answer's end."""
    return {str(answer.response_metadata.get(name)).lower() for name in _ENDS}
