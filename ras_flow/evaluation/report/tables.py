"""The report's tables: what is in them, and their form in Markdown and HTML."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.error_classes import ABOUT, KINDS, ErrorKind
from ras_flow.evaluation.report.summary import Summary
from ras_flow.evaluation.statistics import Interval
from ras_flow.formats.text import plain

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&])")

EXAMPLES = 1
"""Wrong answers that are shown of each system and class."""

LONGEST = 120
"""Characters of a text that are shown."""


@dataclass(frozen=True)
class Table:
    """A table: the first column holds names, the others numbers, or all hold text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text: bool = False

    def markdown(self) -> str:
        """Return it as Markdown; text of models and files stays text."""
        lines = [
            f"### {markdown_text(self.title)}",
            "",
            _line(self.header),
            "| --- |" + (" --- |" if self.text else " ---: |") * (len(self.header) - 1),
            *map(_line, self.rows),
        ]
        return "\n".join([*lines, "", markdown_text(self.note), ""] if self.note else [*lines, ""])

    def html(self) -> str:
        """Return it as HTML, escaped."""
        head = "".join(f"<th>{html_text(name)}</th>" for name in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        kind = " class=text" if self.text else ""
        note = f"<p class=note>{html_text(self.note)}</p>" if self.note else ""
        return (
            f"<h3>{html_text(self.title)}</h3><div class=wide><table{kind}>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
        )


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; a terminal too."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


def html_text(text: str) -> str:
    """Return text that HTML shows as it is, on one line; a terminal too."""
    return escape(plain(text))


def score_table(summaries: Sequence[Summary], seed: int) -> Table:
    """Scores by system, with 95 % confidence intervals, and the distance from the reference."""
    reference = next(one.system for one in summaries if one.reference)
    metrics = list(dict.fromkeys(metric for one in summaries for metric in one.scores))
    together = list(dict.fromkeys(metric for one in summaries for metric in one.together))
    header = ["system", "questions", "failed", *metrics, *together, f"ahead of {reference}", "p"]
    rows = []
    for one in summaries:
        scores = [interval(one.scores[name]) if name in one.scores else "" for name in metrics]
        scores += [percent(one.together[n]) if n in one.together else "" for n in together]
        ahead = [interval(one.ahead, signed=True), p_value(one.ahead.p)] if one.ahead else ["", ""]
        rows.append([one.system, str(len(one.rows)), str(one.failed), *scores, *ahead])
    note = (
        "In per cent, with 95 % bootstrap intervals. A failed run scores zero. The distance is in "
        f"{metrics[0]}, on the questions that both systems have; p is that of a paired permutation "
        f"test. What chance decides follows from seed {seed}."
    )
    return Table("Scores", header, rows, note)


def cost_table(summaries: Sequence[Summary], config: EvalConfig) -> Table:
    """Calls, tokens by role, seconds, hops, triples and money."""
    roles = list(dict.fromkeys(role for one in summaries for role in one.roles))
    weight = config.output_weight
    header = ["system", "calls", "tokens", "weighted", *(f"{role} tokens" for role in roles)]
    header += ["seconds", "rounds", "hops", "triples"] + (["money"] if config.prices else [])
    rows = []
    for one in summaries:
        row = [one.system, f"{one.calls:.1f}", f"{one.tokens:.0f}"]
        row.append(f"{one.weighted(weight):.0f}")
        row += [f"{one.tokens_by(role):.0f}" for role in roles]
        row += [f"{one.seconds:.2f}", f"{one.rounds:.1f}"]
        row += [f"{one.hops:.2f}", f"{one.triples:.1f}"]
        rows.append(row + ([f"{one.money(config):.4f}"] if config.prices else []))
    note = (
        f"Means for one question; weighted tokens count written ones {weight:g} times; seconds are "
        "the median, money is for all questions. Rounds are steps that wait for a model, one after "
        "the other. Every system is charged as if it had been asked alone, also for plans and "
        "triples that another system had asked for. A baseline's steps count as planner, its "
        "answer as answerer."
    )
    return Table("Cost", header, rows, note)


def step_table(summaries: Sequence[Summary]) -> Table | None:
    """Retrieval and planning against the gold support; None without any."""
    names = {
        "recall_first_hop": "recall, first hop",
        "recall": "recall",
        "all_support": "all support",
        "gold_cited": "gold cited",
        "label_accuracy": "plans right",
        "subquery_f1": "subquery F1",
    }
    note = (
        "In per cent. Recall is of the gold documents after the last hop, 0 without one; gold "
        "cited is the share of them that the answer cites; a plan "
        "is right that stops when all of them are found, and not before."
    )
    return measured("Steps", names, summaries, note)


def measured(
    title: str, names: Mapping[str, str], summaries: Sequence[Summary], note: str
) -> Table | None:
    """Tabulate measures of systems, by name and heading; None if nothing was measured."""
    rows = []
    for one in summaries:
        found = [one.measure(name) for name in names]
        if any(value is not None for value in found):
            rows.append([one.system, *("" if v is None else percent(v) for v in found)])
    return Table(title, ["system", *names.values()], rows, note) if rows else None


def stop_table(summaries: Sequence[Summary]) -> Table:
    """How often which stop reason ended the search."""
    counts = {one.system: one.stop_reasons for one in summaries}
    reasons = sorted({reason for count in counts.values() for reason in count})
    rows = [[name, *(str(count[reason]) for reason in reasons)] for name, count in counts.items()]
    return Table("Stop reasons", ["system", *reasons], rows)


def error_table(summaries: Sequence[Summary]) -> Table:
    """Error classes by system."""
    counts = {one.system: one.errors for one in summaries}
    kinds = error_kinds(summaries)
    rows = [
        [name, str(count.total()), *(str(count[kind]) for kind in kinds)]
        for name, count in counts.items()
    ]
    note = " ".join(f"{name}: {ABOUT[kind]}" for kind, name in kinds.items())
    return Table("Why answers are wrong", ["system", "wrong", *kinds.values()], rows, note)


def error_kinds(summaries: Sequence[Summary]) -> dict[ErrorKind, str]:
    """Return the error classes that there are, with their names in words."""
    counts = [one.errors for one in summaries]
    return {kind: kind.replace("_", " ") for kind in KINDS if any(count[kind] for count in counts)}


def example_table(summaries: Sequence[Summary]) -> Table | None:
    """The first wrong answers of each class, with their runs; None without any."""
    rows = []
    for one in summaries:
        for kind, name in error_kinds([one]).items():
            wrong = [row for row in one.rows if row.error_class == kind][:EXAMPLES]
            rows += [
                [
                    one.system,
                    name,
                    _short(row.question),
                    _short(" / ".join(row.answers[:2])),
                    _short(row.outcome.answer),
                    _short(row.why),
                    row.run,
                ]
                for row in wrong
            ]
    header = ["system", "class", "question", "gold", "answer", "why", "run"]
    note = "Every step of a run: ras-flow runs show RUN --database FOLDER, with this folder."
    return Table("Some wrong answers", header, rows, note, text=True) if rows else None


def kind_table(summaries: Sequence[Summary]) -> Table | None:
    """Main score by type of question; None where there is but one type."""
    kinds = list(dict.fromkeys(row.kind for one in summaries for row in one.rows if row.kind))
    if len(kinds) < 2:
        return None
    rows = []
    for one in summaries:
        found = [[row.score for row in one.rows if row.kind == kind] for kind in kinds]
        cells = [f"{percent(fmean(scores))} ({len(scores)})" if scores else "" for scores in found]
        rows.append([one.system, *cells])
    return Table("By type of question", ["system", *kinds], rows, "In per cent (questions).")


def share_table(summaries: Sequence[Summary]) -> Table | None:
    """Return the main score by share of the triples, over all shuffles (figure 4)."""
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for one in summaries:
        if one.config and one.config.system.kind == "ras_share":
            scores[float(one.config.options["share"])].append(one.main.mean)
    if len(scores) < 2:
        return None
    shares = sorted(scores)
    cells = [percent(fmean(scores[share])) for share in shares]
    header = ["share of the triples, %", *(f"{100 * share:g}" for share in shares)]
    metric = next(iter(summaries[0].scores))
    return Table("By share of the triples", header, [[f"{metric}, %", *cells]])


def percent(value: float) -> str:
    """Write a share in per cent."""
    return f"{100 * value:.1f}"


def interval(value: Interval, *, signed: bool = False) -> str:
    """Write a mean with its interval, in per cent."""
    sign = "+" if signed else ""
    mean, low, high = (format(100 * x, f"{sign}.1f") for x in (value.mean, value.low, value.high))
    return f"{mean} [{low}, {high}]"


def p_value(p: float, *, equals: str = "") -> str:
    """Write a p-value."""
    return f"{equals}{p:.3f}" if p >= 0.001 else "< 0.001"


def _short(text: str) -> str:
    line = plain(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"
