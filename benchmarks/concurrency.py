"""Many questions at once in one process, against a model server of fixed latency.

Each question takes the real graph two hops far: five model calls in a row (extract, plan, extract,
plan, answer), where the five passages of a hop, which no other question finds, are extracted at the
same time, so 13 requests. The server runs in a process of its own, answers every
request after the same time, and takes any number of them at once. The ideal is therefore N
questions in the time of five calls; what lies below it is what this process costs. N users each ask
one question after another and begin spread over the time of one; what each asks first and last is
not counted, since fewer are under way then. In a burst all begin at the same moment, so that all
compute at the same moments too. Run it with:

    python benchmarks/concurrency.py [--latency 3] [--rounds 3] [--many 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

CALLS = 5
AT_ONCE = (1, 10, 30, 100, 200)
QUESTIONS = 1200
TRIPLES = ", ".join(
    f"(S> Station {i}| P> opened on line {i}| O> the year {1900 + i})" for i in range(8)
)


class ModelServer(asyncio.Protocol):
    """One connection of an OpenAI-compatible server that answers by role after a fixed time."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._received = b""

    def connection_made(self, transport: Any) -> None:
        """Keep the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each whole request, later."""
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, rest = self._received.partition(b"\r\n\r\n")
            names = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = int(names[b"content-length"])
            if len(rest) < length:
                return
            self._received = rest[length:]
            asyncio.get_running_loop().call_later(
                self._latency, self._answer, json.loads(rest[:length]), names[b"connection"]
            )

    def _answer(self, body: dict[str, Any], connection: bytes) -> None:
        asked = body["messages"][-1]["content"]
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": self._text(body["model"], asked)},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 400, "completion_tokens": 100, "total_tokens": 500},
        }
        text = json.dumps(body).encode()
        head = (
            f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            f"content-length: {len(text)}\r\nconnection: {connection.decode()}\r\n\r\n"
        )
        self._transport.write(head.encode() + text)
        if connection == b"close":
            self._transport.close()

    def _text(self, role: str, asked: str) -> str:
        if role == "planner":
            hops = asked.count("[SUBQ] ")
            number = re.findall(r"line (\d+)", asked)[-1]
            second = f"[SUBQ] Which bridge carries branch {number}?"
            return ["[SUBQ] x", second, "[SUFFICIENT]"][hops]
        return TRIPLES if role == "extractor" else "Vistula"


