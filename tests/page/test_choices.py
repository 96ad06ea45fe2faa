"""What the page offers for a question: nothing that the server would refuse."""

from __future__ import annotations

import pytest

from ras_flow.page.choices import Choices, local_choices, remote_choices, server_choices
from ras_flow.settings.context import Context


def names(choices: Choices) -> list[str]:
    return [documents["name"] for documents in choices["indexes"]]


def test_a_servers_page_offers_its_own_and_what_callers_may_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert names(server_choices()) == ["the server's own", "the demo corpus"]
    assert names(remote_choices()) == names(server_choices()) and remote_choices()["free"]
    monkeypatch.setenv("RAS_FLOW_INDEXES", "/indexes/a, /indexes/b")
    monkeypatch.setenv("RAS_FLOW_MODELS", "openai:a")
    found = server_choices()
    assert names(found) == ["the server's own", "/indexes/a", "/indexes/b"]
    assert found["indexes"][1]["settings"] == {"index": "/indexes/a"}
    assert (found["models"], found["free"]) == (["openai:a"], False)
    for documents in found["indexes"]:
        for task in found["tasks"]:
            Context.from_mapping({**documents["settings"], "task": task})
    monkeypatch.setenv("RAS_FLOW_INDEXES", "")
    assert names(server_choices()) == ["the server's own"] and names(local_choices()) == []
