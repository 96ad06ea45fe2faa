from __future__ import annotations

import pytest

from ras_flow.evaluation.benchmarks import FORMS
from ras_flow.evaluation.metrics import CORPUS_METRICS, METRICS
from ras_flow.evaluation.question import Question
from ras_flow.settings.tasks import TASKS

PLAIN = Question("1", "Which river?", ("Vistula", "Wisła"))
CHOICE = Question("2", "Which?", ("A", "iron"), options={"A": "iron", "B": "salt"})
VERDICT = Question("3", "Could he?", ("no",))
LONG = Question("4", "When?", ("In 1898.",), answer_sets=(("1898",), ("1974",)))


@pytest.mark.parametrize(
    ("metric", "question", "right", "wrong"),
    [
        ("match", PLAIN, "the river Wisła", "the Oder"),
        ("exact_match", PLAIN, "the Vistula", "the river Vistula"),
        ("f1", PLAIN, "Vistula", "Oder"),
        ("hotpotqa_f1", PLAIN, "Vistula", "Oder"),
        ("option_accuracy", CHOICE, "(A)", "(B)"),
        ("verdict_accuracy", VERDICT, "False.", "true"),
        ("rouge_lsum", LONG, "In 1898.", "Never"),
        ("str_em", LONG, "1898, 1974", "later"),
    ],
)
def test_every_metric_judges_an_answer(
    metric: str, question: Question, right: str, wrong: str
) -> None:
    score = METRICS[metric]
    assert [score(said, question) for said in (right, wrong, "")] == [1.0, 0.0, 0.0]


def test_every_benchmark_names_metrics_and_a_task_that_there_are() -> None:
    for form in FORMS.values():
        assert form.metrics and set(form.metrics) <= set(METRICS)
        assert set(form.corpus_metrics) <= set(CORPUS_METRICS)
        assert form.task in TASKS
