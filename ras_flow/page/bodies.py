"""Request bodies: small JSON objects with known fields."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ras_flow.errors import InputError

MAX_BYTES = 256 * 1024
"""The longest body that is read: a long question or thousands of edits fit."""


async def read_body(request: Request, *known: str) -> dict[str, Any]:
    """Read a request's body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Another site's form can send any other type without asking the browser for permission.
    if kind != "application/json":
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
        raise InputError("The body is no JSON; send an object.") from error
    if not isinstance(given, dict):
        raise InputError("The body is no JSON object; send one.")
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InputError(f"Unknown field(s) {', '.join(unknown)}. Known: {', '.join(known)}.")
    return given
