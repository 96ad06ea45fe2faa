"""Local model calls and retrievals as LangChain runs, beneath the node that makes them.

Nodes and LangChain's own models report themselves to whatever traces a run (LangSmith, a callback
handler, OpenTelemetry); these two tell it of our own parts in the same words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

from ras_flow.parts.records import Generation, Message, ScoredPassage

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager


@asynccontextmanager
async def traced_generation(
    model: str, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int
) -> AsyncIterator[list[Generation]]:
    """Report a local model's generations, one run a prompt."""
    manager = _manager()
    made: list[Generation] = []
    if not manager.handlers:
        yield made
        return
    model = Path(model).name if Path(model).is_absolute() else model
    runs = await manager.on_chat_model_start(
        {"name": model},
        [convert_to_messages([dict(message) for message in prompt]) for prompt in prompts],
        name=model,
        invocation_params={"model": model, "max_new_tokens": max_new_tokens},
    )
    try:
        yield made
    except BaseException as error:
        for run in runs:
            await run.on_llm_error(error, response=LLMResult(generations=[]))
        raise
    for run, generation in zip(runs, made, strict=True):
        await _end(run, model, generation)


@asynccontextmanager
async def traced_retrieval(
    name: str, query: str, *, identity: str
) -> AsyncIterator[list[ScoredPassage]]:
    """Report a retrieval."""
    manager = _manager()
    found: list[ScoredPassage] = []
    if not manager.handlers:
        yield found
        return
    run = await manager.on_retriever_start({"name": name, "repr": identity}, query, name=name)
    try:
        yield found
    except BaseException as error:
        await run.on_retriever_error(error)
        raise
    await run.on_retriever_end(
        [
            Document(
                scored.passage["text"],
                id=scored.passage["id"],
                metadata={"title": scored.passage["title"], "score": float(scored.score)},
            )
            for scored in found
        ]
    )


def _manager() -> AsyncCallbackManager:
    """Return what traces the node that is at work."""
    return get_async_callback_manager_for_config(ensure_config())


async def _end(run: AsyncCallbackManagerForLLMRun, model: str, made: Generation) -> None:
    usage = UsageMetadata(
        input_tokens=made.input_tokens,
        output_tokens=made.output_tokens,
        total_tokens=made.input_tokens + made.output_tokens,
    )
    message = AIMessage(
        made.text,
        usage_metadata=usage,
        response_metadata={
            "model_name": model,
            "finish_reason": "length" if made.truncated else "stop",
        },
    )
    await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
