from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nupunkt import sent_tokenize

from ras_flow.evaluation.metrics.long_answers import rouge_lsum
from ras_flow.formats.sentences import Span, english_spans, sentence_spans
from ras_flow.state.evidence import find_evidence
from ras_flow.state.schema import Triple, make_passage
from recipes.graph_llm.sentences import split_sentences

WORDS = ["Dr.", "J.", "Lund", "was", "born", "in", "1961.", "Narvik!", "(yes?)", "“No.”", "一。二"]
TEXTS = st.lists(st.sampled_from([*WORDS, "!" * 2_500]) | st.text(max_size=6), max_size=30)
SPANS = pytest.mark.parametrize("spans", [english_spans, sentence_spans])


@SPANS
@given(words=TEXTS, space=st.sampled_from([" ", "\n", "  \t"]))
def test_sentences_are_in_order_and_hold_every_character(
    spans: Callable[[str], Iterator[Span]], words: list[str], space: str
) -> None:
    text = space.join(words)
    found = list(spans(text))
    assert all(end <= start for (_, end), (start, _) in pairwise(found))
    pieces = [text[start:end] for start, end in found]
    assert all(piece and piece == piece.strip() for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_ordinary_texts_have_the_sentences_of_nupunkt(words: list[str]) -> None:
    text = " ".join(words)
    found = [text[start:end] for start, end in english_spans(text)]
    assert found == (sent_tokenize(text) if text else [])


def test_a_long_run_without_spaces_parts_the_sentences_around_it() -> None:
    run = "!" * 2_001
    text = f"Mira was born. In Narvik {run} she lives. Yes."
    found = [text[start:end] for start, end in english_spans(text)]
    assert found == ["Mira was born.", "In Narvik", run, "she lives.", "Yes."]


def _evidence(text: str) -> None:
    passage = make_passage("Mira Lund", text)
    triple = Triple(
        subject="Mira Lund", predicate="born in", object="Narvik", passages=[passage["id"]]
    )
    find_evidence({"t": triple}, {passage["id"]: passage})


@pytest.mark.parametrize(
    "read", [_evidence, split_sentences, lambda text: rouge_lsum(text, ["Narvik."])]
)
def test_a_text_of_ends_of_sentences_without_spaces_takes_no_time(
    read: Callable[[str], object],
) -> None:
    began = time.process_time()
    read("Mira was born in Narvik" + "?!" * 100_000)
    assert time.process_time() - began < 5
