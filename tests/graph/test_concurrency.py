"""How many calls of one model its server has at once."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from langchain.chat_models import init_chat_model

from ras_flow import Context
from ras_flow.support.concurrency import to_its_end
from tests.graph.world import build, world
from tests.servers import OpenAIServer
from tests.servers.scripted import AtOnce

QUESTIONS = [{"question": f"Who is number {number}?"} for number in range(8)]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> AtOnce:
    monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
    return AtOnce("[NO_RETRIEVAL]")


async def test_roles_that_are_given_one_object_share_its_limit(script: AtOnce) -> None:
    with OpenAIServer(script) as server:
        model = init_chat_model("openai:m", base_url=server.url)
        roles = dict.fromkeys(("planner", "extractor", "answerer"), model)
        graph = build(world(defaults=Context(max_concurrency=2, loop="paper"), **roles))
        await asyncio.gather(*map(graph.ainvoke, QUESTIONS))
        assert len(server.requests) == 16, "each plans, and answers"
    assert script.most == 2


async def test_runs_of_other_settings_share_a_models_limit(script: AtOnce) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"model_timeout": 61.0},
        {"max_retries": 3},
        {"model_window": 5000},
    ]
    parts = world()
    del parts["planner"], parts["answerer"]
    with OpenAIServer(script) as server:
        base = Context(
            planner="openai:m", answerer="openai:m", base_url=server.url, max_concurrency=2
        )
        graph = build(parts | {"defaults": base})
        runs = zip(QUESTIONS, settings * 2, strict=True)
        await asyncio.gather(*(graph.ainvoke(asked, context=own) for asked, own in runs))
    assert script.most == 2


async def test_what_fails_after_its_caller_was_cancelled_leaves_no_traceback() -> None:
    async def fail() -> None:
        await asyncio.sleep(0.05)
        raise RuntimeError("too late")

    async def cancel() -> None:
        caller = asyncio.create_task(to_its_end(fail()))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait([caller])
        assert caller.cancelled()

    printed: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: printed.append(told))
    await cancel()
    gc.collect()
    assert not printed
