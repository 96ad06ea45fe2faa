"""Running an evaluation: concurrent, in order, resumable, within its ceilings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from ras_flow.components import LanguageModel
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.assembly import Cell, Read, assemble
from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.costs import Purse
from ras_flow.evaluation.judging import JUDGING, gold_of, judge, judge_together
from ras_flow.evaluation.kept import ASKING, KeptCalls
from ras_flow.evaluation.outcome import outcome_of
from ras_flow.evaluation.question import Question
from ras_flow.evaluation.report import write_report
from ras_flow.evaluation.rows import Row, Rows
from ras_flow.evaluation.run_folder import CORPUS_SCORES, RunFolder, open_folder, write_text
from ras_flow.parts import Parts
from ras_flow.runs.sqlite import open_saver, translate_errors
from ras_flow.runs.stores import open_sqlite_store

ASKED = "ras_flow_asked"
"""Key in a run's metadata: a checksum of what it was begun with."""

Compiled = CompiledStateGraph[Any, Any, Any, Any]


@dataclass
class Standing:
    """How far a system is on a benchmark.

    Attributes:
        benchmark: Name of the benchmark.
        system: Name of the system.
        metric: Name of the main metric.
        total: Questions.
        rows: What is done.
    """

    benchmark: str
    system: str
    metric: str
    total: int
    rows: list[Row] = field(default_factory=list)

    @property
    def score(self) -> float | None:
        """Mean of the main metric so far; None before the first answer."""
        return sum(row.score for row in self.rows) / len(self.rows) if self.rows else None


@dataclass(frozen=True)
class Report:
    """What an evaluation did.

    Attributes:
        standings: How far every system is on every benchmark.
        ceiling: What stopped it before its end; empty where nothing did.
    """

    standings: Sequence[Standing]
    ceiling: str = ""

    @property
    def finished(self) -> bool:
        """Whether every question has its row."""
        return all(len(one.rows) == one.total for one in self.standings)


Progress = Callable[[Sequence[Standing]], None]


