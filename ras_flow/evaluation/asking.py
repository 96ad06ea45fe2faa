"""Asking a system a question: a run that goes on where it stopped, and the row that it makes."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from ras_flow.builder import METADATA
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.assembly import Cell, Read
from ras_flow.evaluation.judging import JUDGING, gold_of, judge
from ras_flow.evaluation.kept import ASKING, KeptCalls
from ras_flow.evaluation.outcome import outcome_of, problem_of, readable
from ras_flow.evaluation.question import Question
from ras_flow.evaluation.rows import Row

ASKED = "ras_flow_asked"
"""Key in a run's metadata: a checksum of what it was begun with."""


class Asker:
    """Asks a system the questions of a benchmark."""

    def __init__(self, cell: Cell, saver: BaseCheckpointSaver[str], calls: KeptCalls) -> None:
        self.cell = cell
        self._saver, self._calls = saver, calls
        self._graph: CompiledStateGraph[Any, Any, Any, Any] = cell.graph.compile(
            checkpointer=saver, name="ras"
        )

    async def ask(self, question: Question) -> Row:
        """Ask a question, or go on with a run that was under way."""
        id = self.cell.run_id(question)
        metadata = {ASKED: self.cell.checksum(question), METADATA: self.cell.made_by}
        config: RunnableConfig = {"configurable": {"thread_id": id}, "metadata": metadata}
        # Parts may be anybody's, and fail in ways of their own: that must cost one row, not all.
        [failure] = await asyncio.gather(self._run(question, config), return_exceptions=True)
        if isinstance(failure, ConfigurationError):
            raise failure
        last, _ = await self._last_step(config)
        state = readable(last.values)
        error = f"{type(failure).__name__}: {failure}" if failure else problem_of(last.values)
        kept = await self._calls.saved(id)
        outcome = outcome_of(state, saved=kept, error=error)
        saved_tokens = {
            role: [use["input_tokens"], use["output_tokens"]]
            for role, use in kept.items()
            if use["calls"]
        }
        read = Read() if error else await self.cell.read(state)
        return await asyncio.to_thread(
            judge, self.cell, question, outcome, state, saved_tokens, read
        )

    async def judged_today(self, question: Question, row: Row) -> Row:
        """Judge an earlier answer again if its gold or the judging has changed since."""
        mended = row.gold != gold_of(self.cell, question)
        if not mended and row.judging == JUDGING:
            return row
        last, _ = await self._last_step({"configurable": {"thread_id": row.run}})
        state = readable(last.values) if last.created_at else {}
        if not mended and not state:
            return row  # Its steps are gone, so they cannot be measured again.
        read = Read() if row.outcome.error else await self.cell.read(state)
        return await asyncio.to_thread(
            judge, self.cell, question, row.outcome, state, row.saved_tokens, read
        )

    async def _run(self, question: Question, config: RunnableConfig) -> None:
        """Run a question from its beginning, or from where it was left."""
        id, checksum = config["configurable"]["thread_id"], config["metadata"][ASKED]
        # As this is a task of its own, no other question is entered under this id.
        ASKING.set(id)
        saved, at = await self._last_step(config)
        another = (saved.metadata or {}).get(ASKED, checksum) != checksum
        if another or (not saved.tasks and problem_of(saved.values)):
            await self._saver.adelete_thread(id)
            await self._calls.forget(id)
            saved, at = await self._last_step(config)
        if not saved.created_at:
            await self._graph.ainvoke(self.cell.given(question), config, durability="sync")
        elif saved.tasks:
            await self._graph.ainvoke(None, at, durability="sync")

    async def _last_step(self, config: RunnableConfig) -> tuple[StateSnapshot, RunnableConfig]:
        """Return where the evaluation itself left a run, whatever others made of it since."""
        newest = await self._graph.aget_state(config)
        if not newest.created_at or ASKED in (newest.metadata or {}):
            return newest, config
        async for saved in self._graph.aget_state_history(config):
            if ASKED in (saved.metadata or {}):
                return saved, {**saved.config, "metadata": config.get("metadata", {})}
        return newest, config
