"""The report: its numbers, its two forms, and that text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from ras_flow.evaluation.outcome import Outcome, SearchedHop
from ras_flow.evaluation.report import write_report
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import compare_paired
from ras_flow.state.schema import Usage
from tests.evaluation.running.small import config

EVIL = '<script>alert(1)</script> | `x` *y* [z](http://a.b) & "q" \x1b]0;t\x07 \u202e'
SYSTEMS: dict[str, Any] = {
    "ras": {"planner": "big"},
    "react": {"reader": "small"},
    "half": {"kind": "ras_share", "share": [0.5, 1.0]},
}
PRICES = {"big": {"input": 1000.0, "output": 2000.0}, "small": {"input": 100.0}}


def use(role: str, read: int, written: int) -> Usage:
    return Usage(role=role, calls=1, input_tokens=read, output_tokens=written, seconds=0.5)


def row(system: str, id: str, score: float, **changes: object) -> Row:
    outcome = Outcome(
        answer=EVIL,
        hops=(SearchedHop(EVIL, ("p",), (EVIL,)),),
        triples=4,
        stop_reason="sufficient",
        usage={"planner": use("planner", 100, 10), "answerer": use("answerer", 50, 5)},
        seconds=1.5,
    )
    made = Row(
        benchmark="small",
        system=system,
        id=id,
        question=EVIL,
        answers=(EVIL,),
        kind="two-hop" if id == "0" else EVIL,
        outcome=outcome,
        scores={"f1": score, "exact_match": float(score == 1)},
        measures={"recall": 0.5},
        error_class="" if score >= 0.5 else "stopped_early",
        why="" if score >= 0.5 else EVIL,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def written(folder: Path, systems: Any, rows: list[Row], **more: Any) -> tuple[str, Any]:
    """Write the report; return its Markdown, and its tables by their titles."""
    seeded = {"seed": more.pop("seed")} if "seed" in more else {}
    asked = [str(system) for system in systems.values()]
    prices = {name: price for name, price in PRICES.items() if name in "".join(asked)}
    write_report(config(folder, systems, prices=prices, **seeded), rows, folder, **more)
    tables = Tables((folder / "report.html").read_text()).tables
    return (folder / "report.md").read_text(), tables


def all_rows() -> list[Row]:
    scores = {"ras": 1.0, "react": 0.25, "half-0.5": 0.5, "half-1.0": 0.75}
    return [row(name, str(n), score) for name, score in scores.items() for n in range(4)]


def test_numbers_are_those_of_the_rows(tmp_path: Path) -> None:
    failed = replace(row("react", "3", 0.0), outcome=Outcome(error="gone"), error_class="failed")
    rows = [one for one in all_rows() if (one.system, one.id) != ("react", "3")] + [failed]
    _, tables = written(tmp_path, SYSTEMS, rows)
    for system, table, cells in (
        ("ras", "Scores", {"f1": "100.0 [100.0, 100.0]", "failed": "0", "ahead of ras": ""}),
        ("react", "Scores", {"failed": "1"}),
        ("ras", "Cost", {"tokens": "165", "planner tokens": "110", "money": "0.4800"}),
        ("react", "Cost", {"tokens": "124", "written": "11", "weighted": "158", "money": "0.0450"}),
        ("react", "Why answers are wrong", {"wrong": "4", "stopped early": "3", "failed": "1"}),
    ):
        for column, cell in cells.items():
            assert cell_of(tables[table], system, column) == cell, (table, column)
    assert cell_of(tables["Scores"], "react", "f1").startswith("18.8 ")
    assert cell_of(tables["Scores"], "react", "ahead of ras").startswith("-81.2 ")


def cell_of(table: list[list[str]], system: str, column: str) -> str:
    [line] = [line for line in table[1:] if line[0] == system]
    return line[table[0].index(column)]


class Tables(HTMLParser):
    """The tables of a page by their titles, as text, and its paragraphs and first headings."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.text: list[str] = []
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        if tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag == "h3":
            self._rows = self.tables.setdefault(data, [])
        elif self._tag in ("td", "th"):
            self._rows[-1][-1] += data
        elif self._tag in ("h1", "h2", "p"):
            self.text.append(data)


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of a Markdown text by their titles."""
    tables = {}
    for block in re.sub(r"\\([^|])", r"\1", text).split("### ")[1:]:
        title, *lines = block.splitlines()
        cells = [line.strip("|").split("|") for line in lines if line.startswith("|")]
        tables[title] = [[cell.strip() for cell in line] for line in cells if "---" not in line[0]]
    return tables


def test_both_forms_hold_the_same_tables(tmp_path: Path) -> None:
    easy: dict[str, Any] = {"question": "Who?", "answers": ("A",)}
    hard = easy | {"question": "word " * 40, "kind": "one-hop"}
    lost = easy | {"kind": "", "outcome": Outcome(error="no"), "error_class": "failed", "why": "no"}
    longer = Outcome(
        answer="b",
        hops=(SearchedHop("x"),) * 3,
        triples=1,
        stop_reason="max_hops",
        seconds=2.5,
        usage={"extractor": use("extractor", 30, 3)},
    )
    wrong = {"error_class": "answerer_wrong", "why": "It.", "run": "r1", "outcome": longer}
    rows = [
        row("ras", "0", 1.0, **easy | {"measures": {"recall": 1.0, "label_accuracy": 0.5}}),
        row("ras", "1", 0.0, **hard | wrong | {"measures": {"recall": 0.0}}),
        row("not named any more", "0", 0.25, **easy | {"error_class": "", "measures": {}}),
        row("react", "0", 0.5, **easy | {"measures": {}}),
        row("react", "1", 1.0, **hard | {"measures": {}}),
        row("react", "2", 0.0, **lost | {"measures": {}}),
    ]
    systems = {name: SYSTEMS[name] for name in ("react", "ras")}
    more: dict[str, Any] = {"questions": {"small": 3}, "remarks": ["A remark."]}
    text, tables = written(tmp_path, systems, rows, seed=5, **more)
    page = Tables((tmp_path / "report.html").read_text())
    assert page.text[:3] == ["Evaluation", "A remark.", "small"]
    assert all(paragraph in text for paragraph in page.text)
    assert tables == markdown_tables(text)
    assert [line[0] for line in tables["Scores"]] == ["system", "react", "ras"]
    for table, system, column, cell in (
        ("Scores", "react", "failed", "1"),
        ("Scores", "react", "f1", "50.0 [0.0, 100.0]"),
        ("Scores", "ras", "ahead of ras", ""),
        ("Cost", "ras", "calls", "1.5"),
        ("Cost", "ras", "money", "0.1200"),
        ("Cost", "ras", "extractor tokens", "16"),
        ("Cost", "ras", "hops", "2.00"),
        ("Steps", "ras", "recall", "50.0"),
        ("Steps", "ras", "plans right", "50.0"),
        ("Stop reasons", "ras", "max_hops", "1"),
        ("Why answers are wrong", "ras", "answerer wrong", "1"),
        ("By type of question", "react", "two-hop", "50.0 (1)"),
    ):
        assert cell_of(tables[table], system, column) == cell, (table, system, column)
    assert len(tables["Steps"]) == 2, "systems without measures have no line"
    example = tables["Some wrong answers"][-1]
    assert example[:2] == ["ras", "answerer wrong"] and example[2].endswith("…")
    assert example[-1] == "r1"


def test_text_of_models_stays_text_in_both_forms(tmp_path: Path) -> None:
    text, _ = written(tmp_path, SYSTEMS, all_rows(), questions={"small": 9}, remarks=[EVIL])
    assert "of 9 questions, some systems have answered 4 only" in text
    assert "<script>" not in text and r"\<script\>" in text
    for block in text.split("### ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, lines
    page = (tmp_path / "report.html").read_text()
    tags: list[tuple[str, list[str]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, [name for name, _ in attrs]))

    Reader().feed(page)
    assert not {"script", "link", "img", "iframe", "a"} & {tag for tag, _ in tags}
    names = {name for _, attrs in tags for name in attrs}
    assert not any(name in ("src", "href") or name.startswith("on") for name in names)
    assert "default-src 'none'" in page and "alert(1)" in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page + text)


def test_scores_of_all_answers_together_have_a_column(tmp_path: Path) -> None:
    (tmp_path / "corpus_scores.json").write_text('{"small/ras": {"mauve": 0.875}}')
    header, ras, react, *_ = written(tmp_path, SYSTEMS, all_rows())[1]["Scores"]
    at = header.index("mauve")
    assert (ras[at], react[at]) == ("87.5", "")


def test_a_failed_run_is_none_of_the_surest(tmp_path: Path) -> None:
    def supported(id: str, score: float, support: float) -> Row:
        told = Outcome(answer="a", supported=support > 0.5)
        return row("ras", id, score, outcome=told, measures={"support": support})

    failed = row("ras", "3", 0.0, outcome=Outcome(error="gone"), measures={})
    rows = [supported("0", 1.0, 0.9), supported("1", 1.0, 0.8), supported("2", 0.0, 0.1), failed]
    trust = written(tmp_path, {"ras": {}}, rows)[1]["Trust"]
    assert cell_of(trust, "ras", "wrong of the surest 50%") == "0.0"
    assert cell_of(trust, "ras", "AUROC") == "100.0"


def test_benchmarks_are_shown_together(tmp_path: Path) -> None:
    """Means and distances are over the questions that both systems have."""
    scores = {"ras": [1.0, 0.5, 0.0], "react": [0.0, 0.5, 0.25]}
    rows = [
        row(name, str(n), score) for name, given in scores.items() for n, score in enumerate(given)
    ]
    other = [row("ras", "0", 0.5, benchmark="other"), row("react", "9", 1.0, benchmark="other")]
    text, tables = written(tmp_path, SYSTEMS, other + rows, seed=5)
    assert markdown_tables(text)["All benchmarks"] == tables["All benchmarks"]
    header, ras, react, ahead = tables["All benchmarks"]
    assert header[:5] == ["system", "questions", "small, 3", "other, 1", "all, 4"]
    assert ras == ["ras", "4", "50.0", "50.0", "50.0", "165", "50.0 / 50.0"]
    assert react == ["react", "3", "25.0", "", "25.0", "165", "50.0 / -"]
    gap = compare_paired(scores["react"], scores["ras"], seed=5)
    mean, low, high = (f"{100 * value:+.1f}" for value in (gap.mean, gap.low, gap.high))
    cell = f"{mean} ({low} to {high}; p {gap.p:.3f})"
    assert ahead == ["", "", cell, "", cell, "", ""]
    assert "All benchmarks" not in written(tmp_path, SYSTEMS, rows)[1]
