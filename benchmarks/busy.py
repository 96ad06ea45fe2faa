"""A question's seconds beside busy processes, with OpenMP's threads at rest or spinning.

Asks the demo's question by `ras-flow ask`, its triples known, in a fresh process each time, alone
and beside as many busy processes as there are cores. Run it with:

    python benchmarks/busy.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ASK = [str(Path(sys.executable).with_name("ras-flow")), "ask", "--index", "demo"]
WAYS = {"rest": {}, "spin": {"GOMP_SPINCOUNT": "300000"}}
"""What the package sets, and what libgomp does by itself (its documented count)."""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def seconds(way: str, home: str) -> float:
    """Ask once, and return the seconds of the whole command."""
    begun = time.perf_counter()
    environment = os.environ | {"RAS_FLOW_HOME": home} | WAYS[way]
    subprocess.run(ASK, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as home:
        seconds("rest", home)
        print("| busy processes | rest, s | spin, s | ratio |\n| ---: | ---: | ---: | ---: |")
        for others in (0, cores):
            took: dict[str, list[float]] = {way: [] for way in WAYS}
            with busy(others):
                for _ in range(rounds):
                    for way in WAYS:
                        took[way].append(seconds(way, home))
            rest, spin = (statistics.median(took[way]) for way in ("rest", "spin"))
            print(f"| {others} | {rest:.1f} | {spin:.1f} | {spin / rest:.1f} |", flush=True)


if __name__ == "__main__":
    main()
