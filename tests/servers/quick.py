"""Retries without long waits."""

from __future__ import annotations

import pytest


def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits between attempts, of the SDKs and of ours."""
    for sdk in ("openai", "anthropic"):
        monkeypatch.setattr(f"{sdk}._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("ras_flow.llms.remote.failures.FIRST_WAIT", 0.01)
