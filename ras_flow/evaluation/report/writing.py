"""Writing the report into a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.question import UNANSWERABLE
from ras_flow.evaluation.report.clues import clue_table
from ras_flow.evaluation.report.facts import fact_table
from ras_flow.evaluation.report.overview import overview_table
from ras_flow.evaluation.report.summary import Summary, judged_alike, summarise
from ras_flow.evaluation.report.tables import (
    Table,
    cost_table,
    error_table,
    example_table,
    html_text,
    kind_table,
    markdown_text,
    score_table,
    share_table,
    step_table,
    stop_table,
)
from ras_flow.evaluation.report.trust import trust_table
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.run_folder import read_corpus_scores, write_text

_LEFT_OUT = (
    "Left out are answers of {}: they were judged by other gold answers, or by another version. "
    "Name it in the settings again to have them judged."
)

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child, .text th, .text td { text-align: left }
.note { color: #666; font-size: .9em; max-width: 50rem }
"""


def write_report(
    config: EvalConfig,
    rows: Sequence[Row],
    folder: Path,
    *,
    questions: Mapping[str, int] | None = None,
    remarks: Sequence[str] = (),
) -> None:
    """Write ``report.md``, and ``report.html``, which needs no other file."""
    rows, left_out = judged_alike(config, rows)
    if left_out:
        remarks = [*remarks, _LEFT_OUT.format(", ".join(left_out))]
    found = summarise(config, rows, read_corpus_scores(folder))
    markdown = ["# Evaluation", "", *(f"{markdown_text(remark)}\n" for remark in remarks)]
    page = ["<h1>Evaluation</h1>", *(f"<p>{html_text(remark)}</p>" for remark in remarks)]
    if overview := overview_table(found, config.seed):
        markdown.append(overview.markdown())
        page.append(overview.html())
    for benchmark, summaries in found.items():
        count = (questions or {}).get(benchmark)
        left = _left(summaries, config, count)
        markdown += [f"## {markdown_text(benchmark)}", "", *([left, ""] if left else [])]
        page += [f"<h2>{html_text(benchmark)}</h2>", f"<p>{left}</p>" if left else ""]
        tables = _tables(summaries, config)
        if not benchmark.endswith(UNANSWERABLE):
            tables.insert(1, trust_table(summaries, found.get(benchmark + UNANSWERABLE, ())))
        for table in filter(None, tables):
            markdown.append(table.markdown())
            page.append(table.html())
    write_text(folder / "report.md", "\n".join(markdown))
    write_text(folder / "report.html", _page(page))


def _tables(summaries: Sequence[Summary], config: EvalConfig) -> list[Table | None]:
    return [
        score_table(summaries, config.seed),
        cost_table(summaries, config),
        step_table(summaries),
        clue_table(summaries),
        fact_table(summaries),
        stop_table(summaries),
        error_table(summaries),
        kind_table(summaries),
        share_table(summaries),
        example_table(summaries),
    ]


def _left(summaries: Sequence[Summary], config: EvalConfig, count: int | None) -> str:
    """Say where not all questions were asked of the systems that the settings name."""
    answered = {one.system: len(one.rows) for one in summaries}
    asked = min(answered.get(one.name, 0) for one in config.systems)
    if count is None or asked >= count:
        return ""
    return f"Not finished: of {count} questions, some systems have answered {asked} only."


def _page(parts: Sequence[str]) -> str:
    return (
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        "<meta http-equiv=Content-Security-Policy "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name=viewport content="width=device-width">'
        f"<title>Evaluation</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