async def serve(latency: float) -> None:
    """Serve until the process is ended; the first line of output is the address."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: ModelServer(latency), "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


@contextmanager
def server(latency: float) -> Iterator[str]:
    """Run the server in a process of its own; yields its address."""
    command = [sys.executable, __file__, "--serve", "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


@dataclass(frozen=True)
class Measured:
    """What some questions took.

    Attributes:
        seconds: Of each question that counts.
        cpu: Seconds of computing of this process for one, all threads.
        load: Share of one core.
    """

    seconds: list[float]
    cpu: float
    load: float

    def row(self, latency: float, at_once: int) -> str:
        """Return throughput, its share of the ideal, latencies and computing as table cells."""
        mean = statistics.fmean(self.seconds)
        ordered = sorted(self.seconds)
        p95 = ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
        # With N under way all the time, N / mean are finished a second (Little's law).
        return (
            f"{len(ordered)} | {at_once / mean:.2f} | {CALLS * latency / mean:.0%} "
            f"| {statistics.median(ordered):.2f} | {p95:.2f} "
            f"| {1000 * self.cpu:.0f} | {self.load:.0%}"
        )


_questions = itertools.count()


def corpus() -> Any:
    """Return BM25 over five passages for each hop of each question."""
    from ras_flow.indexes import BM25Retriever

    filler = "It was built of stone and iron, and tells of the years when the railway came. " * 6
    documents = [
        {"title": f"{kind} {number}.{rank}", "text": f"{kind} {number} is number {rank}. {filler}"}
        for number in range(QUESTIONS)
        for kind in ("line", "branch")
        for rank in range(5)
    ]
    return BM25Retriever.from_documents(documents)  # type: ignore[arg-type]


async def ask_many(
    runs: Any, context: Any, at_once: int, rounds: int, spread: float = 0.0
) -> Measured:
    """Keep a number of questions under way, which begin spread over some seconds."""
    seconds: list[float] = []

    async def worker(number: int) -> None:
        await asyncio.sleep(spread * number / at_once)
        for turn in range(rounds):
            question = f"Which river flows past line {next(_questions) % QUESTIONS}?"
            began = perf_counter()
            events = [event async for event in runs.start({"question": question}, context)]
            if rounds < 3 or 0 < turn < rounds - 1:
                seconds.append(perf_counter() - began)
            assert events[-1]["answer"] == "Vistula", events[-1]
            assert events[-1]["stop_reason"] == "sufficient"
            assert not [event for event in events if event["type"] == "warning"]

    began, computed = perf_counter(), process_time()
    await asyncio.gather(*map(worker, range(at_once)))
    wall, cpu = perf_counter() - began, process_time() - computed
    return Measured(seconds, cpu / (at_once * rounds), cpu / wall)


def resident() -> float:
    """Return this process's resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def measure(given: argparse.Namespace, address: str) -> None:
    """Print the tables."""
    from langgraph.checkpoint.memory import InMemorySaver

    from ras_flow import Context, build_graph, open_runs
    from ras_flow.runs.runs import Runs

    context = Context(
        planner="openai:planner",
        extractor="openai:extractor",
        answerer="openai:answerer",
        base_url=address,
        max_concurrency=2000,
        model_timeout=120,
    )
    builder = build_graph(retriever=corpus())
    print("| checkpointer | at once | questions | a second | of ideal | p50 s | p95 s", end="")
    print(" | CPU ms a question | CPU |")
    print("| --- " * 9 + "|")
    in_memory = Runs(builder.compile(checkpointer=InMemorySaver()))
    await ask_many(in_memory, context, 1, 1)
    whole = CALLS * given.latency
    with tempfile.TemporaryDirectory() as folder:
        async with open_runs(Path(folder), builder=builder) as on_disk:
            for name, runs in (("memory", in_memory), ("SQLite", on_disk)):
                for at_once in given.at_once:
                    made = await ask_many(runs, context, at_once, given.rounds, whole)
                    print(
                        f"| {name} | {at_once} | {made.row(given.latency, at_once)} |", flush=True
                    )
                if not given.at_once:
                    continue
                made = await ask_many(runs, context, 100, 1)
                print(f"| {name}, a burst | 100 | {made.row(given.latency, 100)} |", flush=True)
        # Anew: the triples of passages that were seen before are not asked for again.
        async with open_runs(Path(folder, "many"), builder=builder) as on_disk:
            await memory(on_disk, context, given.many)


async def memory(runs: Any, context: Any, many: int) -> None:
    """Print resident memory while questions go by, 100 at once."""
    if many:
        print(f"\nResident memory over {many} questions, 100 at once, on SQLite:\n")
        print("| questions | MiB |\n| --- | --- |")
    for hundred in range(many // 100):
        await ask_many(runs, context, 100, 1)
        print(f"| {100 * (hundred + 1)} | {resident():.1f} |", flush=True)


def main() -> None:
    """Serve, or measure against a server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=3.0, help="seconds a model call takes")
    parser.add_argument("--rounds", type=int, default=3, help="questions of each user")
    parser.add_argument("--many", type=int, default=1000, help="questions for resident memory")
    parser.add_argument("--at-once", type=int, nargs="*", default=AT_ONCE)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.latency))
        return
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    print(f"{when}, {platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}, ")
    print(f"load {os.getloadavg()[0]:.1f}; {given.latency} s a call\n")
    with server(given.latency) as address:
        asyncio.run(measure(given, address))


if __name__ == "__main__":
    main()
