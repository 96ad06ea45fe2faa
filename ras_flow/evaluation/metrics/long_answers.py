"""Measures of long answers: ROUGE-Lsum, str-em and MAUVE, after ALCE's script (appendix E.2)."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.evaluation.metrics.short_answers import contains
from ras_flow.evaluation.question import Question
from ras_flow.formats.sentences import english_spans
from ras_flow.support.extras import require

MAUVE_MODEL = "gpt2-large"
"""The model whose hidden states are MAUVE's features."""

MAUVE_WORDS = 100
"""Words of question and answer together that MAUVE compares."""


def rouge_lsum(prediction: str, answers: Iterable[str]) -> float:
    """Return the best ROUGE-Lsum F-measure with a gold answer, with stemming."""
    scorer, said = _scorer(), _by_sentence(prediction)
    return max(
        (
            float(scorer.score(_by_sentence(answer), said)["rougeLsum"].fmeasure)
            for answer in answers
        ),
        default=0.0,
    )


def str_em(prediction: str, question: Question) -> float:
    """Return the share of the groups of short answers of which the prediction has one (ASQA)."""
    groups = question.answer_sets
    return sum(any(contains(prediction, one) for one in group) for group in groups) / len(groups)


def check_mauve(questions: int) -> None:
    """Refuse beforehand what :func:`mauve` could not judge in the end."""
    if questions < 2:
        raise InputError(f"MAUVE compares the answers of at least 2 questions, not of {questions}.")
    require("mauve", extra="mauve")


def mauve(predictions: Sequence[str], questions: Sequence[Question]) -> float:
    """Return MAUVE: how alike the answers and the gold answers are distributed.

    As in ALCE, a text is a question with its answer, cut after :data:`MAUVE_WORDS` words. The
    model :data:`MAUVE_MODEL` is fetched from a model hub. With fewer than a few hundred texts the
    score says little.
    """
    library = require("mauve", extra="mauve")
    gold = [_beginning(question, question.answers[0]) for question in questions]
    said = [_beginning(*pair) for pair in zip(questions, predictions, strict=True)]
    try:
        found = library.compute_mauve(
            p_text=gold,
            q_text=said,
            featurize_model_name=MAUVE_MODEL,
            device_id=-1,
            max_text_length=512,
            batch_size=8,
            verbose=False,
        )
    except OSError as error:
        raise ConfigurationError(
            f"The features of MAUVE cannot be made: {MAUVE_MODEL!r} could not be loaded ({error}). "
            "Leave corpus_metrics out, or try again where the model hub can be reached."
        ) from error
    return float(found.mauve)


@cache
def _scorer() -> Any:
    scorer = require("rouge_score.rouge_scorer", extra="eval").RougeScorer
    return scorer(["rougeLsum"], use_stemmer=True)


def _by_sentence(text: str) -> str:
    """Write a text with one sentence a line, which is how ROUGE-Lsum is told of sentences.

    Letters are lowered before, as in ALCE's script, though it hides the end of a sentence after a
    number.
    """
    text = text.lower()
    return "\n".join(text[start:end] for start, end in english_spans(text))


def _beginning(question: Question, answer: str) -> str:
    words = f"{question.question} {answer.strip()}".split()[:MAUVE_WORDS]
    return " ".join(words).rstrip(string.punctuation)
