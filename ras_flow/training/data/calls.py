"""Model calls that are made once: an append-only log, keyed by content.

A key is the model's identity, the messages and the limits. What is in the log is never asked again,
in this process or a later one; two tasks that ask the same at once share one call. So a build that
was killed, or whose prompts changed for one step, is simply started again.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ras_flow.errors import InputError
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import Generation, Message
from ras_flow.support.concurrency import to_its_end
from ras_flow.support.files import whole_lines


@dataclass
class StepUsage:
    """What one step of a build cost.

    Attributes:
        calls: Calls that were made.
        reused: Calls that the log answered.
        input_tokens: Prompt tokens, of reused calls too.
        output_tokens: Generated tokens, of reused calls too.
    """

    calls: int = 0
    reused: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class CallLog:
    """The log; what was asked before is read at once, a torn last line dropped.

    Attributes:
        usage: What was used by step since the log was opened, reused calls included.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usage: dict[str, StepUsage] = {}
        self._known: dict[str, Generation] = {}
        self._pending: dict[str, asyncio.Event] = {}
        self._writing = threading.Lock()
        self._read()

    async def ask(
        self,
        step: str,
        model: LanguageModel,
        prompts: Sequence[Sequence[Message]],
        max_new_tokens: int,
        stop: Sequence[str],
    ) -> list[Generation]:
        """Answer prompts from the log, asking the model for those that are not in it."""
        keys = [_key(model, prompt, max_new_tokens, stop) for prompt in prompts]
        wanted = dict(zip(keys, prompts, strict=True))
        calls = 0
        while missing := [key for key in wanted if key not in self._known]:
            mine = {key: wanted[key] for key in missing if key not in self._pending}
            if mine:
                await self._call(step, model, mine, max_new_tokens, stop)
                calls += len(mine)
            else:
                # If that call fails, it is asked again from here.
                await self._pending[missing[0]].wait()
        made = [self._known[key] for key in keys]
        usage = self.usage.setdefault(step, StepUsage())
        usage.calls += calls
        usage.reused += len(keys) - calls
        usage.input_tokens += sum(generation.input_tokens for generation in made)
        usage.output_tokens += sum(generation.output_tokens for generation in made)
        return made

    async def _call(
        self,
        step: str,
        model: LanguageModel,
        asked: dict[str, Sequence[Message]],
        max_new_tokens: int,
        stop: Sequence[str],
    ) -> None:
        ended = asyncio.Event()
        self._pending.update(dict.fromkeys(asked, ended))
        try:
            made = await model.generate(
                list(asked.values()), max_new_tokens=max_new_tokens, stop=stop
            )
            lines = [
                {"key": key, "step": step, "model": model.identity, **asdict(generation)}
                for key, generation in zip(asked, made, strict=True)
            ]
            await to_its_end(asyncio.to_thread(self._append, lines))
            self._known.update(zip(asked, made, strict=True))
        finally:
            for key in asked:
                del self._pending[key]
            ended.set()

    def _append(self, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        with self._writing, self.path.open("ab") as file:
            file.write(text.encode())

    def _read(self) -> None:
        for number, line in enumerate(whole_lines(self.path).splitlines(), start=1):
            try:
                value = json.loads(line)
                self._known[value["key"]] = Generation(
                    str(value["text"]),
                    int(value["input_tokens"]),
                    int(value["output_tokens"]),
                    bool(value["truncated"]),
                )
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{self.path.name}:{number}: this is no line of a call log ({error!r}). Remove "
                    "the line to have the model asked again."
                ) from error


class LoggedModel:
    """A language model whose calls go through a log."""

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
        return await self._log.ask(self._step, self._model, prompts, max_new_tokens, stop)


def _key(
    model: LanguageModel, prompt: Sequence[Message], max_new_tokens: int, stop: Sequence[str]
) -> str:
    messages = [[message["role"], message["content"]] for message in prompt]
    content = json.dumps([model.identity, messages, max_new_tokens, list(stop)])
    return sha256(content.encode()).hexdigest()[:32]
