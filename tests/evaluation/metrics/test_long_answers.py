from __future__ import annotations

import sys
from typing import Any

import mauve as mauve_library
import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from ras_flow.errors import MissingExtraError
from ras_flow.evaluation.metrics.long_answers import mauve, rouge_lsum, str_em
from ras_flow.evaluation.question import Question

GOLD = "Halden has two bridges. The old one was opened by Moe. The new one replaced it in May."


def test_rouge_lsum_of_the_same_text_is_one_and_of_another_zero() -> None:
    assert rouge_lsum(GOLD, [GOLD]) == 1.0
    assert rouge_lsum("Yeast feeds upon sugar", [GOLD]) == 0.0
    assert rouge_lsum("", [GOLD]) == rouge_lsum(" \n", [GOLD]) == 0.0


def test_rouge_lsum_is_taken_sentence_by_sentence_with_stemming() -> None:
    # Swapped sentences lose nothing, where the longest common subsequence of the whole would.
    swapped = (
        "The new one replaced it in May. The old one was opened by Moe. Halden has two bridge."
    )
    scorer = RougeScorer(["rougeLsum"], use_stemmer=True)
    lines = ["\n".join(part.split(". ")) for part in (GOLD.lower(), swapped.lower())]
    assert rouge_lsum(swapped, [GOLD]) == scorer.score(*lines)["rougeLsum"].fmeasure
    whole = RougeScorer(["rougeL"], use_stemmer=True).score(GOLD, swapped)["rougeL"].fmeasure
    assert rouge_lsum(swapped, [GOLD]) > whole


def test_rouge_takes_the_best_of_two_annotators() -> None:
    assert rouge_lsum(GOLD, ["Something else.", GOLD]) == 1.0


def test_str_em_is_the_share_of_the_readings_that_are_answered() -> None:
    readings = (("1898", "the year 1898"), ("1974",), ("never",), ("The The",))
    question = Question("1", "When?", ("In 1898.",), answer_sets=readings)
    assert str_em("Opened in 1898 and in 1974.", question) == 2 / 4
    assert str_em("", question) == 0.0


def questions(number: int) -> list[Question]:
    return [Question(str(i), f"What of {i}?", (f"gold {i}",)) for i in range(number)]


def features(text: str) -> Any:
    """Features that depend on the text alone: those with "elsewhere" are far from the others."""
    centre = 40 if "elsewhere" in text else 0
    return np.random.default_rng(sum(text.encode())).normal(centre, 1, 4)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The texts that MAUVE compares, which get their features without a model."""
    texts: list[list[str]] = []
    compute = mauve_library.compute_mauve

    def compute_mauve(p_text: list[str], q_text: list[str], **more: Any) -> Any:
        texts.extend([p_text, q_text])
        gold, said = (np.array(list(map(features, some))) for some in (p_text, q_text))
        return compute(p_features=gold, q_features=said, **more)

    monkeypatch.setattr(mauve_library, "compute_mauve", compute_mauve)
    return texts


@pytest.mark.usefixtures("seen")
def test_mauve_is_near_one_for_alike_texts_and_near_zero_for_others() -> None:
    asked = questions(60)
    assert mauve([f"gold {i}" for i in range(60)], asked) > 0.9
    assert mauve(["elsewhere"] * 60, asked) < 0.1


def test_mauve_compares_question_and_answer_cut_to_a_hundred_words(seen: list[list[str]]) -> None:
    mauve([" said " * 200 + "!", "yes."] * 20, questions(40))
    gold, said = seen
    assert gold[1] == "What of 1? gold 1" and said[1] == "What of 1? yes"
    assert len(said[0].split()) == 100


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mauve", None)
    with pytest.raises(MissingExtraError, match=r"ras-flow\[mauve\]"):
        mauve(["one", "two"], questions(2))
