"""Answer a file of questions; after a stop the same command goes on, and pays for nothing twice.

python examples/batch.py questions.jsonl FOLDER

Each line of the file is {"id": "1", "question": "…"} with a unique id. The answers go to
FOLDER/answers.jsonl, the runs beside it (`ras-flow runs list --database FOLDER`). With SETTINGS as
they are, the built-in model answers from the demo corpus. After changing SETTINGS, or a question
under the same id, use a new folder.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ras_flow import Context, RasFlowError, Runs, build_graph
from ras_flow.errors import InputError, RunError
from ras_flow.runs.databases.opening import open_runs_at

SETTINGS = Context(index="demo")
AT_ONCE = 50


async def finish(runs: Runs, row: dict[str, Any]) -> dict[str, Any]:
    """Answer a question, resume a run that was cut off, or read a finished one.

    Args:
        runs: Where the runs are kept.
        row: The question and its id, which becomes the run's.

    Returns:
        The run's answer, or what went wrong; the next start tries again.
    """
    run = str(row["id"])
    try:
        try:
            events = None if (await runs.newest(run)).finished else runs.resume(run)
        except RunError:  # Not asked yet.
            events = runs.start({"question": row["question"]}, run_id=run)
        if events is not None:
            async for _ in events:
                pass
        found = (await runs.get(run)).state
    except RasFlowError as error:
        return {"id": row["id"], "error": str(error)}
    return {"id": row["id"], "answer": found["answer"], "stop_reason": found["stop_reason"]}


async def main(questions: Path, folder: Path, **parts: Any) -> None:
    """Answer every question of a file.

    Args:
        questions: The file.
        folder: Where answers and runs are kept.
        **parts: Passed to :func:`ras_flow.build_graph`, in place of the parts that SETTINGS name.

    Raises:
        InputError: Two lines have the same id.
    """
    with questions.open(encoding="utf-8-sig") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    ids = Counter(str(row["id"]) for row in rows)
    if twice := [id for id, times in ids.items() if times > 1]:
        raise InputError(f"{questions}: several lines have the id {twice[0]!r}: give each its own.")
    builder = build_graph(defaults=SETTINGS, **parts)
    async with open_runs_at(str(folder), builder=builder, new=True) as runs:
        with (folder / "answers.jsonl").open("w") as answers:

            async def work(left: Iterator[dict[str, Any]]) -> None:
                for row in left:  # Each worker takes the next free row.
                    print(json.dumps(await finish(runs, row)), file=answers, flush=True)

            left = iter(rows)
            await asyncio.gather(*(work(left) for _ in range(AT_ONCE)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
