"""Many questions from a file; the same command goes on after a stop, and pays for nothing twice.

python examples/batch.py questions.jsonl FOLDER

A line of the file is {"id": "1", "question": "…"}, each with an id of its own. The answers are
written to FOLDER/answers.jsonl; the runs are kept beside it, for `ras-flow runs list --database
FOLDER`. What SETTINGS leaves out has its default, and so the demo corpus and the embedded model
answer. After a change of SETTINGS, or of a question under the same id, take a new folder.
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

SETTINGS = Context()
AT_ONCE = 50


async def finish(runs: Runs, row: dict[str, Any]) -> dict[str, Any]:
    """Answer a question, go on with a run that was cut off, or read one that is over.

    Args:
        runs: Where the runs are kept.
        row: The question and its id, which becomes the run's.

    Returns:
        The run's answer, or what went wrong; the next start tries that again.
    """
    run = str(row["id"])
    try:
        try:
            events = None if (await runs.newest(run)).finished else runs.resume(run)
        except RunError:  # There is no such run yet.
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
        **parts: Handed to :func:`ras_flow.build_graph`, for other parts than SETTINGS name.

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
                for row in left:  # Each takes the next one that nobody has.
                    print(json.dumps(await finish(runs, row)), file=answers, flush=True)

            left = iter(rows)
            await asyncio.gather(*(work(left) for _ in range(AT_ONCE)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
