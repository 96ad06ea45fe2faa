"""Running an evaluation: concurrent, in order, resumable, within its ceilings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean

from ras_flow.evaluation.asking import Asker
from ras_flow.evaluation.assembly import assemble
from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.costs import Purse
from ras_flow.evaluation.judging import judge_together
from ras_flow.evaluation.kept import KeptCalls
from ras_flow.evaluation.question import Question
from ras_flow.evaluation.report import write_report
from ras_flow.evaluation.rows import Row, Rows
from ras_flow.evaluation.run_folder import CORPUS_SCORES, RunFolder, open_folder, write_text
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import LanguageModel
from ras_flow.runs.databases.sqlite import open_saver, translate_errors
from ras_flow.runs.databases.stores import open_sqlite_store
from ras_flow.support.concurrency import to_its_end


@dataclass
class Standing:
    """How far a system is on a benchmark; a failure stays among the rows until asked again."""

    asker: Asker
    by_id: dict[str, Row] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """The rows, in the order in which their questions were first asked."""
        return list(self.by_id.values())

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.asker.cell.benchmark.name

    @property
    def system(self) -> str:
        """The system's name."""
        return self.asker.cell.system.name

    @property
    def metric(self) -> str:
        """The main metric."""
        return self.asker.cell.benchmark.metrics[0]

    @property
    def total(self) -> int:
        """Questions in all."""
        return len(self.asker.cell.benchmark.questions)

    @property
    def score(self) -> float | None:
        """Mean of the main metric so far; None before the first answer."""
        return fmean(row.score for row in self.rows) if self.rows else None


@dataclass(frozen=True)
class Report:
    """How far every system is on every benchmark, and which ceiling stopped it, if one did."""

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
    """
    # Stored runs name their index, which commands in other folders have to find, too.
    out = await asyncio.to_thread(out.resolve)
    async with open_folder(out) as folder:
        with translate_errors(out):
            async with open_saver(out) as saver, open_sqlite_store(out) as store:
                calls = KeptCalls(store)
                cells = await assemble(config, out / "indexes", calls, parts=parts, reader=reader)
                await asyncio.to_thread(folder.settle, config, cells)
                askers = [Asker(cell, saver, calls) for cell in cells]
                run = _Run(config, askers, folder.rows, progress, retry=retry)
                try:
                    report = await run.work()
                finally:
                    await to_its_end(asyncio.to_thread(folder.write_predictions, cells))
                await asyncio.to_thread(_write_report, config, folder, report)
                return report


def _write_report(config: EvalConfig, folder: RunFolder, report: Report) -> None:
    remarks = [report.ceiling] if report.ceiling else []
    cells = [one.asker.cell for one in report.standings]
    labels = {cell.system.name: cell.identities.get("labels") for cell in cells}
    remarks += [f"Labels of {name}: {told}." for name, told in labels.items() if told]
    rows, asked = folder.rows.current(), folder.rows.asked()
    write = partial(write_report, config, rows, folder.path, questions=asked, remarks=remarks)
    (folder.path / CORPUS_SCORES).unlink(missing_ok=True)
    write()
    together = {
        f"{one.benchmark}/{one.system}": scores
        for one in report.standings
        if (scores := judge_together(one.asker.cell, one.rows))
    }
    if together:
        write_text(folder.path / CORPUS_SCORES, json.dumps(together, indent=1))
        write()


class _Run:
    """The questions that are left, and those who ask them."""

    def __init__(
        self,
        config: EvalConfig,
        askers: Sequence[Asker],
        rows: Rows,
        progress: Progress | None,
        *,
        retry: bool,
    ) -> None:
        self._config, self._rows = config, rows
        self._progress, self._retry = progress, retry
        self._standings = [Standing(asker) for asker in askers]
        self._purse = Purse(config.prices)
        self._ceiling = ""

    async def work(self) -> Report:
        """Ask what is left; a failure of one question never stops the others."""
        await self._take_rows()
        self._tell()
        jobs = iter(list(self._jobs()))
        at_once = range(self._config.limits.at_once)
        workers = [asyncio.create_task(self._worker(jobs)) for _ in at_once]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.wait(workers)
        return Report(self._standings, self._ceiling)

    async def _take_rows(self) -> None:
        """Take the rows that are there, judged as today, and what they cost."""
        standings = {(one.benchmark, one.system): one for one in self._standings}
        for row in await asyncio.to_thread(self._rows.all):
            standing = standings.get((row.benchmark, row.system))
            if standing is None:
                self._purse.pay(row, {})  # Its tokens are known, its models no longer.
                continue
            cell = standing.asker.cell
            question = cell.benchmark.by_id.get(row.id)
            self._purse.pay(row, cell.system.models)
            if question is None:
                continue
            today = await standing.asker.judged_today(question, row)
            if today is not row:
                await asyncio.to_thread(self._rows.put, today)
            standing.by_id[row.id] = today

    def _jobs(self) -> Iterator[tuple[Standing, Question]]:
        """Yield what is left, question by question, so that a ceiling cuts all systems alike."""
        for _, group in groupby(self._standings, key=lambda one: one.benchmark):
            standings = list(group)
            for question in standings[0].asker.cell.benchmark.questions:
                for standing in standings:
                    known = standing.by_id.get(question.id)
                    if known is None or (self._retry and known.outcome.error):
                        yield standing, question

    async def _worker(self, jobs: Iterator[tuple[Standing, Question]]) -> None:
        for standing, question in jobs:
            self._ceiling = self._purse.beyond(self._config.limits)
            if self._ceiling:
                return
            row = await standing.asker.ask(question)
            await asyncio.to_thread(self._rows.put, row)
            models = standing.asker.cell.system.models
            if failed := standing.by_id.get(row.id):  # The new row has the cost of both attempts.
                self._purse.pay(failed, models, times=-1)
            self._purse.pay(row, models)
            standing.by_id[row.id] = row
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._standings)
