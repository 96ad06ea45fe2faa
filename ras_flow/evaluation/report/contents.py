"""What the report's tables hold; None for a table that would have no line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from ras_flow.evaluation.config import EvalConfig
from ras_flow.evaluation.costs import money
from ras_flow.evaluation.error_classes import ABOUT
from ras_flow.evaluation.metrics.abstention import auroc, risk_at
from ras_flow.evaluation.metrics.facts import CUTS
from ras_flow.evaluation.report.summary import Summary
from ras_flow.evaluation.report.tables import Table, interval, mean_percent, p_value, percent
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Difference
from ras_flow.formats.text import plain

EXAMPLES = 1
"""Wrong answers that are shown of each system and class."""

LONGEST = 120
"""Characters of a text that are shown."""

COVERAGES = (0.5, 0.8, 1.0)
"""Shares of the questions that are answered, those with the most support first."""

WRITTEN = 4.0
"""What a written token counts where one that is read counts 1, as providers' prices have it."""

Summaries = Sequence[Summary]


def tables_of(
    summaries: Summaries, unanswerable: Mapping[str, Sequence[Row]] | None, config: EvalConfig
) -> list[Table | None]:
    """Return a benchmark's tables; ``unanswerable`` is None where its own questions are these."""
    return [
        score_table(summaries, config.seed),
        None if unanswerable is None else trust_table(summaries, unanswerable),
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


def score_table(summaries: Summaries, seed: int) -> Table:
    """Scores by system, with 95 % confidence intervals, and the distance from the reference."""
    reference = next(one.system for one in summaries if one.reference)
    metrics = _keys(one.scores for one in summaries)
    together = _keys(one.together for one in summaries)
    rows = [
        [
            one.system,
            str(len(one.rows)),
            str(sum(bool(row.outcome.error) for row in one.rows)),
            *(interval(one.scores[name]) if name in one.scores else "" for name in metrics),
            *(percent(one.together.get(name)) for name in together),
            *_ahead(one.ahead),
        ]
        for one in summaries
    ]
    header = ["system", "questions", "failed", *metrics, *together, f"ahead of {reference}", "p"]
    note = (
        "In per cent, with 95 % bootstrap intervals. A failed run scores zero. The distance is in "
        f"{metrics[0]}, on the questions that both systems have; p is that of a paired permutation "
        f"test. What chance decides follows from seed {seed}."
    )
    return Table("Scores", header, rows, note)


def trust_table(summaries: Summaries, unanswerable: Mapping[str, Sequence[Row]]) -> Table | None:
    """What systems say of answers that the documents do not support."""
    rows = []
    for one in summaries:
        if all(row.outcome.supported is None for row in one.rows):
            continue
        beside = unanswerable.get(one.system, ())
        right = [row for row in one.rows if row.right]
        every = [*one.rows, *beside]
        support = [row.measures.get("support", float(bool(row.outcome.supported))) for row in every]
        good = [row.right for row in one.rows] + [False] * len(beside)
        cells = [str(len(one.rows)), str(len(beside))]
        cells += [mean_percent([row.outcome.doubted for row in some]) for some in (beside, right)]
        cells += [percent(auroc(support, good))]
        cells += [percent(risk_at(support, good, coverage)) for coverage in COVERAGES]
        rows.append([one.system, *cells])
    shares = [f"wrong of the surest {coverage:.0%}" for coverage in COVERAGES]
    header = ["system", "questions", "unanswerable", "told", "right ones lost", "AUROC", *shares]
    note = (
        "In per cent. Told: unanswerable questions to which the run says that it does not know, or "
        "gives an answer and says that nothing supports it. Lost: right answers of which it says "
        "so. AUROC: the chance that a right answer has more support than a wrong one. The surest: "
        "the answers with the most support, to unanswerable questions too, where all are wrong."
    )
    return Table("Trust", header, rows, note) if rows else None


def cost_table(summaries: Summaries, config: EvalConfig) -> Table:
    """Calls, tokens by role, seconds, hops, triples and money."""
    roles = _keys(
        [role for role in row.outcome.usage if row.outcome.tokens_of(role)]
        for one in summaries
        for row in one.rows
    )
    header = ["system", "calls", "tokens", "written", "weighted"]
    header += [f"{role} tokens" for role in roles]
    header += ["seconds", "rounds", "hops", "triples"] + (["money"] if config.prices else [])
    rows = []
    for one in summaries:
        outcomes = [row.outcome for row in one.rows]
        cells = [
            one.system,
            f"{fmean(run.calls for run in outcomes):.1f}",
            f"{fmean(run.tokens for run in outcomes):.0f}",
            f"{fmean(run.tokens_written for run in outcomes):.0f}",
            f"{fmean(run.tokens_of(weight=WRITTEN) for run in outcomes):.0f}",
            *(f"{fmean(run.tokens_of(role) for run in outcomes):.0f}" for role in roles),
            f"{median(run.seconds for run in outcomes):.2f}",
            f"{fmean(run.rounds for run in outcomes):.1f}",
            f"{fmean(len(run.hops) for run in outcomes):.2f}",
            f"{fmean(run.triples for run in outcomes):.1f}",
        ]
        if config.prices:
            paid = sum(money(run, one.config.models, config.prices) for run in outcomes)
            cells.append(f"{paid:.4f}")
        rows.append(cells)
    note = (
        "Means for one question. Tokens are read and written, thoughts included; weighted, written "
        f"ones count {WRITTEN:g} times. Seconds are the median, money is for all questions. Rounds "
        "are steps that wait for a model, one after the other. Every system is charged as if it "
        "had been asked alone, also for plans and triples that another system had asked for. A "
        "baseline's steps count as planner, its answer as answerer."
    )
    return Table("Cost", header, rows, note)


def step_table(summaries: Summaries) -> Table | None:
    """Retrieval and planning against the gold support."""
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
    return _measured("Steps", names, summaries, note)


def clue_table(summaries: Summaries) -> Table | None:
    """How far T²RAG's clues came, and what answers of resolved and unresolved runs are worth."""
    rows = []
    for one in summaries:
        if one.measure("resolved") is None:
            continue
        scores = [
            [row.score for row in one.rows if row.measures.get("resolved") == resolved]
            for resolved in (1.0, 0.0)
        ]
        cells = [one.system, percent(one.measure("resolved"))]
        cells += map(mean_percent, scores)
        cells += [percent(one.measure(name)) for name in ("clues_right", "slots_right")]
        rows.append([*cells, f"{one.measure('passages'):.1f}"])
    header = ["system", "resolved", "resolved right", "others right", "clues right", "slots right"]
    note = (
        "In per cent. Resolved: runs whose clues were all resolved; right: the main score of these "
        "and of the others. Clues right: resolved clues that a gold fact states; slots right: "
        "values that one names. Passages: different ones that a run found (the effective top k)."
    )
    return Table("Clues", [*header, "passages"], rows, note) if rows else None


def fact_table(summaries: Summaries) -> Table | None:
    """Facts and answers among those that were found in a knowledge graph, and in chains."""
    names = {
        f"{kind}{at}": f"{kind.replace('_', ' ')}{at}"
        for kind in ("fact_recall", "fact_precision", "answer_recall")
        for at in ("", *(f"@{cut}" for cut in CUTS))
    }
    names["answer_precision"] = "answer precision"
    names |= {"chain_coverage": "in chains", "outside": "outside"}
    note = (
        "In per cent, of all facts found and of the best. Recall is of the gold facts, precision "
        "the share of the facts that are gold; answer recall is of the gold answers, some fact "
        "having them at an end, and answer precision the share of facts that do. In chains: gold "
        "facts that stand in evidence chains. Outside: answers given that no fact found has."
    )
    return _measured("Facts", names, summaries, note)


def stop_table(summaries: Summaries) -> Table:
    """How often which stop reason ended the search."""
    counts = [
        (one.system, Counter(row.outcome.stop_reason for row in one.rows if not row.outcome.error))
        for one in summaries
    ]
    reasons = sorted({reason for _, count in counts for reason in count if reason})
    rows = [[name, *(str(count[reason]) for reason in reasons)] for name, count in counts]
    return Table("Stop reasons", ["system", *reasons], rows)


def error_table(summaries: Summaries) -> Table:
    """Error classes by system."""
    kinds = _error_kinds(summaries)
    rows = [
        [one.system, str(one.errors.total()), *(str(one.errors[kind]) for kind in kinds)]
        for one in summaries
    ]
    note = " ".join(f"{name}: {ABOUT[kind]}" for kind, name in kinds.items())
    return Table("Why answers are wrong", ["system", "wrong", *kinds.values()], rows, note)


def kind_table(summaries: Summaries) -> Table | None:
    """Main score by type of question, if there are several types."""
    kinds = list(dict.fromkeys(row.kind for one in summaries for row in one.rows if row.kind))
    if len(kinds) < 2:
        return None
    rows = []
    for one in summaries:
        found = [[row.score for row in one.rows if row.kind == kind] for kind in kinds]
        cells = [f"{percent(fmean(scores))} ({len(scores)})" if scores else "" for scores in found]
        rows.append([one.system, *cells])
    return Table("By type of question", ["system", *kinds], rows, "In per cent (questions).")


def share_table(summaries: Summaries) -> Table | None:
    """The main score by share of the triples, over all shuffles (figure 4)."""
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for one in summaries:
        if one.config.system.kind == "ras_share":
            scores[float(one.config.options["share"])].append(one.main.mean)
    if len(scores) < 2:
        return None
    shares = sorted(scores)
    header = ["share of the triples, %", *(f"{100 * share:g}" for share in shares)]
    metric = next(iter(summaries[0].scores))
    cells = [f"{metric}, %", *(percent(fmean(scores[share])) for share in shares)]
    return Table("By share of the triples", header, [cells])


def example_table(summaries: Summaries) -> Table | None:
    """The first wrong answers of each class, with their runs."""
    rows = []
    for one in summaries:
        for kind, name in _error_kinds([one]).items():
            for row in [row for row in one.rows if row.error_class == kind][:EXAMPLES]:
                told = (row.question, " / ".join(row.answers[:2]), row.outcome.answer, row.why)
                rows.append([one.system, name, *map(_short, told), row.run])
    header = ["system", "class", "question", "gold", "answer", "why", "run"]
    note = "Every step of a run: ras-flow runs show RUN --database FOLDER, with this folder."
    return Table("Some wrong answers", header, rows, note, text=True) if rows else None


def _measured(
    title: str, names: Mapping[str, str], summaries: Summaries, note: str
) -> Table | None:
    """Tabulate measures of systems, by name and heading."""
    rows = []
    for one in summaries:
        found = [one.measure(name) for name in names]
        if any(value is not None for value in found):
            rows.append([one.system, *map(percent, found)])
    return Table(title, ["system", *names.values()], rows, note) if rows else None


def _error_kinds(summaries: Summaries) -> dict[str, str]:
    """Return the error classes that there are, with their names in words."""
    there = set[str]().union(*(one.errors for one in summaries))
    return {kind: kind.replace("_", " ") for kind in ABOUT if kind in there}


def _ahead(gap: Difference | None) -> list[str]:
    return [interval(gap, signed=True), p_value(gap.p)] if gap else ["", ""]


def _keys(some: Iterable[Iterable[str]]) -> list[str]:
    """Return all names, each once, in the order in which they come."""
    return list(dict.fromkeys(name for names in some for name in names))


def _short(text: str) -> str:
    line = plain(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
