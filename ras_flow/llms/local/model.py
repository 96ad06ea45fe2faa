"""A language model that runs in this process, through transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from ras_flow.errors import ConfigurationError, RasFlowError
from ras_flow.llms.local import generation
from ras_flow.llms.local.adapter import merge_adapter, round_weights
from ras_flow.llms.local.generation import (
    Encoded,
    LoadedModel,
    check_lengths,
    is_memory_error,
    memory_errors_say,
)
from ras_flow.llms.local.joining import GROUP, Call, JoinedCalls
from ras_flow.llms.local.precision import Precision, local_precision
from ras_flow.llms.local.tokenized import WINDOW, TokenizedModel
from ras_flow.llms.local.tokenizer import forget_tokenizer, load_tokenizer
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import (
    SMOLLM2,
    fingerprint,
    load_error,
    reading_weights,
    resolve,
)
from ras_flow.parts.records import Generation, Message
from ras_flow.parts.tracing import traced_generation
from ras_flow.support.extras import require

_loading = threading.Lock()
_models: dict[tuple[str, str, Precision], LoadedModel] = {}


def read_model(name: str, dtype: str = "float32", *, kind: str = "AutoModelForCausalLM") -> Any:
    """Read a model from disk or the hub; nothing is kept."""
    tuned = find_tuned(name)
    if tuned:
        tuned.check_files(tuned.folder, tuned.files)
    if tuned and tuned.adapter:
        merged = merge_adapter(read_model(tuned.base, kind=kind), tuned.folder)
        return round_weights(merged, dtype)
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    safetensors = require("safetensors", extra="local")
    source = resolve(name)
    try:
        with reading_weights():
            model, loaded = getattr(transformers, kind).from_pretrained(
                source,
                dtype=getattr(torch, dtype),
                # Otherwise it asks on the terminal whether to run a model's own code.
                trust_remote_code=False,
                output_loading_info=True,
            )
    except (
        ImportError,
        OSError,
        ValueError,
        RuntimeError,
        safetensors.SafetensorError,
    ) as error:
        if isinstance(error, RuntimeError) and is_memory_error(error):
            raise
        raise load_error(name, error) from error
    if missing := sorted(loaded["missing_keys"]):
        raise ConfigurationError(
            f"The model {name!r} has no weights for {missing[0]}"
            f"{f' and {len(missing) - 1} others' if missing[1:] else ''}, which would be chance. "
            f"Restore its files, or name a model that {kind} of transformers reads whole."
        )
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


def load_model(
    name: str,
    key: str,
    *,
    kind: str = "AutoModelForCausalLM",
    precision: Precision = "float32",
) -> LoadedModel:
    """Return a model, loaded once per process, on a GPU if there is one."""
    place = name, kind, precision
    with _loading:
        if place not in _models or _models[place].key != key:
            if fingerprint(name) != key:
                raise ConfigurationError(
                    f"The files of the model {name!r} have changed since it was named here. Try "
                    "again, with those that are there now."
                )
            _models.pop(place, None)
            forget_tokenizer(name)  # Texts may have been counted with an older one.
            _models[place] = LoadedModel(read_model(name, precision, kind=kind), key)
        return _models[place]


class _Limits(NamedTuple):
    """What the outputs of joined prompts have in common."""

    max_new_tokens: int
    stop: tuple[str, ...]


_Call = Call[Sequence[Message], _Limits]


class LocalLanguageModel(TokenizedModel):
    """A chat model of transformers, run greedily.

    Everything before a prompt's last message (instruction and examples) is computed once per
    process and kept, so prompts that differ in their last message only are cheap. Calls that wait
    for the same model are made together; see :mod:`ras_flow.llms.local.joining`.

    Attributes:
        trained_for: The tasks that `ras-flow train` trained it for, and what it was asked for each;
            an extractor's has no name.
    """

    _kind = "AutoModelForCausalLM"
    """The class of transformers that reads it."""

    def __init__(self, name: str = SMOLLM2, *, window: int = WINDOW, batch_size: int = 32) -> None:
        super().__init__(name, window)
        self.batch_size = batch_size
        self._key = fingerprint(name)
        self.identity = f"local:{self._key}"
        tuned = find_tuned(name)
        self.trained_for = dict(tuned.instructions) if tuned else {}
        self._calls: JoinedCalls[Sequence[Message], _Limits, list[Generation]] = JoinedCalls(
            self._serve, most=GROUP * batch_size
        )

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Continue each prompt greedily."""
        if not prompts:
            return []
        limits = _Limits(max_new_tokens, tuple(stop))
        async with traced_generation(self.name, prompts, max_new_tokens=max_new_tokens) as made:
            made += await self._calls.make(prompts, limits)
        return made

    def _serve(
        self, calls: Sequence[_Call], given_up: threading.Event
    ) -> dict[_Call, list[Generation] | RasFlowError]:
        """Make calls together, each distinct prompt once; an error fails its own call only."""
        limits = calls[0].limits
        encoded: dict[_Call, list[Encoded]] = {}
        outcomes: dict[_Call, list[Generation] | RasFlowError] = {}
        with memory_errors_say(
            f"Memory ran out in the local model {self.name!r}. Lower its batch_size (now "
            f"{self.batch_size}) or its window (now {self._window} tokens)."
        ):
            loaded = load_model(self.name, self._key, kind=self._kind, precision=local_precision())
            tokenizer = load_tokenizer(self.name, chat=self._chats)
            for call in calls:
                try:
                    prompts = [self._encode(prompt, share=loaded.shares) for prompt in call.items]
                    check_lengths(loaded.model, prompts, limits.max_new_tokens, self.name)
                    encoded[call] = prompts
                except RasFlowError as error:
                    outcomes[call] = error
            different = list(dict.fromkeys(one for prompts in encoded.values() for one in prompts))
            outputs = generation.generate(
                loaded,
                tokenizer,
                different,
                name=self.name,
                batch_size=self.batch_size,
                max_new_tokens=limits.max_new_tokens,
                stop=limits.stop,
                given_up=given_up,
            )
        made = dict(zip(different, outputs, strict=True))
        for call, prompts in encoded.items():
            outcomes[call] = [made[prompt] for prompt in prompts]
        return outcomes
