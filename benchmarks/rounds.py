"""What a question waits for: rounds of calls to a model server of fixed latency.

One chat model plans, extracts and answers a comparison of two people over five passages a search.
In one call a hop it names both searches at once, so that two rounds are all; the paper's loop reads
each hop, plans the next search, and answers, one after the other. Seconds over latency are the
rounds that a user waits for; what is above the number of rounds is this process's own work. Run:

    python benchmarks/rounds.py [--latency 1] [--questions 5]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import re
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import perf_counter

from concurrency import ModelServer

PEOPLE = ("Mira Lund", "Leo Fahr")
BORN = dict(zip(PEOPLE, (1891, 1902), strict=True))
QUESTION = "Who was born first, Mira Lund or Leo Fahr?"


class Compares(ModelServer):
    """Replies as a model would that looks up both people."""

    def _text(self, model: str, asked: str) -> str:
        if model == "one-call":
            if "Search: When was" not in asked:
                return "".join(f"[SUBQ] When was {name} born?\n" for name in PEOPLE)
            numbers = {name: re.findall(rf"(?m)^(\d+) \[{name}\]", asked)[-1] for name in PEOPLE}
            facts = [f"{name} | born in | {BORN[name]} [{numbers[name]}]" for name in PEOPLE]
            return "\n".join([*facts, f"[ANSWER] Mira Lund [{', '.join(numbers.values())}]"])
        if model == "planner":
            searches = [f"[SUBQ] When was {name} born?" for name in PEOPLE]
            return [f"[SUBQ] {QUESTION}", *searches, "[SUFFICIENT]"][asked.count("[SUBQ] ")]
        if model == "extractor":
            return ", ".join(f"(S> {name}| P> born in| O> {BORN[name]})" for name in PEOPLE)
        return "Mira Lund"


@asynccontextmanager
async def served(latency: float) -> AsyncIterator[str]:
    """Serve while the block runs; yields the address."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Compares(latency), "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def measure(latency: float, questions: int) -> None:
    """Print the table."""
    from ras_flow import Context, build_graph
    from ras_flow.testing import ListRetriever

    documents = [{"title": name, "text": f"{name} was born in {BORN[name]}."} for name in PEOPLE]
    for number in range(9):
        title = f"Bridge {number}"
        documents.append({"title": title, "text": f"{title} was opened in {1900 + number}."})
    print("| loop | calls | rounds | seconds | seconds / latency |")
    print("| --- | ---: | ---: | ---: | ---: |")
    async with served(latency) as address:
        for loop in ("one_call", "paper"):
            roles = {role: f"openai:{role}" for role in ("planner", "extractor", "answerer")}
            if loop == "one_call":
                roles = dict.fromkeys(roles, "openai:one-call")
            context = Context.from_mapping({**roles, "base_url": address, "loop": loop})
            graph = build_graph(retriever=ListRetriever(documents), defaults=context).compile()
            await graph.ainvoke({"question": QUESTION})
            seconds = []
            for _ in range(questions):
                began = perf_counter()
                state = await graph.ainvoke({"question": QUESTION})
                seconds.append(perf_counter() - began)
            assert state["answer"] == "Mira Lund", state["answer"]
            uses = [use["calls"] for use in state["usage"].values() if use["calls"]]
            middle = statistics.median(seconds)
            print(f"| {loop} | {sum(uses)} | {len(uses)} | {middle:.2f} | {middle / latency:.2f} |")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds a model call takes")
    parser.add_argument("--questions", type=int, default=5)
    given = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    print(f"{when}, {platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}\n")
    asyncio.run(measure(given.latency, given.questions))


if __name__ == "__main__":
    main()
