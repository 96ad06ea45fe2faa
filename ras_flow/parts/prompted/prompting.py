"""Few-shot prompts as chat messages."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Message

MESSAGE_OVERHEAD = 8
"""Tokens that a chat template puts around one message, generously."""


def few_shot(instruction: str, examples: Sequence[tuple[str, str]]) -> list[Message]:
    """Make the fixed beginning of a prompt."""
    messages: list[Message] = [{"role": "system", "content": instruction}]
    for given, wanted in examples:
        messages.append({"role": "user", "content": given})
        messages.append({"role": "assistant", "content": wanted})
    return messages


def prefix_for(
    model: LanguageModel, task: str, instruction: str, examples: Sequence[tuple[str, str]]
) -> list[Message]:
    """Make the beginning of a task's prompt; a model that was trained for it needs no examples."""
    told = getattr(model, "trained_for", {}).get(task)
    return few_shot(instruction, examples) if told is None else few_shot(told, ())


def ask(prefix: Sequence[Message], text: str) -> list[Message]:
    """Append the message that asks."""
    return [*prefix, {"role": "user", "content": text}]


def room(model: LanguageModel, prefix: Sequence[Message]) -> int:
    """Return the tokens that the model's window leaves for the message that asks."""
    used = sum(model.count_tokens(message["content"]) + MESSAGE_OVERHEAD for message in prefix)
    return model.window - used - MESSAGE_OVERHEAD
