"""Failed calls of remote models: what they mean, and which are worth another attempt.

The providers' SDKs retry timeouts, broken connections, 429 and 5xx, and honour ``Retry-After``.
What they take for a success is tried again here: answers that break off or cannot be read.
Errors are told apart by langchain-core's model errors, by HTTP status, and by the class names of
the SDKs, so that no SDK has to be installed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from langchain_core.exceptions import ModelAuthenticationError, ModelPermissionDeniedError
from langchain_core.exceptions import ModelError as ChatModelError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from ras_flow.errors import AuthenticationError, ModelResponseError, ModelUnavailableError
from ras_flow.formats.text import scrub

T = TypeVar("T")
Kind = Literal["broken", "unavailable", "refused", "rejected"]

FIRST_WAIT = 0.5
"""Seconds to wait at most before a broken answer is asked for again; doubles with each attempt."""

LONGEST_WAIT = 8.0

_TRANSPORT = {
    "ChunkedEncodingError",  # requests
    "ClientError",  # aiohttp
    "HTTPError",  # httpx, in the middle of a stream
}
_UNREACHED = {
    "APIConnectionError",
    "APITimeoutError",
    "ConnectionError",
    "Timeout",
    "TimeoutError",
}
_TRANSIENT_STATUS = {408, 429}
_REFUSED_STATUS = {401, 402, 403}
_NO_CREDIT = "insufficient_quota"
"""Code of a 429 that no later attempt changes."""
_THROTTLED = ("Throttl", "TooManyRequests")
"""How the codes of Amazon's services for "too many requests" begin; some come with a 400."""
_EVENTS: dict[str, Kind] = {
    "authentication_error": "refused",
    "permission_error": "refused",
    "invalid_request_error": "rejected",
    "not_found_error": "rejected",
    "request_too_large": "rejected",
}
"""Types of errors that a server sends inside a stream, after status 200."""


class BrokenAnswerError(Exception):
    """An answer that ended too early or cannot be read; another attempt may do better."""


@dataclass(frozen=True)
class Endpoint:
    """Who is called, for error messages, which never contain its ``secrets``.

    ``key_variable`` is empty if unknown, ``path`` (what follows the host) for ``/v1``.
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


async def call_model(
    call: Callable[[], Awaitable[T]],
    *,
    max_retries: int,
    endpoint: Endpoint,
    sdk_retries: bool = True,
) -> T:
    """Await a model call, again if its answer is broken; raise failures as errors of ras_flow.

    ``sdk_retries``: whether the SDK itself retries while a server is unavailable.
    """

    async def attempt() -> T:  # Tenacity awaits what async functions return.
        return await call()

    again = {"broken"} if sdk_retries else {"broken", "unavailable"}
    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: classify(error) in again),
        stop=stop_after_attempt(max_retries + 1),
        wait=wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT),
        reraise=True,
    )
    try:
        return await retrying(attempt)
    except Exception as error:
        kind = classify(error)
        if kind is None:
            raise
        # The cause stays out of the traceback: errors of SDKs may quote the key.
        raise _explained(kind, error, endpoint) from None


def classify(error: BaseException) -> Kind | None:
    """Tell what an error of a model call means; None for errors of the caller's own code."""
    status = status_of(error)
    if status is not None:
        if status in _REFUSED_STATUS or getattr(error, "code", None) == _NO_CREDIT:
            return "refused"
        return "unavailable" if status >= 500 or status in _TRANSIENT_STATUS else "rejected"
    if isinstance(error, BrokenAnswerError | json.JSONDecodeError):
        return "broken"
    if isinstance(error, ModelAuthenticationError | ModelPermissionDeniedError):
        return "refused"
    if isinstance(error, ChatModelError):
        return "unavailable" if error.is_retryable else "rejected"
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _TRANSPORT:
        return "broken"
    if names & _UNREACHED:
        return "unavailable"
    if "APIError" in names:
        return _EVENTS.get(str(getattr(error, "type", None)), "broken")
    return None


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of a server's refusal, wherever its client keeps it."""
    # httpx and requests keep it in the response alone.
    response = getattr(error, "response", None)
    found = [getattr(teller, "status_code", None) for teller in (error, response)]
    found.append(vars(error).get("code"))  # Google
    if isinstance(response, Mapping):  # botocore
        if str(response.get("Error", {}).get("Code")).startswith(_THROTTLED):
            return 429
        found.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    return next((it for it in found if isinstance(it, int) and 400 <= it < 600), None)


def _origin(error: BaseException) -> BaseException:
    while error.__cause__:
        error = error.__cause__
    return error


def _said(error: BaseException) -> str:
    """Return an error's message, with the server's body and the first cause if it lacks them."""
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    status, body = status_of(error), getattr(error, "body", None)
    if body and str(error) == f"Error code: {status}":
        said += f" - {body}"
    origin = _origin(error)
    if status is None and str(origin) not in said:
        said += f" ({type(origin).__name__}: {origin})"
    return scrub(" ".join(said.split()))


def _explained(kind: Kind, error: Exception, endpoint: Endpoint) -> Exception:
    who = f"the model {endpoint.model!r} at {endpoint.host}"
    said = endpoint.redact(_said(error))
    if kind == "refused":
        status = status_of(error) or 401
        fix = f" Check the key in {endpoint.key_variable}." if endpoint.key_variable else ""
        return AuthenticationError(
            f"The key for {who} was refused ({status}).{fix} It must be valid, allowed to "
            "use this model, and have credit left."
        )
    if kind == "rejected":
        check = "the prompt's length (set model_window to what the server takes)"
        if status_of(error) in (404, 405):
            check = (
                "the base_url, if you set one: with /v1 at its end for OpenAI-compatible servers, "
                "without for Anthropic-compatible ones"
            )
        return ModelResponseError(
            f"The request to {who} was rejected. Check the model's name and {check}. "
            f"The server said: {said}"
        )
    # OpenAI's SDK calls a refused connection a timeout.
    if isinstance(error, TimeoutError) or "Timeout" in type(_origin(error)).__name__:
        said += " (a slow server needs a longer model_timeout)"
    return ModelUnavailableError(
        f"No usable answer from {who}. Check that the server runs and its address is right, "
        f"or try again later. The last failure: {said}"
    )