async def evaluate(
    config: EvalConfig,
    out: Path,
    *,
    parts: Parts | None = None,
    reader: LanguageModel | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Ask every system every question that has no row yet, and write the run folder.

    The same folder can be given again: after a kill, with a higher ceiling, or with more systems.
    What has a row is not asked again, and a run that was under way goes on after its last step;
    where its question or settings are others now, it begins anew.

    Args:
        config: The evaluation.
        out: The run folder.
        parts: Objects that replace what the settings name.
        reader: Replaces the baselines' model.
        retry: Ask questions again that failed.
        progress: Called after every answer.

    Returns:
        How far it came.

    Raises:
        ConfigurationError: A setting, name or key is wrong or missing, or the folder has answers
            that were made with other settings. Nothing that is done is lost.
        InputError: A benchmark's file cannot be read.
        RunError: The folder is in use, damaged, or cannot be written.
    """
    # What is kept of a run names its index, also for commands that are given elsewhere.
    out = await asyncio.to_thread(out.resolve)
    async with open_folder(out) as folder, _opened(folder) as (saver, calls):
        cells = await assemble(config, folder.indexes, calls, parts=parts, reader=reader)
        await asyncio.to_thread(folder.settle, config, cells)
        run = _Run(config, cells, folder.rows, saver, calls, progress, retry=retry)
        try:
            report = await run.work()
        finally:
            await asyncio.shield(asyncio.to_thread(folder.write_predictions, cells))
        await asyncio.to_thread(_write_report, config, cells, folder, report)
        return report


def _write_report(
    config: EvalConfig, cells: Sequence[Cell], folder: RunFolder, report: Report
) -> None:
    remarks = [report.ceiling] if report.ceiling else []
    rows, asked = folder.rows.current(), folder.rows.asked()
    write = partial(write_report, config, rows, folder.path, questions=asked, remarks=remarks)
    (folder.path / CORPUS_SCORES).unlink(missing_ok=True)
    write()
    together = {
        f"{one.benchmark}/{one.system}": scores
        for one, cell in zip(report.standings, cells, strict=True)
        if (scores := judge_together(cell, one.rows))
    }
    if together:
        write_text(folder.path / CORPUS_SCORES, json.dumps(together, indent=1))
        write()


@asynccontextmanager
async def _opened(folder: RunFolder) -> Any:
    path = folder.path
    with translate_errors(path):
        async with open_saver(path) as saver, open_sqlite_store(path) as store:
            yield saver, KeptCalls(store)


class _Run:
    """The questions that are left, and those who ask them."""

    def __init__(
        self,
        config: EvalConfig,
        cells: Sequence[Cell],
        rows: Rows,
        saver: BaseCheckpointSaver[str],
        calls: KeptCalls,
        progress: Progress | None,
        *,
        retry: bool,
    ) -> None:
        self._retry = retry
        self._config, self._rows, self._progress = config, rows, progress
        self._saver, self._calls = saver, calls
        self._cells = cells
        self._graphs: list[Compiled] = [
            cell.graph.compile(checkpointer=saver, name="ras") for cell in cells
        ]
        self._standings = [
            Standing(
                cell.benchmark.name,
                cell.system.name,
                cell.benchmark.metrics[0],
                len(cell.benchmark.questions),
            )
            for cell in cells
        ]
        self._purse = Purse(config.prices)
        self._ceiling = ""

    async def work(self) -> Report:
        """Ask what is left; a failure of one question never stops the others."""
        at = {(cell.benchmark.name, cell.system.name): n for n, cell in enumerate(self._cells)}
        done = set()
        for row in await asyncio.to_thread(self._rows.all):
            number = at.get((row.benchmark, row.system))
            if number is None:
                continue
            question = self._cells[number].benchmark.by_id.get(row.id)
            if question is not None and row.question != question.question:
                raise ConfigurationError(
                    f"{row.benchmark}: the question {row.id!r} is another one than the folder has "
                    "the answer to. Choose a new folder, or give new questions new ids."
                )
            if self._retry and row.outcome.error and question is not None:
                continue  # Its next row has the cost of both attempts.
            self._purse.pay(row, self._cells[number].system.models)
            if question is not None:
                self._standings[number].rows.append(await self._same(number, question, row))
                done.add((number, row.id))
        self._tell()
        jobs = iter([job for job in self._jobs() if (job[0], job[1].id) not in done])
        at_once = range(self._config.limits.at_once)
        workers = [asyncio.create_task(self._worker(jobs)) for _ in at_once]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.wait(workers)
        return Report(self._standings, self._ceiling)

    def _jobs(self) -> Iterator[tuple[int, Question]]:
        """Yield a benchmark's questions in order, each for all systems.

        So what a ceiling cuts off is the same for all of them.
        """
        names = dict.fromkeys(cell.benchmark.name for cell in self._cells)
        for name in names:
            cells = [n for n, cell in enumerate(self._cells) if cell.benchmark.name == name]
            for question in self._cells[cells[0]].benchmark.questions:
                for number in cells:
                    yield number, question

    async def _worker(self, jobs: Iterator[tuple[int, Question]]) -> None:
        for number, question in jobs:
            limits = self._config.limits
            self._ceiling = self._purse.beyond(limits.tokens, limits.money)
            if self._ceiling:
                return
            row = await self._ask(number, question)
            await asyncio.to_thread(self._rows.put, row)
            self._purse.pay(row, self._cells[number].system.models)
            self._standings[number].rows.append(row)
            self._tell()

    async def _same(self, number: int, question: Question, row: Row) -> Row:
        """Return the row of a question that was asked before, judged as it would be today."""
        gold = gold_of(self._cells[number], question)
        mended = row.answers != question.answers or row.gold not in ("", gold)
        if not mended and row.judging == JUDGING:
            return row
        state = await _steps_of(row, self._graphs[number])
        if not mended and not state:
            return row  # Its steps are gone, which its measures are of.
        cell, outcome = self._cells[number], row.outcome
        read = Read() if outcome.error else await cell.read(state)
        judged = await asyncio.to_thread(
            judge, cell, question, outcome, state, row.saved_tokens, read
        )
        await asyncio.to_thread(self._rows.put, judged)
        return judged

    async def _ask(self, number: int, question: Question) -> Row:
        cell, graph = self._cells[number], self._graphs[number]
        id, checksum = cell.run_id(question), cell.checksum(question)
        config: RunnableConfig = {"configurable": {"thread_id": id}, "metadata": {ASKED: checksum}}

        async def run() -> None:
            ASKING.set(id)
            saved = await graph.aget_state(config)
            another = (saved.metadata or {}).get(ASKED, checksum) != checksum
            if another:
                await self._saver.adelete_thread(id)
                await self._calls.forget(id)
            if another or not saved.created_at:
                await graph.ainvoke(cell.given(question), config, durability="sync")
            elif saved.tasks:
                await graph.ainvoke(None, config, durability="sync")

        failure = await _settled(run())
        if isinstance(failure, ConfigurationError):
            # It is no fault of the question, and every other question would meet it too.
            raise failure
        state: Mapping[str, Any] = (await graph.aget_state(config)).values
        error = f"{type(failure).__name__}: {failure}" if failure else ""
        kept = await self._calls.saved(id)
        outcome = outcome_of(state, saved=kept, error=error)
        saved_tokens = {
            role: [use["input_tokens"], use["output_tokens"]]
            for role, use in kept.items()
            if use["calls"]
        }
        read = Read() if error else await cell.read(state)
        return await asyncio.to_thread(judge, cell, question, outcome, state, saved_tokens, read)

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._standings)


async def _steps_of(row: Row, graph: Compiled) -> Mapping[str, Any]:
    """Return the state that a row was made of; of its run forks may have been made since."""
    made = row.outcome
    config: RunnableConfig = {"configurable": {"thread_id": row.run}}
    async for saved in graph.aget_state_history(config):
        found = outcome_of(saved.values, error=made.error)
        if (found.answer, found.hops, found.triples) == (made.answer, made.hops, made.triples):
            return saved.values
    return {}


async def _settled(work: Coroutine[Any, Any, None]) -> BaseException | None:
    """Run something to its end and return what it failed with, whatever that is.

    Parts may be anybody's, and fail in ways of their own; that must cost one row, not the run.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    return task.exception()
