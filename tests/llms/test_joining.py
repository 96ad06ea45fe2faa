"""Concurrent calls of a local model are made together, and none can tell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError, ModelResponseError
from ras_flow.llms import LocalLanguageModel
from ras_flow.llms.local import generation, tokenizer
from ras_flow.llms.local import model as local
from ras_flow.llms.local.joining import run_in_lane
from ras_flow.parts import Generation
from tests.llms.tiny import chat

TEXTS = ["a", "bc " * 9, "what is this? " * 12, "東京" * 30, "x" * 201, "last one"]


@pytest.fixture
def model(folder: Path) -> LocalLanguageModel:
    return LocalLanguageModel(str(folder), batch_size=4)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the prompts of each group that is decoded."""
    sizes: list[int] = []
    plain = generation.generate

    def counted(loaded: Any, tokenizer: Any, prompts: Any, **settings: Any) -> list[Generation]:
        sizes.append(len(prompts))
        return plain(loaded, tokenizer, prompts, **settings)

    monkeypatch.setattr(generation, "generate", counted)
    return sizes


class Busy:
    """Keeps the compute lane busy until it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    async def __aenter__(self) -> Busy:
        self._held = asyncio.create_task(run_in_lane(lambda: self.go_on.wait(30)))
        await asyncio.sleep(0.02)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.go_on.set()
        await self._held


async def ask(model: LocalLanguageModel, *texts: str, new: int = 20) -> list[Generation]:
    return await model.generate([chat(text, examples=0) for text in texts], max_new_tokens=new)


async def start(*calls: Any) -> list[asyncio.Task[list[Generation]]]:
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0.05)
    return tasks


async def test_waiting_calls_are_joined_and_duplicates_made_once(
    model: LocalLanguageModel, made: list[int]
) -> None:
    alone = {text: (await ask(model, text))[0] for text in TEXTS}
    assert len({one.text for one in alone.values()}) > 3, "outputs must differ to compare"
    made.clear()
    async with Busy():
        calls = await start(*(ask(model, a, b) for a in TEXTS[:3] for b in TEXTS[:2]))
    found = [await call for call in calls]
    assert found == [[alone[a], alone[b]] for a in TEXTS[:3] for b in TEXTS[:2]]
    assert made == [3], "twelve prompts, three different ones, one group"


async def test_calls_of_other_limits_are_not_joined(
    model: LocalLanguageModel, made: list[int]
) -> None:
    async with Busy():
        short, long = await start(ask(model, "a", new=3), ask(model, "a", new=9))
    assert ((await short)[0].output_tokens, (await long)[0].output_tokens) == (3, 9)
    assert made == [1, 1]


async def test_groups_are_bounded(model: LocalLanguageModel, made: list[int]) -> None:
    async with Busy():
        calls = await start(*(ask(model, *[f"{n} {i}" for i in range(6)]) for n in range(5)))
    assert [len(await call) for call in calls] == [6] * 5
    assert made == [12, 12, 6], "at most four batches of four"
    assert len(await ask(model, *[f"{i}" for i in range(20)], new=2)) == 20
    assert made[3:] == [20], "a larger call is made by itself"


async def test_a_prompt_that_is_too_long_fails_its_own_call_alone(
    model: LocalLanguageModel,
) -> None:
    [expected] = await ask(model, "a")
    async with Busy():
        good, bad = await start(ask(model, "a"), ask(model, "b", "x" * 5_000))
    assert await good == [expected]
    with pytest.raises(ModelResponseError, match="Shorten"):
        await bad


async def test_a_cancelled_call_leaves_the_others(
    model: LocalLanguageModel, made: list[int]
) -> None:
    [expected] = await ask(model, "a")
    made.clear()
    async with Busy():
        first, second = await start(ask(model, "b"), ask(model, "a"))
        first.cancel()
        await asyncio.sleep(0.01)
    assert await second == [expected]
    assert first.cancelled() and made == [1], "what was given up before is not made"


async def test_a_group_that_all_gave_up_is_not_made_and_not_joined(
    model: LocalLanguageModel, made: list[int]
) -> None:
    async with Busy():
        [gone] = await start(ask(model, "b"))
        gone.cancel()
        await asyncio.sleep(0.01)
        [call] = await start(ask(model, "a"))
    assert len(await call) == 1 and made == [1]


async def test_an_error_of_the_model_reaches_every_caller(
    model: LocalLanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> list[Generation]:
        raise MemoryError("out of memory")

    monkeypatch.setattr(generation, "generate", fails)
    async with Busy():
        calls = await start(ask(model, "a"), ask(model, "b"))
    for call in calls:
        with pytest.raises(ConfigurationError, match="batch_size"):
            await call


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    local._models.clear()
    tokenizer._tokenizers.clear()
