"""What was seen at one moment of a run, and what should be said, as a record."""

from __future__ import annotations

from typing import Literal

from ras_flow.training.data.records import Link, Record, Target
from ras_flow.training.splits import Split
from recipes.graph_llm.case import Case


class Recorder:
    """Makes records of one run of one case."""

    def __init__(self, case: Case, split: Split, run: str) -> None:
        self.case, self.split, self.run = case, split, run

    def record(
        self,
        task: Literal["plan", "answer"],
        name: str,
        chain: list[Link],
        target: Target,
        *,
        page: str = "",
    ) -> Record:
        """Return a record."""
        record: Record = {
            "id": f"{self.case.source}/{self.case.name}/{self.run}/{name}",
            "source": self.case.source,
            "split": self.split,
            "task": task,
            "question": self.case.question.strip(),
            "chain": chain,
            "target": target,
        }
        # The planner gets an instruction only from a caller who sets one.
        if self.case.instruction and task == "answer":
            record["instruction"] = self.case.instruction
        if page:
            record["page"] = page
        return record

    def first_plan(self) -> Record:
        """Return the first plan of a question that has to be looked up: [SUBQ] Q."""
        target: Target = {"label": "SUBQ", "subquery": " ".join(self.case.question.split())}
        return self.record("plan", "plan-0", [], target)


def closed_book(case: Case, split: Split) -> Record:
    """Return the record of an answer without any graph (eq. 7)."""
    run = Recorder(case, split, "direct")
    return run.record("answer", "answer", [], {"answer": case.answer})


def no_retrieval(case: Case, split: Split) -> Record:
    """Return the only plan of a question that the base model answers by itself."""
    return Recorder(case, split, "direct").record("plan", "plan-0", [], {"label": "NO_RETRIEVAL"})
