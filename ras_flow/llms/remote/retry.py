"""Retries of remote model calls: only where a later attempt can succeed.

Errors are told apart by langchain-core's model errors, by HTTP status, and by the class names of
the HTTP clients, so that no client has to be installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeVar

from langchain_core.exceptions import ModelAuthenticationError, ModelPermissionDeniedError
from langchain_core.exceptions import ModelError as ChatModelError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
)
from tenacity.wait import wait_random_exponential

from ras_flow.errors import AuthenticationError, ModelResponseError, ModelUnavailableError
from ras_flow.formats.text import scrub

T = TypeVar("T")
_timer: ContextVar[asyncio.Timeout] = ContextVar("_timer")
Kind = Literal["retry", "refused", "rejected"]

LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever the server asks for."""

_TRANSIENT = {
    "APIConnectionError",
    "APIResponseValidationError",
    "APITimeoutError",
    "ChunkedEncodingError",
    "ClientError",  # aiohttp's own, as for what is no HTTP
    "ConnectionError",
    "HTTPError",  # the base of transport errors in httpx; status errors are told apart earlier
    "Timeout",
    "TimeoutError",
}
_TRANSIENT_STATUS = {408, 429}
_REFUSED_STATUS = {401, 402, 403}
_NO_CREDIT = "insufficient_quota"
"""Code of a 429 that no later attempt changes."""
_THROTTLED = ("Throttl", "TooManyRequests")
"""How the codes begin by which Amazon's services ask for patience, some of them with a 400."""
_EVENTS: dict[str, Kind] = {
    "authentication_error": "refused",
    "permission_error": "refused",
    "invalid_request_error": "rejected",
    "not_found_error": "rejected",
    "request_too_large": "rejected",
}
"""Types of errors that a server sends inside a stream, after status 200; the rest are retried."""


class BrokenAnswerError(Exception):
    """An answer that ended too early or is no answer at all; another attempt may do better."""


@dataclass(frozen=True)
class Retries:
    """How often and how long to try.

    Attributes:
        further_attempts: Attempts after the first.
        timeout: Seconds for one attempt, without its :func:`untimed` waits.
        total: Seconds for all attempts and the waits between them.
        first_wait: Seconds to wait at most after the first attempt; doubles with each one.
    """

    further_attempts: int
    timeout: float
    total: float
    first_wait: float = 1.0


@dataclass(frozen=True)
class Endpoint:
    """Who is called, for error messages.

    Attributes:
        model: The model's name.
        host: Its server.
        path: What follows the host in the address; empty where that is no more than ``/v1``.
        key_variable: The environment variable with the key; empty where none is known.
        secrets: What no message may contain.
    """

    model: str
    host: str
    key_variable: str = ""
    path: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def redact(self, text: str) -> str:
        """Return the text's beginning without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text if len(text) <= 500 else text[:500] + "..."


def classify(error: BaseException) -> Kind | None:
    """Tell what an error of a model call means."""
    status = status_of(error)
    if status is not None:
        if status in _REFUSED_STATUS or getattr(error, "code", None) == _NO_CREDIT:
            return "refused"
        return "retry" if status >= 500 or status in _TRANSIENT_STATUS else "rejected"
    if isinstance(error, BrokenAnswerError | json.JSONDecodeError):
        return "retry"
    if isinstance(error, ModelAuthenticationError | ModelPermissionDeniedError):
        return "refused"
    if isinstance(error, ChatModelError):
        return "retry" if error.is_retryable else "rejected"
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _TRANSIENT:
        return "retry"
    if "APIError" in names:
        return _EVENTS.get(str(getattr(error, "type", None)), "retry")
    return None


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a server's refusal, as its client tells it; None for others."""
    # httpx and requests, which some integrations use as they are, tell it in the response alone.
    response = getattr(error, "response", None)
    found = [getattr(teller, "status_code", None) for teller in (error, response)]
    found.append(vars(error).get("code"))  # Google
    if isinstance(response, Mapping):  # botocore
        if str(response.get("Error", {}).get("Code")).startswith(_THROTTLED):
            return 429
        found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    return next((it for it in found if isinstance(it, int) and 400 <= it < 600), None)


