"""Writing the report into a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.question import UNANSWERABLE
from ras_flow.evaluation.report.contents import tables_of
from ras_flow.evaluation.report.overview import overview_table
from ras_flow.evaluation.report.summary import Summary, summarise
from ras_flow.evaluation.report.tables import markdown_text
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.run_folder import read_corpus_scores, write_text

_PAGE = """\
<!doctype html>
<html lang=en><head><meta charset=utf-8>
<meta http-equiv=Content-Security-Policy content="default-src 'none'; style-src 'unsafe-inline'">
<meta name=viewport content="width=device-width">
<title>Evaluation</title><style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block;
  overflow-x: auto }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #ddd }
table + p { color: #666; font-size: .9em; max-width: 50rem }
</style></head><body>
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
    # Most commands do without it.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    found = summarise(config, rows, read_corpus_scores(folder))
    parts = ["# Evaluation", "", *(f"{markdown_text(remark)}\n" for remark in remarks)]
    summed = [
        one for name, some in found.items() if not name.endswith(UNANSWERABLE) for one in some
    ]
    if len({one.rows[0].benchmark for one in summed}) > 1:
        reference = next(one.system for one in summed if one.reference)
        every = [row for one in summed for row in one.rows]
        parts.append(overview_table(every, reference, config.seed).markdown())
    for benchmark, summaries in found.items():
        parts += [f"## {markdown_text(benchmark)}", ""]
        if left := _left(summaries, config, (questions or {}).get(benchmark)):
            parts += [left, ""]
        twins = {one.system: one.rows for one in found.get(benchmark + UNANSWERABLE, ())}
        beside = None if benchmark.endswith(UNANSWERABLE) else twins
        parts += [table.markdown() for table in tables_of(summaries, beside, config) if table]
    text = "\n".join(parts)
    page = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    write_text(folder / "report.md", text)
    write_text(folder / "report.html", f"{_PAGE}{page}</body></html>\n")


def _left(summaries: Sequence[Summary], config: EvalConfig, count: int | None) -> str:
    """Say where not all questions were asked of the systems that the settings name."""
    answered = {one.system: len(one.rows) for one in summaries}
    asked = min(answered.get(one.name, 0) for one in config.systems)
    if count is None or asked >= count:
        return ""
    return f"Not finished: of {count} questions, some systems have answered {asked} only."
