"""Structured outputs: whether a server writes by a JSON schema is probed before it is relied on."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ras_flow.errors import ModelResponseError
from ras_flow.parts.records import Generation, Message

PROBE: list[Message] = [{"role": "user", "content": "Write the word ready, and nothing else."}]
"""What a server is asked: one that enforces a schema answers with a JSON object all the same."""

PROBE_TOKENS = 32
"""Tokens that the answer may have: only its beginning is looked at."""

_log = logging.getLogger(__name__)

Ask = Callable[[Mapping[str, Any] | None], Awaitable[Generation]]
"""Sends :data:`PROBE` to the server, with a schema or without."""


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a request that asks for JSON by a schema, in OpenAI's interfaces."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "output", "schema": dict(schema), "strict": True},
    }


class SchemaProbe:
    """What one server does with JSON schemas."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._enforced: dict[str, bool] = {}

    async def enforces(self, schema: Mapping[str, Any], ask: Ask) -> bool:
        """Tell whether the server writes by a schema, which is probed once.

        Callers that arrive before the first probe has ended send one of their own. Its few tokens
        are counted nowhere.
        """
        key = json.dumps(schema, sort_keys=True)
        if key not in self._enforced:
            why_not = await _probe(schema, ask)
            if why_not and key not in self._enforced:
                _log.warning(
                    "Structured outputs are not used: %s %s. JSON is asked for in words alone.",
                    self._server,
                    why_not,
                )
            self._enforced[key] = not why_not
        return self._enforced[key]


async def _probe(schema: Mapping[str, Any], ask: Ask) -> str:
    """Return what keeps the schema from being used; nothing where the server enforces it."""
    try:
        answer = (await ask(schema)).text.lstrip()
    except ModelResponseError as error:
        await ask(None)
        return f"rejects them ({error})"
    return "" if not answer or answer.startswith("{") else "ignores them"
