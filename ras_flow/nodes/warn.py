"""Warnings: what was lost on a run's way, told in its stream and kept in its state."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import WarningEvent
from ras_flow.parts.records import Reply


def warn(runtime: Runtime[Any], *messages: str) -> dict[str, list[str]]:
    """Stream warnings; return the update that keeps them, empty for none."""
    for message in messages:
        runtime.stream_writer(WarningEvent(type="warning", message=message))
    return {"warnings": list(messages)} if messages else {}


def loss_of(role: str, reply: Reply) -> list[str]:
    """Say what did not fit into a model's window; nothing where all did."""
    if not reply.lost_triples:
        return []
    return [
        f"{reply.lost_triples} triple(s) or passage(s) did not fit into the {role}'s window and "
        "were left out or shortened."
    ]


def end_of(role: str, text: str, reply: Reply) -> list[str]:
    """Say that an answer is empty or was cut short; nothing for a whole one."""
    if not text:
        return [f"The {role} wrote nothing, so the answer is empty."]
    if reply.truncated:
        return [f"The answer ends where the {role} came to its limit of new tokens."]
    return []
