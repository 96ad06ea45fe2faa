"""Replay a run from a checkpoint, then change its graph and see how the answer changes.

Run it on the demo corpus with: python examples/replay_and_fork.py
"""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from ras_flow import Context, build_graph


async def fork_without(graph: Any, config: RunnableConfig, triple: str, context: Context) -> Any:
    """Answer again without one triple, on a new branch.

    Args:
        graph: A RAS graph compiled with a checkpointer.
        config: The thread of a finished run.
        triple: Id of the triple to leave out.
        context: Settings of the new branch.

    Returns:
        The new branch's output.
    """
    history = [step async for step in graph.aget_state_history(config)]
    before_answer = next(step for step in history if step.next == ("answer",))
    fork = await graph.aupdate_state(before_answer.config, {"triples": {triple: None}})
    return await graph.ainvoke(None, fork, context=context)


async def main() -> None:
    """Ask, replay from before the answer, and fork without each triple that names the answer."""
    # The paper's loop reads triples alone if it reads no passage, which would state the fact again.
    context = Context(index="demo", loop="paper", max_hops=2, answer_passages=0)
    graph = build_graph().compile(checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "example"}}
    first = await graph.ainvoke(
        {"question": "Where was the architect of Finlandia Hall born?"}, config, context=context
    )
    print("answer:", first["answer"])
    steps = [step async for step in graph.aget_state_history(config)]
    for step in reversed(steps):
        print(f"  step {step.metadata['step']:>2}  next: {', '.join(step.next) or 'nothing'}")
    replayed = await graph.ainvoke(None, steps[1].config, context=context)
    print("replayed:", replayed["answer"])
    for triple, said in first["triples"].items():
        if said["object"] == first["answer"]:
            forked = await fork_without(graph, config, triple, context)
            print("without", said["subject"], "…:", forked["answer"])


if __name__ == "__main__":
    asyncio.run(main())
