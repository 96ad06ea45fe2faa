"""Measures of answers by name, and of the steps that led to them.

Answers are judged by :data:`METRICS`, one by one, and by :data:`CORPUS_METRICS`, all together. What
was retrieved and planned on the way is measured by :mod:`~ras_flow.evaluation.metrics.steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ras_flow.evaluation.metrics import answer_sets, closed_set, long_answers, short_answers
from ras_flow.evaluation.question import Question

Metric = Callable[[str, Question], float]
"""Judges one answer: a score in [0, 1], 0 for an empty answer to a question that has one."""

CorpusMetric = Callable[[Sequence[str], Sequence[Question]], float]
"""Judges all answers together: a score in [0, 1]."""

METRICS: dict[str, Metric] = {
    "match": lambda said, question: short_answers.match(said, question.answers),
    "exact_match": lambda said, question: short_answers.exact_match(said, question.answers),
    "f1": lambda said, question: short_answers.f1(said, question.answers),
    "hotpotqa_f1": lambda said, question: short_answers.hotpotqa_f1(said, question.answers),
    "option_accuracy": closed_set.option_accuracy,
    "verdict_accuracy": closed_set.verdict_accuracy,
    "rouge_lsum": lambda said, question: long_answers.rouge_lsum(said, question.answers),
    "str_em": long_answers.str_em,
    "set_f1": answer_sets.set_f1,
    "strict_f1": answer_sets.strict_f1,
    "hit": answer_sets.hit,
    "hit_at_1": answer_sets.hit_at_1,
}
"""Metrics of single answers."""

CORPUS_METRICS: dict[str, CorpusMetric] = {
    "mauve": long_answers.mauve,
    "micro_f1": answer_sets.micro_f1,
}
"""Metrics of all answers together."""
