"""A language model whose tokenizer and chat template are here, wherever its weights are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.generation import Encoded, as_plain_text, chat_text
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.weights import positions
from ras_flow.parts.records import Message
from ras_flow.support.extras import require

WINDOW = 2500
"""Input tokens that callers are offered, where the model can read so many."""

ROOM_FOR_OUTPUT = 512
"""Tokens of a model's limit that are left for the output, or a quarter of a small limit."""


class TokenizedModel:
    """What is known of a model from its tokenizer and its configuration."""

    _chats = True
    """Whether it reads messages by a chat template."""

    def __init__(self, name: str, window: int = WINDOW) -> None:
        self.name = name
        self._window = window

    @cached_property
    def window(self) -> int:
        """Input tokens to offer to callers."""
        limit = positions(self.name)
        if limit is None:
            return self._window
        return min(self._window, max(limit - ROOM_FOR_OUTPUT, limit * 3 // 4))

    def count_tokens(self, text: str) -> int:
        """Return the number of the model's tokens of a text, without special tokens."""
        tokenizer = load_tokenizer(self.name, chat=self._chats)
        return len(tokenizer.encode(as_plain_text(text, tokenizer), add_special_tokens=False))

    def _encode(self, prompt: Sequence[Message], *, share: bool) -> Encoded:
        tokenizer = load_tokenizer(self.name)
        messages: list[Message] = [
            {"role": message["role"], "content": as_plain_text(message["content"], tokenizer)}
            for message in prompt
        ]

        def tokens(part: list[Message], *, ask: bool) -> list[int]:
            return list(
                tokenizer.encode(chat_text(tokenizer, part, ask=ask), add_special_tokens=False)
            )

        refused = require("jinja2", extra="local").TemplateError
        try:
            try:
                whole = tokens(messages, ask=True)
            except refused:
                messages = without_system(messages)
                whole = tokens(messages, ask=True)
        except refused as error:
            raise ConfigurationError(
                f"The chat template of the model {self.name!r} refuses the prompt ({error}). Name "
                "another model, or mend the template."
            ) from error
        try:
            prefix = tokens(messages[:-1], ask=False) if share and len(messages) > 1 else []
        except refused:  # As some do where no user speaks.
            prefix = []
        if whole[: len(prefix)] != prefix:
            prefix = []
        rest = tuple(whole[len(prefix) :])
        return Encoded(tuple(prefix), rest, words=rest)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Say what a system message says at the beginning of the user's first message."""
    if [message["role"] for message in messages[:2]] != ["system", "user"]:
        return list(messages)
    system, user, *rest = messages
    return [{**user, "content": f"{system['content']}\n\n{user['content']}"}, *rest]
