"""The folder of an evaluation.

::

    config.toml                  the settings, as they were given last
    versions.json                packages, and the parts of every system
    predictions/BENCHMARK/SYSTEM.jsonl    a row for each question, in the benchmark's order
    corpus_scores.json           scores of all answers together, where they were asked for
    report.md, report.html       the report
    runs.sqlite                  every step of every run: ras-flow runs show RUN --database FOLDER
    rows.sqlite, store.sqlite    what is done: started again, the evaluation goes on from here
    indexes/                     indexes over the questions' own documents
"""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError, RunError
from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.rows import Row, Rows, as_json
from ras_flow.formats.text import scrub
from ras_flow.support.files import file_lock, write_whole, writing

if TYPE_CHECKING:
    from ras_flow.evaluation.assembly import Cell

PACKAGES = ("ras-flow", "langgraph", "langchain", "torch", "transformers", "bm25s", "faiss-cpu")

CORPUS_SCORES = "corpus_scores.json"


@dataclass(frozen=True)
class RunFolder:
    """A folder that is being written."""

    path: Path
    rows: Rows

    def settle(self, config: EvalConfig, cells: Sequence[Cell]) -> None:
        """Write settings, versions and what is asked."""
        for cell in cells:
            self.rows.agree(cell.benchmark.name, cell.system.name, cell.record())
        self._check_questions(cells)
        for cell in cells:
            self.rows.note(cell.benchmark.name, cell.system.name, cell.record())
        for name, benchmark in {cell.benchmark.name: cell.benchmark for cell in cells}.items():
            self.rows.ask(name, (question.id for question in benchmark.questions))
        write_text(self.path / "config.toml", config.text)
        write_text(self.path / "versions.json", json.dumps(_versions(config, cells), indent=1))

    def _check_questions(self, cells: Sequence[Cell]) -> None:
        asked = {(cell.benchmark.name, cell.system.name): cell for cell in cells}
        for row in self.rows.all():
            cell = asked.get((row.benchmark, row.system))
            question = cell.benchmark.by_id.get(row.id) if cell else None
            if cell is None or question is None:
                continue
            if row.question != question.question:
                raise ConfigurationError(
                    f"{row.benchmark}: the question {row.id!r} is another one than the folder has "
                    "the answer to. Choose a new folder, or give new questions new ids."
                )
            if row.given != cell.given_checksum(question):
                raise ConfigurationError(
                    f"{row.benchmark}: the question {row.id!r} has other documents than those "
                    "that the folder's answer was made from. Choose a new folder, or give it a "
                    "new id."
                )

    def write_predictions(self, cells: Sequence[Cell]) -> None:
        """Write the rows as files, those of each benchmark in its order."""
        rows: dict[tuple[str, str, str], Row] = {
            (row.benchmark, row.system, row.id): row for row in self.rows.all()
        }
        for cell in cells:
            names = cell.benchmark.name, cell.system.name
            keys = [(*names, question.id) for question in cell.benchmark.questions]
            lines = [f"{as_json(rows[key])}\n" for key in keys if key in rows]
            write_text(self.path / "predictions" / names[0] / f"{names[1]}.jsonl", "".join(lines))


@asynccontextmanager
async def open_folder(path: Path) -> AsyncIterator[RunFolder]:
    """Open a run folder for writing; it is made if it is not there."""
    busy = RunError(
        f"Another evaluation is writing to {path}: wait for it, or choose another folder."
    )
    with ExitStack() as held:
        await asyncio.to_thread(held.enter_context, file_lock(path / ".lock", busy))
        with closing(await asyncio.to_thread(Rows, path)) as rows:
            yield RunFolder(path, rows)


def read_corpus_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Return scores of all answers together: by ``BENCHMARK/SYSTEM``, then by metric."""
    path = folder / CORPUS_SCORES
    if not path.is_file():
        return {}
    try:
        found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError(
            f"{path} is damaged ({error}). Delete it and run the evaluation again, which asks "
            "nothing twice and writes it anew."
        ) from error
    return found


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, scrub(text))


def _versions(config: EvalConfig, cells: Sequence[Cell]) -> dict[str, Any]:
    packages = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "packages": packages,
        "seed": config.seed,
        "systems": {
            f"{cell.benchmark.name}/{cell.system.name}": dict(cell.identities) for cell in cells
        },
    }
