"""Model calls of a build, kept in a store, so that a build that was killed asks nothing twice."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from langgraph.store.base import BaseStore

from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Generation, Message
from ras_flow.runs.databases.stores import open_store
from ras_flow.support.calls import CallCache, Place, Value

NAMESPACE = ("ras_flow", "generations")


@dataclass
class StepUsage:
    """What one step of a build used: calls made and reused, and the tokens of both."""

    calls: int = 0
    reused: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class CallLog:
    """What models wrote so far, and what each step used since the log was opened."""

    def __init__(self, store: BaseStore) -> None:
        self.calls = CallCache(store)
        self.usage: defaultdict[str, StepUsage] = defaultdict(StepUsage)


@asynccontextmanager
async def open_log(folder: Path) -> AsyncIterator[CallLog]:
    """Open the log of a data set's folder."""
    async with open_store(str(folder), new=True) as store:
        yield CallLog(store)


class LoggedModel:
    """A language model that is asked for one text only once; truncated texts are not kept."""

    def __init__(self, model: LanguageModel, log: CallLog, step: str) -> None:
        self._model, self._log, self._step = model, log, step
        self.identity = model.identity
        self.window = model.window
        self.batch_size = model.batch_size

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._model.count_tokens(text)

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Continue each prompt, or return how it was continued before."""
        asked = 0

        async def make(missing: list[int]) -> list[Value]:
            nonlocal asked
            asked = len(missing)
            some = [prompts[at] for at in missing]
            made = await self._model.generate(some, max_new_tokens=max_new_tokens, stop=stop)
            return [asdict(one) for one in made]

        places = [self._place(prompt, max_new_tokens, stop) for prompt in prompts]
        values = await self._log.calls.get_or_make(places, make, lambda one: not one["truncated"])
        made = [Generation(**value) for value in values]
        usage = self._log.usage[self._step]
        usage.calls += asked
        usage.reused += len(made) - asked
        usage.input_tokens += sum(one.input_tokens for one in made)
        usage.output_tokens += sum(one.output_tokens for one in made)
        return made

    def _place(self, prompt: Sequence[Message], limit: int, stop: Sequence[str]) -> Place:
        messages = [[message["role"], message["content"]] for message in prompt]
        asked = json.dumps([self.identity, messages, limit, list(stop)])
        return NAMESPACE, sha256(asked.encode()).hexdigest()[:32]
