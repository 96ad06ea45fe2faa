"""From a run's state to a row: the scores of its answer, the measures of its steps, its error."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from ras_flow.evaluation.assembly import Cell, Read
from ras_flow.evaluation.clues import ClueEvidence, read_clues
from ras_flow.evaluation.error_classes import Evidence, classify
from ras_flow.evaluation.metrics import CORPUS_METRICS, METRICS
from ras_flow.evaluation.metrics.facts import chain_coverage, fact_measures, outside
from ras_flow.evaluation.metrics.steps import label_accuracy, recall_by_hop, subquery_f1
from ras_flow.evaluation.outcome import Outcome
from ras_flow.evaluation.question import TOLD, Question
from ras_flow.evaluation.rows import WRONG_BELOW, Row
from ras_flow.settings.context import NO_EXTRACTOR
from ras_flow.state.kg import spo_of
from ras_flow.state.support import judge as judge_support
from ras_flow.t2rag.settings import T2Context

JUDGING = 11
"""Raised with each change to what an answer or its steps are worth: older rows are judged again."""


def judge(
    cell: Cell,
    question: Question,
    outcome: Outcome,
    state: Mapping[str, Any],
    saved_tokens: Mapping[str, list[int]],
    read: Read,
) -> Row:
    """Judge what a system made of a question."""
    if question.answerable:
        scores = {
            metric: 0.0 if outcome.error else METRICS[metric](outcome.said, question)
            for metric in cell.benchmark.metrics
        }
    else:
        scores = {TOLD: float(outcome.doubted)}
    wrong = next(iter(scores.values())) < WRONG_BELOW
    clues = None
    if isinstance(cell.context, T2Context) and "rounds" in state:
        clues = read_clues(state, cell.context, question)
    finding = classify(question, _evidence(cell, outcome, state, read, clues)) if wrong else None
    return Row(
        benchmark=cell.benchmark.name,
        system=cell.system.name,
        id=question.id,
        question=question.question,
        answers=question.answers,
        kind=question.kind,
        run=cell.run_id(question),
        outcome=outcome,
        scores=scores,
        measures={
            **_measures(cell, question, state),
            **_facts(question, outcome, state, read),
            **(clues.measures if clues else {}),
        },
        error_class=finding.kind if finding else "",
        why=finding.why if finding else "",
        saved_tokens=saved_tokens,
        judging=JUDGING,
        gold=gold_of(cell, question),
        given=cell.given_checksum(question),
    )


def gold_of(cell: Cell, question: Question) -> str:
    """Return a checksum of what a question's answers and steps are judged by."""
    gold = [
        [question.answers, question.answer_sets, question.options, question.kind],
        question.answerable,
        [asdict(support) for support in question.support],
        cell.benchmark.metrics,
    ]
    return sha256(json.dumps(gold).encode()).hexdigest()[:12]


def judge_together(cell: Cell, rows: Sequence[Row]) -> dict[str, float]:
    """Judge all answers of a system to a benchmark together."""
    answers = {row.id: row.outcome.said for row in rows}
    questions = cell.benchmark.questions
    if any(question.id not in answers for question in questions):
        return {}
    said = [answers[question.id] for question in questions]
    return {name: CORPUS_METRICS[name](said, questions) for name in cell.benchmark.corpus_metrics}


def _measures(cell: Cell, question: Question, state: Mapping[str, Any]) -> dict[str, float]:
    """Measure retrieval and planning against the gold support, where it is known."""
    measures: dict[str, float] = {}
    passages, hops = state.get("passages", {}), state.get("hops", [])
    searches = cell.system.system.searches and "hops" in state
    found = [[passages[id] for id in hop["passages"] if id in passages] for hop in hops]
    # One that could have searched and did not has found nothing.
    recall = recall_by_hop(question.support, found or [[]]) if searches else None
    if recall:
        measures["recall"] = recall[-1].recall
        measures["all_support"] = float(recall[-1].all_support)
        measures["recall_first_hop"] = recall[0].recall
        named = {id for one in state.get("citations", ()) for id in one["passages"]}
        cited = recall_by_hop(question.support, [[passages[id] for id in named & passages.keys()]])
        measures["gold_cited"] = cited[0].recall if cited else 0.0
    if "supported" in state:
        asked = state.get("answer", ""), question.question
        measures["support"] = judge_support(*asked, state.get("triples", {}), passages).score
    if cell.system.system.plans and hops:
        last = {plan["hop"]: plan["label"] for plan in state.get("plans", []) if plan["hop"]}
        labels = [last[hop] for hop in sorted(last)]
        right = label_accuracy(labels, [one.all_support for one in recall]) if recall else None
        alike = subquery_f1([hop["subquery"] for hop in hops], question.support)
        if right is not None:
            measures["label_accuracy"] = right
        if alike is not None:
            measures["subquery_f1"] = alike
    return measures


def _facts(
    question: Question, outcome: Outcome, state: Mapping[str, Any], read: Read
) -> dict[str, float]:
    """Measure the facts of a knowledge graph that a run found."""
    scores: dict[str, float] = {}
    for hop in state.get("hops", []):
        scores |= hop.get("triple_scores", {})
    if not scores or not question.answerable:
        return {}
    triples = {id: one for id, one in state.get("triples", {}).items() if id in scores}
    found = [spo_of(triples[id]) for id in sorted(triples, key=lambda id: -scores[id])]
    gold = [fact for support in question.support for fact in support.facts]
    measures = fact_measures(found, gold, question.answer_sets or (question.answers,))
    if gold and read.chained is not None:
        measures["chain_coverage"] = chain_coverage(read.chained, gold)
    return measures | {"outside": outside(outcome.answers, found)}


def _evidence(
    cell: Cell,
    outcome: Outcome,
    state: Mapping[str, Any],
    read: Read,
    clues: ClueEvidence | None,
) -> Evidence:
    system = cell.system.system
    reads_text = system.baseline or cell.context.extractor == NO_EXTRACTOR
    passages, triples = state.get("passages", {}), state.get("triples", {})
    return Evidence(
        searches=[hop.subquery for hop in outcome.hops],
        passages=list(passages.values()),
        triples=None if reads_text and not triples else triples,
        read=read.triples,
        texts=read.texts,
        stop_reason=outcome.stop_reason,
        cut_short=system.meaning(outcome.stop_reason).cut_short,
        plans=system.plans and "plans" in state,
        may_search=system.searches,
        error=outcome.error,
        clues=clues,
    )
