"""Callers of ``invoke`` and ``batch``."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.sqlite import SqliteSaver

from ras_flow import Context
from ras_flow.parts import AnswerRequest, Reply
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import QUESTION, SECOND, ScriptedPlanner, build, world
from tests.servers import Answer, AnthropicServer, OpenAIServer, ScriptedServer
from tests.servers.scripted import AtOnce

PLANS = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]


@contextmanager
def served(kind: str) -> Iterator[tuple[BaseChatModel, list[Any]]]:
    """A chat model as a user sets it up, and the requests that come to its server."""
    servers: dict[str, type[ScriptedServer]] = {
        "openai": OpenAIServer,
        "anthropic": AnthropicServer,
    }
    script = [Answer("No facts.", match=r"^1 \["), Answer("Narvik", match="")]
    with servers[kind](script) as server:
        settings: dict[str, Any] = {"base_url": server.url, "api_key": "x", "max_retries": 0}
        yield init_chat_model("m", model_provider=kind, **settings), server.requests


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_chat_model_that_is_given_serves_step_after_step_and_run_after_run(
    kind: str, kept: bool, tmp_path: Path
) -> None:
    with (
        served(kind) as (chat, requests),
        SqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as sqlite,
    ):
        parts = world(PLANS * 2, extractor=chat, answerer=chat)
        graph = build(parts, checkpointer=sqlite if kept else None)
        for run in range(2):
            config: Any = {"configurable": {"thread_id": str(run)}}
            result = graph.invoke({"question": QUESTION}, config, context=Context(top_k=1))
            assert (result["answer"], result["warnings"]) == ("Narvik", [])
        assert len(requests) == 2 * (2 + 1)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_chat_model_that_is_given_serves_callers_of_both_ways_and_their_own_calls(
    kind: str,
) -> None:
    """As in a notebook, or beside async endpoints: each event loop has connections of its own."""
    with served(kind) as (chat, _):
        graph = build(world([], planner=chat, answerer=chat))

        async def asked() -> Any:
            return await graph.ainvoke({"question": QUESTION}, context=Context(max_hops=0))

        assert asyncio.run(chat.ainvoke("Who?")).text == "Narvik"
        for _ in range(2):
            for result in (
                graph.invoke({"question": QUESTION}, context=Context(max_hops=0)),
                asyncio.run(asked()),
            ):
                assert (result["answer"], result["warnings"]) == ("Narvik", [])


def test_a_batch_keeps_to_the_models_limit_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    script = AtOnce("Narvik")
    with OpenAIServer(script) as server:
        context = Context(
            planner="openai:m", answerer="openai:m", base_url=server.url, max_concurrency=2
        )
        parts = world()
        del parts["planner"], parts["answerer"]
        questions = [{"question": f"Who is number {n}?"} for n in range(6)]
        results = build(parts).batch(questions, context=context)
    assert [result["answer"] for result in results] == ["Narvik"] * 6
    assert script.most == 2


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_part_may_ask_another_graph_by_invoke(in_thread: bool) -> None:
    class Asks:
        identity, takes_soft_tokens = "asks", False

        async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
            questions = [{"question": request.question} for request in requests]
            inner = build(world(PLANS, answerer=ScriptedAnswerer("Narvik")))
            found = (
                await asyncio.to_thread(inner.batch, questions)
                if in_thread
                else inner.batch(questions)
            )
            return [Reply(one["answer"]) for one in found]

    graph = build(world(planner=ScriptedPlanner(PLANS), answerer=Asks()))
    results = graph.batch([{"question": QUESTION}] * 40, context=Context(max_hops=0))
    assert {result["answer"] for result in results} == {"Narvik"}


def test_a_forked_process_has_a_loop_of_its_own() -> None:
    assert ask() == "Narvik"
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(ask).get(60) == "Narvik"
    assert ask() == "Narvik"


def ask() -> str:
    return str(build(world()).invoke({"question": QUESTION})["answer"])


def test_an_interrupted_call_is_given_up() -> None:
    begun, given_up = threading.Event(), threading.Event()

    class Slow:
        identity, takes_soft_tokens = "slow", False

        async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                given_up.set()
            raise AssertionError

    def interrupt() -> None:
        begun.wait(60)
        time.sleep(0.5)  # The caller has come to its wait.
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        build(world(answerer=Slow())).invoke({"question": QUESTION})
    assert given_up.wait(10)


@pytest.mark.parametrize("in_task", [False, True])
def test_a_part_that_exits_the_program_exits_it_and_the_next_call_works(in_task: bool) -> None:
    class Exits:
        identity, takes_soft_tokens = "exits", False

        async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
            return await asyncio.create_task(self.exit()) if in_task else await self.exit()

        async def exit(self) -> list[Reply]:
            sys.exit(3)

    with pytest.raises(SystemExit):
        build(world(answerer=Exits())).invoke({"question": QUESTION})
    assert ask() == "Narvik"