async def call_with_retries(
    call: Callable[[], Awaitable[T]], *, retries: Retries, endpoint: Endpoint
) -> T:
    """Await a model call, again after timeouts, broken connections, 429 and 5xx."""
    tries = 0
    timer = asyncio.timeout(retries.timeout)

    async def attempt() -> T:
        nonlocal tries, timer
        tries += 1
        async with asyncio.timeout(retries.timeout) as timer:
            mark = _timer.set(timer)
            try:
                return await call()
            finally:
                _timer.reset(mark)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(retries.further_attempts + 1) | stop_before_delay(retries.total),
        wait=_Wait(retries.first_wait),
        retry=retry_if_exception(lambda error: classify(error) == "retry"),
        reraise=True,
    )
    try:
        return await retrying(attempt)
    except Exception as error:
        kind = classify(error)
        if kind is None:
            raise
        # The cause is left out of the traceback: clients' errors may quote the key.
        due, now = timer.when(), asyncio.get_running_loop().time()
        late = retries.timeout if due is not None and now >= due else None
        raise _explained(kind, error, tries, endpoint, late) from None


@contextmanager
def untimed() -> Iterator[None]:
    """Leave a wait within an attempt out of the attempt's time."""
    timer, loop = _timer.get(), asyncio.get_running_loop()
    due, began = timer.when(), loop.time()
    timer.reschedule(None)
    yield
    if due is not None:
        timer.reschedule(due + loop.time() - began)


class _Wait:
    """Exponential backoff with jitter, or what the server asks for in ``retry-after``."""

    def __init__(self, first: float) -> None:
        self._backoff = wait_random_exponential(multiplier=first, max=LONGEST_WAIT)

    def __call__(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = _retry_after(error)
        return self._backoff(state) if asked is None else min(asked, LONGEST_WAIT)


def _retry_after(error: BaseException | None) -> float | None:
    """Return the seconds of a ``retry-after`` header (a number or an HTTP date), if over 0."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if headers is not None else None
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return seconds if seconds > 0 else None


def _said(error: BaseException) -> str:
    """Return what an error says, with what clients leave out of their own messages."""
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    status, body = status_of(error), getattr(error, "body", None)
    if body and str(error) == f"Error code: {status}":
        said += f" - {body}"
    origin = error
    while origin.__cause__:
        origin = origin.__cause__
    if status is None and str(origin) not in said:
        said += f" ({type(origin).__name__}: {origin})"
    return scrub(" ".join(said.split()))


def _explained(
    kind: Kind, error: Exception, tries: int, endpoint: Endpoint, late: float | None
) -> Exception:
    """Return the error to raise; ``late`` is the limit that the last attempt came to, if any."""
    who = f"the model {endpoint.model!r} at {endpoint.host}"
    said = endpoint.redact(_said(error))
    if late is not None:
        said += f" (no answer within {late:g} seconds; a slow server needs a longer model_timeout)"
    if kind == "refused":
        status = status_of(error) or 401
        fix = f" Check the key in {endpoint.key_variable}." if endpoint.key_variable else ""
        return AuthenticationError(
            f"The key for {who} was refused ({status}).{fix} It must be valid, allowed to "
            "use this model, and have credit left."
        )
    if kind == "rejected":
        missing = status_of(error) in (404, 405)
        check = (
            "the base_url, if one is given: with /v1 at its end for OpenAI-compatible servers, "
            "without for Anthropic-compatible ones"
            if missing
            else "the prompt's length (model_window is for what the server takes)"
        )
        return ModelResponseError(
            f"The request to {who} was rejected. Check the model's name and {check}. "
            f"The server said: {said}"
        )
    return ModelUnavailableError(
        f"No usable answer from {who} in {tries} attempt{'s' if tries > 1 else ''}. Check "
        "that the server runs and its address is right, or try again later. "
        f"The last failure: {said}"
    )
