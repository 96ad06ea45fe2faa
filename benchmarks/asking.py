"""How long a question takes: a first command, a warm one, and four more in a running process.

    python benchmarks/asking.py OTHER [--rounds 3] [--loop paper]

OTHER is a checkout of another version, such as ``git worktree add OTHER COMMIT``. Both versions run
in turn on the same machine, so read the ratios; seconds of processor time suffer less from other
work. The commands search the demo corpus, whose triples come with it for the paper's loop; the
process an index of the same texts, whose triples nobody knows, so that loop extracts its passages.
``--loop`` is this version's; the other one takes the paper's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

QUESTION = "Where was the founder of Artek born?"
IN_PROCESS = """
import asyncio, json, sys, time
from ras_flow import Context, build_graph

graph = build_graph(defaults=Context(index=sys.argv[1], loop=sys.argv[2])).compile()

async def main():
    await graph.ainvoke({"question": "In what year did Alfred Nobel patent dynamite?"})
    for question in (
        "Who led the first ascent of the Matterhorn?",
        "Where was the conductor of the first performance of Turandot born?",
        "Under which name was the ship Endurance launched?",
        "Where was the architect of Finlandia Hall born?",
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        result = await graph.ainvoke({"question": question})
        took = time.perf_counter() - wall, time.process_time() - cpu
        extracted = sum(one["calls"] for one in result["usage"].values()
                        if one["role"] == "extractor")
        print(json.dumps([*took, extracted, result["answer"]]))

asyncio.run(main())
"""


class Took(NamedTuple):
    """Seconds by the clock and of processor time, and what was said."""

    wall: float
    cpu: float
    said: str


def command(folder: Path, kept: Path, loop: str) -> Took:
    """Ask by a command of its own."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment |= {"RAS_FLOW_HOME": str(kept / "home"), "RAS_FLOW_CACHE": str(kept / "cache")}
    asked = [sys.executable, "-m", "ras_flow", "ask", QUESTION, "--index", "demo", "--json"]
    asked += ["--loop", loop]
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(time.perf_counter() - wall, cpu, json.loads(done.stdout)["answer"])


def process(folder: Path, kept: Path, loop: str) -> Took:
    """Ask four questions of a process that has answered one."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "RAS_FLOW_CACHE": str(kept / "cache")}
    index = kept / "index"
    build = [sys.executable, "-m", "ras_flow", "index", "build", str(index)]
    build.append(str(folder / "ras_flow" / "demo" / "passages.jsonl"))
    subprocess.run(build, cwd=folder, env=environment, capture_output=True, check=True)
    asked = [sys.executable, "-c", IN_PROCESS, str(index), loop]
    done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    said = "; ".join(f"{answer} ({extracted} extracted)" for _, _, extracted, answer in rows)
    return Took(sum(row[0] for row in rows), sum(row[1] for row in rows), said)


def main(other: Path, rounds: int, loop: str) -> None:
    """Print a row for each way of asking."""
    folders = {"other": other.resolve(), "this": Path(__file__).parents[1]}
    took: dict[tuple[str, str], list[Took]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            for kind, ask in (("first", command), ("warm", command), ("in a process", process)):
                for name, folder in folders.items():
                    own = loop if name == "this" else "paper"
                    took.setdefault((kind, name), []).append(ask(folder, Path(place) / name, own))
    print("| | other, s | this, s | ratio | other, cpu s | this, cpu s | ratio | said |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for kind in ("first", "warm", "in a process"):
        both = [took[kind, name] for name in folders]
        cells = []
        for field in (0, 1):
            old, new = (median(one[field] for one in each) for each in both)
            cells.append(f"{old:.1f} | {new:.1f} | {new / old:.2f}")
        said = " / ".join(each[-1].said for each in both)
        print(f"| {kind} | {' | '.join(cells)} | {said} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loop", default="one_call")
    given = parser.parse_args()
    main(given.other, given.rounds, given.loop)
