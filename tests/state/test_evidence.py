"""Which sentence of a passage states a triple."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.state.evidence import find_evidence


def evidence(text: str, *parts: str, title: str = "") -> str | None:
    subject, predicate, object = parts
    triple: Any = {"subject": subject, "predicate": predicate, "object": object, "passages": ["p"]}
    passages: Any = {"p": {"id": "p", "title": title, "text": text}}
    found = find_evidence({"t": triple}, passages)
    if not found:
        return None
    start, end = found["t"]["p"]
    return text[start:end]


LUND = "Mira Lund was an engineer.  She was born in Narvik.\n\nNarvik lies in Norway."


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("Mira Lund", "occupation", "engineer"), "Mira Lund was an engineer."),
        (("Mira Lund", "born in", "Narvik"), "She was born in Narvik."),
        (("narvik", "country", "NORWAY"), "Narvik lies in Norway."),
        (("Leo Fahr", "designer", "Harbour"), None),
    ],
)
def test_the_sentence_that_says_it_is_found(parts: Any, sentence: str | None) -> None:
    assert evidence(LUND, *parts, title="Mira Lund") == sentence


def test_sentences_of_other_scripts_are_told_apart() -> None:
    text = "东京是日本的首都。大阪是一座城市。"
    assert evidence(text, "大阪", "是", "城市") == "大阪是一座城市。"
    assert evidence("서울은 수도이다. 부산은 항구이다.", "부산", "x", "y") == "부산은 항구이다."
    assert evidence("तोक्यो राजधानी है। ओसाका शहर है।", "ओसाका", "है", "शहर") == "ओसाका शहर है।"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=20))
def test_a_span_is_within_the_text_and_not_blank(text: str, subject: str, title: str) -> None:
    found = evidence(text, subject, subject, subject, title=title)
    assert found is None or (found and found == found.strip())


def test_passages_that_are_not_there_are_left_out() -> None:
    triple: Any = {"subject": "a", "predicate": "b", "object": "c", "passages": ["gone"]}
    assert find_evidence({"t": triple}, {}) == {}
