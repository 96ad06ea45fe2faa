"""The report: its numbers, its two forms, and that text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.outcome import Outcome, SearchedHop
from ras_flow.evaluation.report import write_report
from ras_flow.evaluation.report.summary import summarise
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import bootstrap, compare_paired
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
    assert react.ahead == compare_paired(theirs, ours, seed=5) != compare_paired(theirs, ours)


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
    systems = {"react": {"reader": "small"}, "ras": {"planner": "big"}}
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
        row("gone", "0", 0.25, **easy | {"error_class": "", "measures": {}}),
        row("react", "0", 0.5, **easy | {"measures": {}}),
        row("react", "1", 1.0, **hard | {"measures": {}}),
        row("react", "2", 0.0, **lost | {"measures": {}}),
    ]
    settings = config(tmp_path, systems, prices=PRICES, seed=5)
    write_report(settings, rows, tmp_path, questions={"small": 3}, remarks=["A remark."])
    page = Tables((tmp_path / "report.html").read_text())
    text = (tmp_path / "report.md").read_text()
    assert page.text[:3] == ["Evaluation", "A remark.", "small"]
    assert all(paragraph in text for paragraph in page.text)
    assert page.tables == markdown_tables(text)

    def cell(table: str, system: str, column: str) -> str:
        header, *lines = page.tables[table]
        [line] = [line for line in lines if line[0] == system]
        return line[header.index(column)]

    assert [line[0] for line in page.tables["Scores"]] == ["system", "react", "ras", "gone"]
    assert cell("Scores", "react", "failed") == "1"
    assert cell("Scores", "react", "f1") == "50.0 [0.0, 100.0]"
    assert cell("Scores", "gone", "ahead of ras") == "-75.0 [-75.0, -75.0]"
    assert cell("Scores", "ras", "ahead of ras") == ""
    assert cell("Cost", "ras", "calls") == "1.5" and cell("Cost", "ras", "money") == "0.1200"
    assert cell("Cost", "ras", "extractor tokens") == "16" and cell("Cost", "ras", "hops") == "2.00"
    assert cell("Steps", "ras", "recall") == cell("Steps", "ras", "plans right") == "50.0"
    assert len(page.tables["Steps"]) == 2, "systems without measures have no line"
    assert cell("Stop reasons", "ras", "max_hops") == "1"
    assert cell("Why answers are wrong", "ras", "answerer wrong") == "1"
    assert cell("By type of question", "gone", "two-hop") == "25.0 (1)"
    example = page.tables["Some wrong answers"][-1]
    assert example[:2] == ["ras", "answerer wrong"] and example[2].endswith("…")
    assert example[-1] == "r1"


def test_scores_by_share_are_means_over_the_shuffles(tmp_path: Path) -> None:
    systems = {"half": {"kind": "ras_share", "share": [0.5, 1.0], "shuffle": [1, 2]}}
    scores = {"half-0.5-1": 0.25, "half-0.5-2": 0.75, "half-1.0-1": 1.0, "half-1.0-2": 1.0}
    rows = [row(name, "0", score) for name, score in scores.items()]
    write_report(config(tmp_path, systems), rows, tmp_path)
    tables = Tables((tmp_path / "report.html").read_text()).tables
    header, line = tables["By share of the triples"]
    assert (header[1:], line[1:]) == (["50", "100"], ["50.0", "100.0"])


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


def test_the_page_asks_for_nothing_and_runs_nothing(tmp_path: Path) -> None:
    write_report(settings(tmp_path), all_rows(), tmp_path, remarks=[EVIL])
    page = (tmp_path / "report.html").read_text()
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(page)
    names = [tag for tag, _ in tags]
    assert names.count("table") >= 5
    assert not {"script", "link", "img", "iframe", "a"} & set(names)
    assert not any(
        name in ("src", "href", "style") or name.startswith("on")
        for _, attrs in tags
        for name in attrs
    )
    assert "default-src 'none'" in page and "alert(1)" in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page)


def test_scores_of_all_answers_together_have_a_column(tmp_path: Path) -> None:
    (tmp_path / "corpus_scores.json").write_text('{"small/ras": {"mauve": 0.875}}')
    write_report(settings(tmp_path), all_rows(), tmp_path)
    head, _, ras, react, *_ = (
        (tmp_path / "report.md").read_text().split("### Scores\n\n")[1].splitlines()
    )
    at = head.split(" | ").index("mauve")
    assert (ras.split(" | ")[at], react.split(" | ")[at].strip()) == ("87.5", "")


@pytest.mark.parametrize("answered", [1, 4])
def test_a_system_that_was_renamed_does_not_leave_it_unfinished(
    tmp_path: Path, answered: int
) -> None:
    rows = [row("react", str(n), 0.5) for n in range(4)]
    rows += [row("renamed", str(n), 0.5) for n in range(answered)]
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


def test_a_folder_with_one_system_and_no_support_has_a_report(tmp_path: Path) -> None:
    rows = [row("ras", "0", 1.0, measures={}, kind="")]
    write_report(config(tmp_path, {"ras": {}}), rows, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "### Scores" in text and "### Steps" not in text and "By type" not in text


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
    gap = compare_paired(scores["react"], scores["ras"], seed=5)
    ahead = f"{100 * gap.mean:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    assert react == ["react", "25.0", "100.0", "43.8", "4", ahead, f"{gap.p:.3f}", "165"]
    write_report(config(tmp_path, {"ras": {}, "react": {}}), rows[:-2], tmp_path)
    assert "All benchmarks" not in (tmp_path / "report.md").read_text()
