"""Records of a data set as the examples that a Graph LLM learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ras_flow.training.data.records import Record
from ras_flow.training.data.requests import as_request, target_text
from ras_flow.training.graph_llm.graphs import Graphs
from ras_flow.training.graph_llm.placed import Placed

if TYPE_CHECKING:
    from ras_flow.graph_llm.collate import Example


class Examples:
    """A data set by position, as Trainer reads it."""

    def __init__(self, records: Sequence[Placed], graphs: Graphs | None) -> None:
        self.records = records
        self._graphs = graphs

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, position: int) -> Example:
        """Return what the model is asked and what it is to write."""
        # It is defined beside the collator, which imports torch.
        from ras_flow.graph_llm.collate import Example  # noqa: PLC0415

        record = self.records[position].record
        request = as_request(record)
        if self._graphs is not None:
            request = replace(request, graph=self._graphs[position])
        return Example(request, target_text(record))

    def lengths(self) -> list[int]:
        """Return about how many characters the model reads of each record."""
        return [_length(one.record) for one in self.records]


def _length(record: Record) -> int:
    return len(record["question"]) + sum(
        len(link["subquery"])
        + sum(
            len(part) + 4 for item in (*link["triples"], *link.get("passages", ())) for part in item
        )
        for link in record["chain"]
    )
