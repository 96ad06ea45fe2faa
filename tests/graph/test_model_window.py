"""What a server's model takes at once is what it is sent at most."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from ras_flow import Context, build_graph
from ras_flow.llms import ChatLanguageModel
from tests.servers import Answer, OpenAIServer

DOCUMENTS = [
    {"title": f"Bridge {i}", "text": f"Bridge {i} was opened in {1800 + i}. " + "It is long. " * 25}
    for i in range(60)
]
WINDOW = 2048


@pytest.mark.parametrize("given", ["name", "object"])
async def test_a_prompt_fits_into_the_window_and_what_is_left_out_is_told(
    saver: BaseCheckpointSaver[str], given: str
) -> None:
    settings: dict[str, Any] = {"extractor": "none", "planning": "static"}
    with OpenAIServer(lambda body: Answer("1807")) as server:
        settings |= {"answerer": "openai:mine", "base_url": server.url}
        parts: dict[str, Any] = {}
        if given == "object":
            chat = ChatLanguageModel("openai:mine", base_url=server.url)._chat
            parts = {"answerer": chat, "defaults": Context(model_window=WINDOW)}
        else:
            settings["model_window"] = WINDOW
        result = await (
            build_graph(**parts)
            .compile(checkpointer=saver)
            .ainvoke(
                {"question": "When was Bridge 7 opened?", "documents": DOCUMENTS},
                {"configurable": {"thread_id": "1"}},
                context=Context(**settings),
            )
        )
        [asked] = [request["body"] for request in server.requests]
    sent = "".join(message["content"] for message in asked["messages"])
    assert WINDOW / 4 < len(sent) / 4 < WINDOW - 100  # The answer may be as long.
    assert "Bridge 7 was opened" in sent
    kept = sent.count("was opened in 1")
    [warning] = result["warnings"]
    assert warning.startswith(f"{len(DOCUMENTS) - kept} ") and "window" in warning
    assert result["answer"] == "1807"
