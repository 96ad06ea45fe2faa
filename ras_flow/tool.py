"""RAS as a tool for agents."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from ras_flow.context import Context
from ras_flow.state.channels import RasOutput


class _Arguments(BaseModel):
    question: str = Field(description="A complete question in plain words.")


def as_tool(
    graph: Runnable[Any, Any] | None = None,
    *,
    context: Context | None = None,
    name: str = "answer_from_documents",
    description: str = (
        "Answers a question from a document collection by searching it step by step and joining "
        "the facts found. Returns the answer with the facts it rests on."
    ),
) -> BaseTool:
    """Make a LangChain tool of the graph.

    Args:
        graph: A compiled RAS graph; the shipped one by default.
        context: The runs' settings.
        name: The tool's name, as the agent sees it.
        description: When to use it, as the agent sees it.

    Returns:
        An async tool. Its content is the answer with its facts; its artifact is the whole
        :class:`ras_flow.RasOutput`.
    """
    if graph is None:
        from ras_flow.graph import graph as shipped  # noqa: PLC0415  (only built where it is used)

        graph = shipped

    async def run(question: str) -> tuple[str, RasOutput]:
        result = cast(RasOutput, await graph.ainvoke({"question": question}, context=context))
        return describe(result), result

    return StructuredTool(
        name=name,
        description=description,
        args_schema=_Arguments,
        coroutine=run,
        response_format="content_and_artifact",
    )


def describe(result: RasOutput) -> str:
    """Write an answer with its citations as text.

    Args:
        result: A finished run's output.

    Returns:
        The answer, then a line for each cited triple with the titles of its passages.
    """
    lines = [f"Answer: {result['answer']}"]
    for citation in result["citations"]:
        triple = result["triples"][citation["triple"]]
        titles = ", ".join(result["passages"][id]["title"] or id for id in citation["passages"])
        lines.append(
            f"- {triple['subject']} | {triple['predicate']} | {triple['object']} [{titles}]"
        )
    return "\n".join(lines)
