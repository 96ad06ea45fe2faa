"""Request bodies: small JSON objects with known fields."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ras_flow.errors import InputError
from ras_flow.support.validation import Settings, checked

MAX_BYTES = 256 * 1024
"""The longest body that is read: a long question or thousands of edits fit."""

B = TypeVar("B", bound=Settings)


def _written(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty: send a text")
    return text


def _id(text: str) -> str:
    # JSON can hold half characters, which no id and no database has.
    if not text or not text.isprintable():
        raise ValueError("must be the id of a step")
    return text


class Asked(Settings):
    """A question; its settings are checked by its system's Context."""

    system: str | None = None
    question: Annotated[str, AfterValidator(_written)]
    settings: dict[str, Any] = {}


class Forked(Settings):
    """Where to fork a run, and the edits; their system reads these."""

    checkpoint: Annotated[str, AfterValidator(_id)]
    edits: Any = ()


class Resumed(Settings):
    """What to go on with; ``checkpoint`` is the step whose review the edits answer."""

    edits: Any = None
    branch: int | None = None
    checkpoint: str | None = None


async def read_body(request: Request, kind: type[B]) -> B:
    """Read a request's body."""
    type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Another site's form can send any other type without asking the browser for permission.
    if type != "application/json":
        raise HTTPException(415, "Send the body as JSON, with Content-Type: application/json.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise HTTPException(413, f"The body is longer than {MAX_BYTES} bytes; send less.")
    except ClientDisconnect as error:
        raise HTTPException(400, "The body was cut off; send all of it.") from error
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("The body is not JSON: send an object.") from error
    return checked(kind, given, "The body", InputError)  # type: ignore[no-any-return]
