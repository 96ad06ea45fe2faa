"""What systems found in a knowledge graph: the table of facts."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.evaluation.metrics.facts import CUTS
from ras_flow.evaluation.report.summary import Summary
from ras_flow.evaluation.report.tables import Table, measured

_ALL = ("", *(f"@{cut}" for cut in CUTS))


def fact_table(summaries: Sequence[Summary]) -> Table | None:
    """Facts and answers among those found, and in chains; None where no graph was searched."""
    names = {
        **{
            f"fact_{kind}{at}": f"fact {kind}{at}"
            for kind in ("recall", "precision")
            for at in _ALL
        },
        **{f"answer_recall{at}": f"answer recall{at}" for at in _ALL},
        "answer_precision": "answer precision",
        "chain_coverage": "in chains",
        "outside": "outside",
    }
    note = (
        "In per cent, of all facts found and of the best. Recall is of the gold facts, precision "
        "the share of the facts that are gold; answer recall is of the gold answers, some fact "
        "having them at an end, and answer precision the share of facts that do. In chains: gold "
        "facts that stand in evidence chains. Outside: answers given that no fact found has."
    )
    return measured("Facts", names, summaries, note)
