"""The report: its numbers, its two forms, and that text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.outcome import Outcome, SearchedHop
from ras_flow.evaluation.report import write_report
from ras_flow.evaluation.report.plots import Point, bars, lines, scatter
from ras_flow.evaluation.report.summary import summarise
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Interval
from ras_flow.state.schema import Usage
from tests.evaluation.running.small import config

EVIL = '<script>alert(1)</script> | `x` *y* [z](http://a.b) & "q"'
SYSTEMS = {
    "ras": {"planner": "big"},
    "react": {"reader": "small"},
    "half": {"kind": "ras_share", "share": [0.5, 1.0]},
}
PRICES = {"big": {"input": 1000.0, "output": 2000.0}, "small": {"input": 100.0}}


def use(role: str, read: int, written: int) -> Usage:
    return Usage(
        role=role,  # type: ignore[typeddict-item]
        calls=1,
        input_tokens=read,
        output_tokens=written,
        seconds=0.5,
    )


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


def settings(folder: Path) -> EvalConfig:
    return config(folder, SYSTEMS, prices=PRICES)


def all_rows() -> list[Row]:
    scores = {"ras": 1.0, "react": 0.25, "half-0.5": 0.5, "half-1.0": 0.75}
    return [row(name, str(n), score) for name, score in scores.items() for n in range(4)]


def test_numbers_are_those_of_the_rows(tmp_path: Path) -> None:
    failed = replace(row("react", "3", 0.0), outcome=Outcome(error="gone"), error_class="failed")
    rows = [one for one in all_rows() if (one.system, one.id) != ("react", "3")] + [failed]
    config = settings(tmp_path)
    [ras, react, *_] = summarise(config, rows)["small"]
    assert (ras.main.mean, ras.ahead) == (1.0, None)
    assert react.main.mean == pytest.approx(0.1875) and react.failed == 1
    assert react.ahead is not None and react.ahead.mean == pytest.approx(-0.8125)
    assert ras.tokens == 165 and ras.tokens_by("planner") == 110
    assert react.tokens == pytest.approx(165 * 3 / 4)
    # Four questions of 100 read and 10 written tokens by the priced planner.
    assert ras.money(config) == pytest.approx(4 * (100 * 1000 + 10 * 2000) / 1e6)
    assert react.money(config) == pytest.approx(3 * 150 * 100 / 1e6)
    assert react.counts("error_class") == {"stopped_early": 3, "failed": 1}


def test_the_markdown_shows_every_system_and_escapes_text(tmp_path: Path) -> None:
    write_report(settings(tmp_path), all_rows(), tmp_path, questions={"small": 9}, remarks=[EVIL])
    text = (tmp_path / "report.md").read_text()
    assert re.search(r"\| ras \| 4 \| 0 \| 100\.0 \[100\.0, 100\.0\]", text.replace("\\", ""))
    assert "of 9 questions, some systems have answered 4 only" in text
    assert "<script>" not in text and r"\<script\>" in text
    widths = {}
    for block in text.split("### ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        widths[block.splitlines()[0]] = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert all(len(counts) == 1 for counts in widths.values()), widths
    for name in ("tokens", "seconds", "hops", "errors", "shares"):
        assert f"](plots/small-{name}.svg)" in text
        ElementTree.fromstring((tmp_path / "plots" / f"small-{name}.svg").read_text())


def test_the_page_asks_for_nothing_and_runs_nothing(tmp_path: Path) -> None:
    write_report(settings(tmp_path), all_rows(), tmp_path, remarks=[EVIL])
    page = (tmp_path / "report.html").read_text()
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(page)
    names = [tag for tag, _ in tags]
    assert names.count("svg") == 5 and names.count("table") >= 5
    assert not {"script", "link", "img", "iframe", "a"} & set(names)
    assert not any(
        name in ("src", "href", "style") or name.startswith("on")
        for _, attrs in tags
        for name in attrs
    )
    assert "default-src 'none'" in page and "alert(1)" in page


def test_wrong_answers_are_shown_with_their_runs_and_reasons(tmp_path: Path) -> None:
    rows = [row("react", str(n), 0.0, run=f"run{n}", why="Not found: Narvik.") for n in range(3)]
    write_report(config(tmp_path, {"react": {}}), rows, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "run0" in text and "run1" not in text
    assert "Not found: Narvik." in text


def test_scores_of_all_answers_together_have_a_column(tmp_path: Path) -> None:
    (tmp_path / "corpus_scores.json").write_text('{"small/ras": {"mauve": 0.875}}')
    write_report(settings(tmp_path), all_rows(), tmp_path)
    head, _, ras, react, *_ = (
        (tmp_path / "report.md").read_text().split("### Scores\n\n")[1].splitlines()
    )
    at = head.split(" | ").index("mauve")
    assert (ras.split(" | ")[at], react.split(" | ")[at].strip()) == ("87.5", "")


def test_a_folder_with_one_system_and_no_support_has_a_report(tmp_path: Path) -> None:
    rows = [row("ras", "0", 1.0, measures={}, kind="")]
    write_report(config(tmp_path, {"ras": {}}), rows, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "### Scores" in text and "### Steps" not in text and "By type" not in text


NUMBERS = st.floats(0, 1e7)
SHARES = st.floats(0, 1)


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40)


@given(st.lists(st.tuples(NAMES, NUMBERS, SHARES), min_size=1, max_size=12))
def test_a_plot_holds_every_point_inside_its_frame(points: list[tuple[str, float, float]]) -> None:
    placed = [Point(name, x, Interval(y, y * 0.9, min(1.0, y * 1.1))) for name, x, y in points]
    plot = scatter("t", "x", "y", placed)
    root = ElementTree.fromstring(plot)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    circles = [one for one in root.iter() if one.tag.endswith("circle")]
    assert len(circles) == 2 * len(points)
    for one in circles:
        assert 0 <= float(one.get("cx", -1)) <= width and 0 <= float(one.get("cy", -1)) <= height


def test_bars_and_lines_take_nothing_and_zeros() -> None:
    for plot in (bars("t", {}), bars("t", {"a": {"x": 0}}), lines("t", "x", "y", [(0.1, 0.0)])):
        ElementTree.fromstring(plot)
