"""RAS as one node of a larger app with its own state and context.

The parent writes a report: it answers each question with RAS and joins the answers. Run it
on the demo corpus with: python examples/parent_app.py
"""

from __future__ import annotations

import asyncio
import operator
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ras_flow import Context, build_graph


@dataclass(frozen=True)
class AppContext:
    """The app's own settings; those of RAS travel in the attribute ``ras_flow``."""

    heading: str = "Report"
    ras_flow: Context = field(default_factory=Context)


class AppState(TypedDict):
    """The app's own state; it shares no key with RAS."""

    topics: list[str]
    findings: Annotated[list[str], operator.add]
    report: str


class Task(TypedDict):
    """The input of one branch."""

    question: str


def build_app(**parts: object) -> StateGraph[AppState, AppContext, AppState, AppState]:
    """Build the parent app.

    Args:
        **parts: Passed to :func:`ras_flow.build_graph`, in place of named parts.

    Returns:
        The app's builder.
    """
    ras = build_graph(**parts).compile()  # type: ignore[arg-type]

    def split(state: AppState) -> list[Send]:
        return [Send("research", Task(question=topic)) for topic in state["topics"]]

    async def research(task: Task) -> dict[str, list[str]]:
        result = await ras.ainvoke({"question": task["question"]})
        return {"findings": [f"{task['question']} {result['answer']}"]}

    async def write(state: AppState, runtime: Runtime[AppContext]) -> dict[str, str]:
        heading = (runtime.context or AppContext()).heading
        return {"report": "\n".join([heading, *(f"- {line}" for line in state["findings"])])}

    app = StateGraph(AppState, context_schema=AppContext)
    app.add_node("research", research)  # type: ignore[type-var]
    app.add_node("write", write)
    app.add_conditional_edges(START, split, ["research"])
    app.add_edge("research", "write")
    app.add_edge("write", END)
    return app


async def main() -> None:
    """Answer two questions over the demo corpus and print the report."""
    topics = [
        "Who discovered radium?",
        "Where was the architect of Finlandia Hall born?",
    ]
    context = AppContext(heading="What we found", ras_flow=Context(index="demo", max_hops=2))
    result = await build_app().compile().ainvoke({"topics": topics}, context=context)
    print(result["report"])


if __name__ == "__main__":
    asyncio.run(main())
