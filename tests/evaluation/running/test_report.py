"""The report: its numbers, its two forms, and that text stays text."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
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
from ras_flow.evaluation.statistics import (
    Interval,
    bootstrap,
    paired_bootstrap,
    paired_permutation,
)
from ras_flow.state.schema import Usage
from tests.evaluation.running.small import config

EVIL = '<script>alert(1)</script> | `x` *y* [z](http://a.b) & "q" \x1b]0;t\x07 \u202e'
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
    assert react.errors == {"stopped_early": 3, "failed": 1}


def test_what_chance_decides_follows_from_the_seed_of_the_settings(tmp_path: Path) -> None:
    ours, theirs = ([(n * by % 20) ** (1 / by) / 3 for n in range(20)] for by in (2, 3))
    rows = [row("ras", str(n), score) for n, score in enumerate(ours)]
    rows += [row("react", str(n), score) for n, score in enumerate(theirs)]
    [ras, react, *_] = summarise(config(tmp_path, SYSTEMS, seed=5), rows)["small"]
    assert ras.main == bootstrap(ours, seed=5) != bootstrap(ours)
    assert react.ahead is not None
    gap = paired_bootstrap(theirs, ours, seed=5)
    assert (react.ahead.mean, react.ahead.low, react.ahead.high) == (gap.mean, gap.low, gap.high)
    p = paired_permutation(theirs, ours, seed=5)
    assert react.ahead.p == p != paired_permutation(theirs, ours)


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


def svg(folder: Path, name: str) -> ElementTree.Element:
    return ElementTree.fromstring((folder / "plots" / f"small-{name}.svg").read_text())


def test_the_report_has_these_tables_in_both_forms(tmp_path: Path) -> None:
    systems = {"react": {"reader": "small"}, "ras": {"planner": "big"}}
    steps = ["recall_first_hop", "recall", "all_support", "label_accuracy", "subquery_f1"]
    measures = dict(zip(steps, (0.5, 1.0, 1.0, 0.5, 0.25), strict=True))
    easy: dict[str, Any] = {"question": "Who?", "answers": ("A",), "measures": {}}
    hard = easy | {"question": "word " * 40, "answers": ("A", "B", "C"), "kind": "one-hop"}
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
        row("ras", "0", 1.0, **easy | {"measures": measures}),
        row("ras", "1", 0.0, **hard | wrong | {"measures": {"recall": 0.0}}),
        row("gone", "0", 0.25, **easy | {"error_class": ""}),
        row("react", "0", 0.5, **easy),
        row("react", "1", 1.0, **hard),
        row("react", "2", 0.0, **lost),
    ]
    settings = config(tmp_path, systems, prices=PRICES, seed=5)
    write_report(settings, rows, tmp_path, questions={"small": 3}, remarks=["A remark."])
    page = Tables((tmp_path / "report.html").read_text())
    text = (tmp_path / "report.md").read_text()
    assert page.text[:3] == ["Evaluation", "A remark.", "small"]
    assert text.startswith("# Evaluation\n\nA remark.\n\n## small\n\nNot finished: of 3 questions")
    for paragraph in page.text:
        assert paragraph in text
    assert page.text[4].endswith("follows from seed 5.")
    assert page.tables == markdown_tables(text)
    assert {title: [" | ".join(line) for line in rows] for title, rows in page.tables.items()} == {
        "Scores": [
            "system | questions | failed | f1 | exact_match | ahead of ras | p",
            "react | 3 | 1 | 50.0 [0.0, 100.0] | 33.3 [0.0, 100.0] | +25.0 [-50.0, +100.0] | 1.000",
            "ras | 2 | 0 | 50.0 [0.0, 100.0] | 50.0 [0.0, 100.0] |  | ",
            "gone | 1 | 0 | 25.0 [25.0, 25.0] | 0.0 [0.0, 0.0] | -75.0 [-75.0, -75.0] | 1.000",
        ],
        "Cost": [
            "system | calls | tokens | planner tokens | extractor tokens | answerer tokens "
            "| seconds | hops | triples | money",
            "react | 1.3 | 110 | 73 | 0 | 37 | 1.50 | 0.67 | 2.7 | 0.0300",
            "ras | 1.5 | 99 | 55 | 16 | 28 | 2.00 | 2.00 | 2.5 | 0.1200",
            "gone | 2.0 | 165 | 110 | 0 | 55 | 1.50 | 1.00 | 4.0 | 0.0000",
        ],
        "Steps": [
            "system | recall, first hop | recall | all support | plans right | subquery F1",
            "ras | 50.0 | 50.0 | 100.0 | 50.0 | 25.0",
        ],
        "Stop reasons": [
            "system | max_hops | sufficient",
            "react | 0 | 2",
            "ras | 1 | 1",
            "gone | 0 | 1",
        ],
        "Why answers are wrong": [
            "system | wrong | failed | answerer wrong",
            "react | 1 | 1 | 0",
            "ras | 1 | 0 | 1",
            "gone | 0 | 0 | 0",
        ],
        "By type of question": [
            "system | two-hop | one-hop",
            "react | 50.0 (1) | 100.0 (1)",
            "ras | 100.0 (1) | 0.0 (1)",
            "gone | 25.0 (1) | ",
        ],
        "Some wrong answers": [
            "system | class | question | gold | answer | why | run",
            "react | failed | Who? | A |  | no | ",
            f"ras | answerer wrong | {'word ' * 23}word… | A / B | b | It. | r1",
        ],
    }
    titles = {
        name: [one.text for one in svg(tmp_path, name).iter("{http://www.w3.org/2000/svg}title")]
        for name in ("hops", "errors")
    }
    assert titles == {
        "hops": [
            "react, 0 hops: 1",
            "react, 1 hop: 2",
            "ras, 1 hop: 1",
            "ras, 3 hops: 1",
            "gone, 1 hop: 1",
        ],
        "errors": ["react, failed: 1", "ras, answerer wrong: 1"],
    }
    assert "questions" in [one.text for one in svg(tmp_path, "hops").iter()]
    assert "wandered" not in [one.text for one in svg(tmp_path, "errors").iter()]


def test_the_markdown_shows_every_system_and_escapes_text(tmp_path: Path) -> None:
    write_report(settings(tmp_path), all_rows(), tmp_path, questions={"small": 9}, remarks=[EVIL])
    text = (tmp_path / "report.md").read_text()
    assert re.search(r"\| ras \| 4 \| 0 \| 100\.0 \[100\.0, 100\.0\]", text.replace("\\", ""))
    assert "of 9 questions, some systems have answered 4 only" in text
    assert "<script>" not in text and r"\<script\>" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    widths = {}
    for block in text.split("### ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        widths[block.splitlines()[0]] = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert all(len(counts) == 1 for counts in widths.values()), widths
    for name in ("tokens", "seconds", "hops", "errors", "shares"):
        assert f"](plots/small-{name}.svg)" in text
        svg(tmp_path, name)


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
    assert not {"\x1b", "\x07", "\u202e"} & set(page)


def test_no_name_in_a_folder_of_somebody_else_leads_out_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_report(settings(tmp_path), [row("ras", "0", 1.0, benchmark="../../out")], folder)
    written = {path.parent for path in tmp_path.rglob("*.svg")}
    assert written == {folder / "plots"}
    for path in re.findall(r"\]\((.*?)\)", (folder / "report.md").read_text()):
        assert (folder / path).is_file()


def test_wrong_answers_are_shown_with_their_runs_and_reasons(tmp_path: Path) -> None:
    rows = [row("react", str(n), 0.0, run=f"run{n}", why="Not found: Narvik.") for n in range(3)]
    write_report(config(tmp_path, {"react": {}}), rows, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "run0" in text and "run1" not in text
    numbers, texts = (text.split(f"### {title}\n")[1] for title in ("Scores", "Some wrong answers"))
    assert "| --- | ---: | ---: |" in numbers and "---:" not in texts
    assert (tmp_path / "report.html").read_text().count("<table class=text>") == 1
    assert "Not found: Narvik." in text


def test_scores_of_all_answers_together_have_a_column(tmp_path: Path) -> None:
    (tmp_path / "corpus_scores.json").write_text('{"small/ras": {"mauve": 0.875}}')
    write_report(settings(tmp_path), all_rows(), tmp_path)
    head, _, ras, react, *_ = (
        (tmp_path / "report.md").read_text().split("### Scores\n\n")[1].splitlines()
    )
    at = head.split(" | ").index("mauve")
    assert (ras.split(" | ")[at], react.split(" | ")[at].strip()) == ("87.5", "")


def test_a_finished_evaluation_of_a_system_that_was_renamed_has_a_report(tmp_path: Path) -> None:
    rows = [row(name, str(n), 0.5) for name in ("react", "renamed") for n in range(4)]
    write_report(config(tmp_path, {"react": {}}), rows, tmp_path, questions={"small": 4})
    text = (tmp_path / "report.md").read_text()
    assert "ahead of react" in text and "| renamed |" in text
    assert "Not finished" not in text


def test_what_was_judged_otherwise_and_is_not_named_is_left_out(tmp_path: Path) -> None:
    rows = [
        row(name, str(n), score, gold=gold)
        for name, score, gold in (("react", 1.0, "new"), ("old", 0.0, "old"), ("kept", 0.5, "new"))
        for n in range(4)
    ]
    write_report(config(tmp_path, {"react": {}}), rows, tmp_path, questions={"small": 4})
    text = (tmp_path / "report.md").read_text()
    assert "Left out are answers of old: they were judged" in text
    assert "| kept |" in text and "| old |" not in text
    # Named, they are judged again before the report is written.
    rows = [replace(one, gold="new") for one in rows]
    write_report(config(tmp_path, {"react": {}, "old": {"kind": "direct"}}), rows, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "Left out" not in text and "| old |" in text


def test_a_system_that_was_renamed_half_way_does_not_leave_it_unfinished(tmp_path: Path) -> None:
    rows = [row("react", str(n), 0.5) for n in range(4)] + [row("renamed", "0", 0.5)]
    write_report(config(tmp_path, {"react": {}}), rows, tmp_path, questions={"small": 4})
    assert "Not finished" not in (tmp_path / "report.md").read_text()


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


def drawn(plot: str, tag: str, **attributes: str) -> list[ElementTree.Element]:
    """The elements of a plot that have these attributes."""
    return [
        one
        for one in ElementTree.fromstring(plot).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
        if attributes.items() <= one.attrib.items()
    ]


def numbers(elements: list[ElementTree.Element], attribute: str) -> list[float]:
    return [float(one.attrib[attribute]) for one in elements]


def ticks(plot: str, anchor: str) -> list[float]:
    """The numbers at an axis, in order."""
    texts = drawn(plot, "text", **{"text-anchor": anchor, "fill": "#666"})
    given = [(one.text or "").replace(",", "") for one in texts]
    return [float(text) for text in given if text.replace(".", "").isdigit()]


def read_off(position: float, values: list[float], places: list[float]) -> float:
    """What a person reads off an axis that has these values at these places."""
    (low, high), (start, end) = (values[0], values[-1]), (places[0], places[-1])
    return low + (high - low) * (position - start) / (end - start)


@pytest.mark.parametrize("costs", [[400.0, 900.0, 1200.0], [8.0, 90.0, 1200.0]])
def test_points_are_where_the_axes_say(costs: list[float]) -> None:
    scores = [Interval(0.42, 0.35, 0.47), Interval(0.2, 0.1, 0.3), Interval(0.05, 0.0, 0.07)]
    points = [Point("", x, y) for x, y in zip(costs, scores, strict=True)]
    plot = scatter("t", "x", "y", points)
    shares, rows = ticks(plot, "end"), numbers(drawn(plot, "line", stroke="#8884"), "y1")
    assert shares == [0, 10, 20, 30, 40, 50]
    for share, row in zip(shares, rows, strict=True):
        assert read_off(row, shares, rows) == pytest.approx(share, abs=0.1)
    own, beside = (drawn(plot, "circle", r="8")[at::2] for at in (0, 1))
    for score, circle, line in zip(scores, own, drawn(plot, "line", opacity=".6"), strict=True):
        places = numbers([circle], "cy") + numbers([line], "y1") + numbers([line], "y2")
        said = [read_off(place, shares, rows) for place in places]
        shown = [100 * part for part in (score.mean, score.low, score.high)]
        assert said == pytest.approx(shown, abs=0.1)
        assert line.attrib["x1"] == line.attrib["x2"] == circle.attrib["cx"]
    values = ticks(plot, "middle")
    texts = drawn(plot, "text", **{"text-anchor": "middle", "fill": "#666"})[: len(values)]
    if max(costs) > 10 * min(costs):
        assert values == [1, 10, 100, 1_000, 10_000]
        values, costs = ([math.log10(one) for one in some] for some in (values, costs))
    else:
        assert values == [0, 500, 1_000, 1_500]
    across = numbers(texts, "x")
    for value, place in zip(values, across, strict=True):
        assert read_off(place, values, across) == pytest.approx(value, rel=0.001, abs=0.001)
    said = [read_off(place, values, across) for place in numbers(own, "cx")]
    assert said == pytest.approx(costs, rel=0.005)
    assert [one.attrib["fill"] for one in own] == [one.attrib["fill"] for one in beside]
    assert len({one.attrib["fill"] for one in own}) == 3


def test_bars_are_as_long_as_their_parts_are_large() -> None:
    plot = bars("t", {"a": {"x": 6, "y": 2}, "b": {"y": 4, "z": 0}}, unit="questions")
    parts = [one for one in drawn(plot, "rect", height="15")]
    starts, widths = numbers(parts, "x"), numbers(parts, "width")
    assert widths == pytest.approx([3 * widths[1], widths[1], 2 * widths[1]], abs=0.2)
    assert starts == pytest.approx([starts[0], starts[0] + widths[0], starts[0]], abs=0.1)
    assert 8 * widths[1] / 2 < 720 - starts[0]
    assert parts[0].attrib["y"] == parts[1].attrib["y"] != parts[2].attrib["y"]
    colours = [one.attrib["fill"] for one in parts]
    assert colours[1] == colours[2] != colours[0]
    assert colours[:2] == [one.attrib["fill"] for one in drawn(plot, "rect", height="12")[:2]]
    texts = [one.text for one in drawn(plot, "text")]
    assert texts == ["t", "x", "y", "z", "a", "8", "b", "4", "questions"]
    assert [one.text for one in drawn(bars("t", {"a": {"x": 6}}), "text")] == ["t", "a", "6", None]


def test_a_line_goes_through_its_points() -> None:
    points = [(0.25, 0.1), (0.5, 0.3), (1.0, 0.2)]
    plot = lines("t", "x", "y", points)
    [line] = drawn(plot, "polyline")
    circles = drawn(plot, "circle")
    places = list(zip(numbers(circles, "cx"), numbers(circles, "cy"), strict=True))
    assert line.attrib["points"] == " ".join(f"{x},{y}" for x, y in places)
    shares, scores = ticks(plot, "middle"), ticks(plot, "end")
    assert (shares[0], shares[-1], scores) == (0, 100, [0, 10, 20, 30])
    rows = numbers(drawn(plot, "line", stroke="#8884"), "y1")
    texts = drawn(plot, "text", **{"text-anchor": "middle", "fill": "#666"})
    across = numbers(texts[: len(shares)], "x")
    for (x, y), (share, score) in zip(places, points, strict=True):
        assert read_off(x, shares, across) == pytest.approx(100 * share, abs=0.1)
        assert read_off(y, scores, rows) == pytest.approx(100 * score, abs=0.1)


def test_a_system_that_cost_nothing_stands_where_its_axis_begins() -> None:
    points = [Point("", x, Interval(0.5, 0.5, 0.5)) for x in (0.0, 8.0, 1200.0)]
    plot = scatter("t", "x", "y", points)
    own = numbers(drawn(plot, "circle")[::2], "cx")
    assert ticks(plot, "middle")[0] == 1
    assert own[0] == float(drawn(plot, "line", stroke="#8884")[0].attrib["x1"]) < own[1] < own[2]


def test_all_that_a_plot_shows_is_on_it_and_named() -> None:
    points = [Point(name, 5, Interval(1, 0.5, 1)) for name in ("one", "two")]
    parts = {name: 1.0 for name in ("a", "b", "c", "d")}
    across, stacked = scatter("t", "cost", "score", points), bars("t", {"g": parts, "h": {}})
    plots = (across, stacked, lines("t", "share", "score", [(0.1, 0.5), (1.0, 1.0)]))
    for plot in plots:
        root = ElementTree.fromstring(plot)
        for one in root.iter():
            for names, end in (("x cx x1 x2", "width"), ("y cy y1 y2", "height")):
                for name in names.split():
                    assert 0 <= float(one.get(name, 0)) <= float(root.attrib[end]), one.attrib
    shown = [one.text for one in drawn(across, "text", fill="#222")]
    assert shown == ["t", "one", "two"] and {"cost", "score"} < {
        one.text for one in drawn(across, "text", fill="#666")
    }
    # The number of a point is in it, and once more beside its name.
    circles, texts = drawn(across, "circle"), drawn(across, "text", fill="#fff")
    assert [one.text for one in texts] == ["1", "1", "2", "2"]
    for circle, text in zip(circles, texts, strict=True):
        assert float(circle.attrib["cx"]) == float(text.attrib["x"])
        assert 0 < float(text.attrib["y"]) - float(circle.attrib["cy"]) < 8
    # What the colours mean is said above the bars, each at a place of its own.
    keys = drawn(stacked, "rect", height="12")
    places = set(zip(numbers(keys, "x"), numbers(keys, "y"), strict=True))
    assert len(places) == len(keys) == 4
    assert max(numbers(keys, "y")) + 12 < min(numbers(drawn(stacked, "rect", height="15"), "y"))


def test_a_plot_cuts_names_that_do_not_fit_and_shows_many_systems() -> None:
    names = ["n" * 30, "m" * 31, *map(str, range(20))]
    plot = scatter("t", "x", "y", [Point(name, 1, Interval(0.5, 0.5, 0.5)) for name in names])
    texts = [one.text for one in drawn(plot, "text")]
    assert "n" * 30 in texts and "m" * 29 + "…" in texts
    places = numbers(drawn(plot, "circle")[1::2], "cy")
    gaps = {round(after - before) for before, after in pairwise(places)}
    assert len(gaps) == 1 and gaps.pop() > 16 and 0 < places[0]
    assert places[-1] < float(ElementTree.fromstring(plot).attrib["height"])


def test_bars_and_lines_take_nothing_and_zeros() -> None:
    for plot in (bars("t", {}), bars("t", {"a": {"x": 0}}), lines("t", "x", "y", [(0.1, 0.0)])):
        ElementTree.fromstring(plot)


def test_the_distance_is_from_the_reference_though_another_has_none(tmp_path: Path) -> None:
    rows = [row("react", "0", 0.5), row("ras", "1", 1.0)]
    write_report(config(tmp_path, {"react": {}, "ras": {}}), rows, tmp_path)
    tables = Tables((tmp_path / "report.html").read_text()).tables
    header, react, ras = tables["Scores"]
    assert header[-2:] == ["ahead of ras", "p"]
    assert react[-2:] == ras[-2:] == ["", ""]


def test_a_system_that_was_not_asked_yet_is_told(tmp_path: Path) -> None:
    rows = [row("ras", "0", 1.0)]
    settings = config(tmp_path, {"ras": {}, "react": {}})
    write_report(settings, rows, tmp_path, questions={"small": 1})
    assert "of 1 questions, some systems have answered 0" in (tmp_path / "report.md").read_text()


def test_benchmarks_are_shown_together(tmp_path: Path) -> None:
    """A system's mean is over all questions; its distance over those that both have."""
    scores = {"ras": [1.0, 0.5, 0.0], "react": [0.0, 0.5, 0.25]}
    rows = [
        row(name, str(n), score) for name, given in scores.items() for n, score in enumerate(given)
    ]
    rows += [row("ras", "0", 0.5, benchmark="other"), row("react", "9", 1.0, benchmark="other")]
    write_report(config(tmp_path, {"ras": {}, "react": {}}, seed=5), rows, tmp_path)
    tables = Tables((tmp_path / "report.html").read_text()).tables
    assert (
        markdown_tables((tmp_path / "report.md").read_text())["All benchmarks"]
        == tables["All benchmarks"]
    )
    header, ras, react = tables["All benchmarks"]
    assert header == ["system", "small", "other", "all", "questions", "ahead of ras", "p", "tokens"]
    assert ras == ["ras", "50.0", "50.0", "50.0", "4", "", "", "165"]
    gap = paired_bootstrap(scores["react"], scores["ras"], seed=5)
    p = paired_permutation(scores["react"], scores["ras"], seed=5)
    ahead = f"{100 * gap.mean:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    assert react == ["react", "25.0", "100.0", "43.8", "4", ahead, f"{p:.3f}", "165"]
    write_report(config(tmp_path, {"ras": {}, "react": {}}), rows[:-2], tmp_path)
    assert "All benchmarks" not in (tmp_path / "report.md").read_text()
