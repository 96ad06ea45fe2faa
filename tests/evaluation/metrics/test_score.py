from __future__ import annotations

from typing import Any

import pytest

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.evaluation.benchmarks import FORMS
from ras_flow.evaluation.metrics import CORPUS_METRICS, METRICS, score
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
    assert score(metric, right, question) == 1.0
    assert score(metric, wrong, question) == 0.0
    assert score(metric, "", question) == 0.0


def test_every_benchmark_names_metrics_and_a_task_that_there_are() -> None:
    for form in FORMS.values():
        assert form.metrics and set(form.metrics) <= set(METRICS)
        assert set(form.corpus_metrics) <= set(CORPUS_METRICS)
        assert form.task in TASKS


@pytest.mark.parametrize(
    ("metric", "question", "message"),
    [
        ("option_accuracy", PLAIN, "'1' has no options"),
        ("verdict_accuracy", PLAIN, "'1' is neither true nor false"),
        ("str_em", PLAIN, "'1' has no groups"),
        ("f1", Question("5", "?", ()), "'5' has no gold answer"),
    ],
)
def test_a_question_that_cannot_be_judged_so(metric: str, question: Question, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score(metric, "x", question)


def test_an_unknown_metric_is_told_what_there_is() -> None:
    with pytest.raises(ConfigurationError, match="'bleu'.*hotpotqa_f1.*together: mauve"):
        score("bleu", "x", PLAIN)


@pytest.mark.parametrize("wrong", [{"answers": "Vistula"}, {"answers": (), "answer_sets": ("x",)}])
def test_answers_are_never_one_text(wrong: dict[str, Any]) -> None:
    # A text in place of a list would be compared letter by letter.
    with pytest.raises(InputError, match="tuple of texts"):
        Question("1", "Which river?", **wrong)
