"""RAS as a tool of a LangChain agent.

Needs a chat model that can call tools: python examples/agent_tool.py anthropic:MODEL
"""

from __future__ import annotations

import asyncio
import sys

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ras_flow import Context, as_tool


def build_agent(model: BaseChatModel, graph: Runnable | None = None) -> Runnable:
    """Build an agent that can ask the documents.

    Args:
        model: A chat model that calls tools.
        graph: A compiled RAS graph; by default the package's.

    Returns:
        The agent, which takes and returns ``messages``.
    """
    tool = as_tool(graph, context=Context(index="demo", max_hops=3))
    return create_agent(model, tools=[tool])


async def main(name: str) -> None:
    """Ask the demo corpus through an agent."""
    agent = build_agent(init_chat_model(name))
    question = "Where was the discoverer of polonium born? Look it up."
    result = await agent.ainvoke({"messages": [("user", question)]})
    print(result["messages"][-1].content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1]))
