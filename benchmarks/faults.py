"""What becomes of runs when servers, databases, disks and their own process fail.

The campaign of ``tests/faults`` with larger counts: a model server that spoils 30 of 100 answers,
a checkpoint database that is locked or crashes, a process that is killed at random, and a disk
that fills up while an index is built. No run may be lost, no wrong answer may look right, and no
index may be half-written; it ends with an error where one is. Run it with:

    python benchmarks/faults.py [--runs 60] [--kills 50]
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.faults.campaign import (
    DATABASES,
    Counts,
    database_faults,
    full_disk,
    kills,
    model_faults,
)
from tests.faults.world import FAULTS


def show(name: str, counts: Counts, began: float) -> None:
    """Print one row; refuse what must never be."""
    print(f"| {name} | {counts.row()} | {perf_counter() - began:.0f} |", flush=True)
    assert not counts.lost and not counts.wrong


def main() -> None:
    """Run the campaign and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60, help="of each kind of fault")
    parser.add_argument("--kills", type=int, default=50)
    given = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "placeholder")
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    print(f"{when}, {platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}, ")
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print("| fault | runs | faults | interrupted | right | marked | wrong | lost", end="")
    print(" | requests | seconds |")
    print("| --- " * 10 + "|")
    for kind in FAULTS:
        began = perf_counter()
        show(f"model server {kind}", asyncio.run(model_faults(kind, given.runs)), began)
    for kind in DATABASES:
        began = perf_counter()
        counts = asyncio.run(database_faults(kind, given.runs, times=given.runs // 6))
        show(kind, counts, began)
    began = perf_counter()
    show("process killed", kills(given.kills, at_once=4), began)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [*range(0, 40_000, 800), 10**7]
        built = asyncio.run(full_disk(Path(folder, "index"), sizes))
    print(
        f"\nDisk full while an index is built: {built.builds} builds, {built.refused} refused with "
        f"the old index whole, {built.done} done."
    )


if __name__ == "__main__":
    main()
