"""Stub."""

from __future__ import annotations

from typing import Any

from ras_flow.components import Generation


class ChatLanguageModel:
    """To come."""

    identity = ""
    window = 8000
    batch_size = 1

    def __init__(self, model: object, **settings: object) -> None:
        raise NotImplementedError

    def count_tokens(self, text: str) -> int:
        """Count."""
        raise NotImplementedError

    async def generate(
        self, prompts: Any, *, max_new_tokens: int, stop: Any = ()
    ) -> list[Generation]:
        """Generate."""
        raise NotImplementedError
