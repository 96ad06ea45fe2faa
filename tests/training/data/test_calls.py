"""What a build asked its models is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.store.memory import InMemoryStore

from ras_flow.parts import Generation, Message
from ras_flow.training.data.calls import CallLog, LoggedModel, StepUsage


class Model:
    identity = "model"
    window = 1000
    batch_size = 4

    def __init__(self, truncated: bool = False) -> None:
        self.asked: list[str] = []
        self.truncated = truncated

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def generate(
        self, prompts: Sequence[Sequence[Message]], **options: Any
    ) -> list[Generation]:
        self.asked += [prompt[0]["content"] for prompt in prompts]
        await asyncio.sleep(0.01)
        return [
            Generation(f"to {prompt[0]['content']}", 5, 2, self.truncated) for prompt in prompts
        ]


def prompts(texts: str) -> list[list[Message]]:
    return [[{"role": "user", "content": text}] for text in texts]


async def test_a_prompt_is_asked_once_by_all_and_with_the_same_limits() -> None:
    store, model = InMemoryStore(), Model()
    log = CallLog(store)
    logged = LoggedModel(model, log, "step")
    made = await asyncio.gather(
        *(logged.generate(prompts(texts), max_new_tokens=9) for texts in ("aab", "bc"))
    )
    assert [[one.text for one in some] for some in made] == [
        ["to a", "to a", "to b"],
        ["to b", "to c"],
    ]
    assert sorted(model.asked) == ["a", "b", "c"]
    assert log.usage == {"step": StepUsage(3, 2, 25, 10)}
    later = LoggedModel(Model(), log := CallLog(store), "other")
    assert await later.generate(prompts("c"), max_new_tokens=9) == [Generation("to c", 5, 2)]
    assert log.usage == {"other": StepUsage(0, 1, 5, 2)}
    for changed in ({"max_new_tokens": 8}, {"max_new_tokens": 9, "stop": ["x"]}):
        await later.generate(prompts("c"), **changed)  # type: ignore[arg-type]
    assert log.usage["other"].calls == 2


async def test_a_text_that_is_cut_off_is_not_kept() -> None:
    model = Model(truncated=True)
    logged = LoggedModel(model, CallLog(InMemoryStore()), "step")
    for _ in range(2):
        [made] = await logged.generate(prompts("a"), max_new_tokens=2)
        assert made.truncated
    assert model.asked == ["a", "a"]
