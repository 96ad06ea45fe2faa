"""A system as a tool for agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import AfterValidator, BaseModel, Field

from ras_flow.errors import ConfigurationError
from ras_flow.formats.answer import says_unknown
from ras_flow.settings.context import Context, values_of
from ras_flow.settings.limits import check_question
from ras_flow.state.channels import RasOutput
from ras_flow.state.schema import citation_text
from ras_flow.state.stop_reasons import RAS, StopReason
from ras_flow.systems import DEFAULT, find_system, named_system, system_names

_CONFIG = RunnableConfig(recursion_limit=10_000)
"""An agent's limit on its own steps must not limit the steps of a search."""


def _usable(question: str) -> str:
    if not question.strip():
        raise ValueError("The question is empty. Give it some text.")
    check_question(question)
    return question


class _Arguments(BaseModel):
    # If refused here, the agent's model is told. If the graph refused it, the agent would end.
    question: Annotated[str, AfterValidator(_usable)] = Field(
        description="A complete question in plain words."
    )


def as_tool(
    graph: Runnable[Any, Any] | None = None,
    *,
    system: str | None = None,
    context: Context | Mapping[str, Any] | None = None,
    name: str = "answer_from_documents",
    description: str = (
        "Answers a question from a document collection by searching it step by step and joining "
        "the facts found. Returns the answer with the facts it rests on."
    ),
) -> BaseTool:
    """Make a LangChain tool from a graph.

    Args:
        graph: A compiled graph, or LangGraph's ``RemoteGraph`` of one on a server; by default the
            shipped graph of ``system``. If the graph has a checkpointer and the agent has no
            thread, each question gets a thread of its own.
        system: The name of the graph's system, such as ``"ras"``. A graph from one of our builders
            already knows it.
        context: The runs' settings. Settings that it does not name are the graph's own. Without
            ``context``, the agent's context counts.
        name: The tool's name, as the agent sees it.
        description: When to use it, as the agent sees it.

    Returns:
        A tool for async and sync agents. Its content is the answer with its facts; its artifact is
        the whole :class:`ras_flow.RasOutput`. An error in the graph ends the agent, as any tool's
        error does. To tell the agent's model about errors instead, use LangChain's
        ``ToolRetryMiddleware(on_failure="continue")``.

    Raises:
        ConfigurationError: The graph is not compiled, or the system is unknown.
    """
    if graph is not None and not isinstance(graph, Runnable):
        raise ConfigurationError(
            f"as_tool takes a compiled graph, such as build_graph().compile(), not a "
            f"{type(graph).__name__}."
        )
    own: str = getattr(getattr(graph, "builder", None), "system", DEFAULT)
    name_of_system = system or own
    if graph is None:
        known = named_system(name_of_system)
        graph, name_of_system = known.builder().compile(), known.name
    listed = name_of_system in system_names()
    meanings = find_system(name_of_system).stop_reasons if listed else {}

    # Passed as a Context, every field would go to a server, even those that nobody set.
    named: Any = dict(values_of(context)) if context is not None else None

    # A checkpointer of its own needs a thread; an agent that keeps nothing has none.
    keeps = isinstance(getattr(graph, "checkpointer", None), BaseCheckpointSaver)

    def config() -> RunnableConfig:
        if not keeps or "thread_id" in ensure_config().get("configurable", {}):
            return _CONFIG
        return {**_CONFIG, "configurable": {"thread_id": uuid4().hex}}

    async def run(question: str) -> tuple[str, RasOutput]:
        answered = await graph.ainvoke({"question": question}, config(), context=named)
        result = cast(RasOutput, answered)
        return describe(result, meanings), result

    def run_sync(question: str) -> tuple[str, RasOutput]:
        result = cast(RasOutput, graph.invoke({"question": question}, config(), context=named))
        return describe(result, meanings), result

    return StructuredTool(
        name=name,
        description=description,
        args_schema=_Arguments,
        func=run_sync,
        coroutine=run,
        response_format="content_and_artifact",
    )


def describe(result: RasOutput, stop_reasons: Mapping[str, StopReason] = RAS) -> str:
    """Write an answer with its citations as text.

    Args:
        result: A finished run's output.
        stop_reasons: The stop reasons of its system.

    Returns:
        The answer, then a line for each fact or sentence that it rests on, with the title of the
        passage. The text says so if the answer is missing, if the documents do not support it, or
        if the search was cut short.
    """
    answer, supported = result["answer"], result.get("supported", False)
    lines = [f"Answer: {answer}" if answer else "No answer was found."]
    if answer and not supported:
        about = "" if says_unknown(answer) else "Not supported by the documents. "
        lines.append(f"{about}{result.get('support', '')}".rstrip())
    if result["citations"] and not supported:
        lines.append("What comes nearest:")
    lines += [f"- {citation_text(citation)}" for citation in result["citations"]]
    stop = stop_reasons.get(result["stop_reason"])
    if stop is not None and stop.cut_short:
        lines.append(f"The search ended before the facts sufficed: {stop.meaning}.")
    return "\n".join(lines)
