from __future__ import annotations

import time
from itertools import pairwise
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow.documents.split import split_document, split_text

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from(list(" \n\t.!?。।\"'”)]ab文字éA1…\u2028\x85"))
    ),
    max_size=400,
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, st.integers(1, 40))
@example("∯ ȸ ☄ &ᓰ& ♬. Next one.", 100)
@example("\t\u200b\x85)。(\u3000A)?𝒳’\rA\x85.", 100)
def test_every_character_is_kept_and_no_passage_is_empty(text: str, max_words: int) -> None:
    passages = split_text(text, max_words)
    assert squeezed("".join(passages)) == squeezed(text)
    assert all(passage.strip() == passage != "" for passage in passages)


WORDS = st.lists(
    st.sampled_from(["word", "Word", "end.", "Dr.", "A", "?"]), min_size=40, max_size=300
).map(" ".join)


@given(WORDS)
def test_passages_have_at_most_a_quarter_more_words_than_asked_for(text: str) -> None:
    assert all(len(passage.split()) <= 25 for passage in split_text(text, 20))


@given(WORDS)
def test_no_two_neighbours_would_fit_into_one_passage(text: str) -> None:
    for one, next in pairwise(split_text(text, 20)):
        assert len(one.split()) + len(next.split()) > 20


@given(TEXTS | WORDS, st.integers(1, 20))
def test_splitting_a_passage_again_changes_nothing(text: str, max_words: int) -> None:
    # The last one may be too long, by the short rest that joined it.
    for passage in split_text(text, max_words)[:-1]:
        assert split_text(passage, max_words) == [passage]


def test_passages_end_at_sentence_ends() -> None:
    text = " ".join(f"Sentence number {n} has exactly eight words here." for n in range(40))
    passages = split_text(text, 100)
    assert [len(passage.split()) for passage in passages] == [96, 96, 96, 32]
    assert all(passage.endswith("here.") for passage in passages)


def test_abbreviations_and_initials_do_not_end_sentences() -> None:
    text = "Dr. Smith met Mr. J. R. Jones in Washington. It was cold."
    assert split_text(text, 9) == ["Dr. Smith met Mr. J. R. Jones in Washington.", "It was cold."]


@pytest.mark.parametrize(
    "text, sentences",
    [
        (
            "これは最初の文です。次の文はもっと短い。",
            ["これは最初の文です。", "次の文はもっと短い。"],
        ),
        ("यह पहला वाक्य है। यह दूसरा है।", ["यह पहला वाक्य है।", "यह दूसरा है।"]),
        ("هل هذا سؤال؟ هذا هو جواب.", ["هل هذا سؤال؟", "هذا هو جواب."]),
        ("Это первое предложение. А вот второе.", ["Это первое предложение.", "А вот второе."]),
    ],
)
def test_sentences_of_other_scripts(text: str, sentences: list[str]) -> None:
    assert split_text(text, 5) == sentences


@pytest.mark.parametrize("text", ['She sang "Boys!".[1] (It won.)Then she left.', "東京。大阪へ。"])
def test_a_text_of_one_passage_stays_as_it_is(text: str) -> None:
    assert split_text(text) == [text]


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert split_text("A title\n\nOne line\nand its rest", 5) == [
        "A title",
        "One line and its rest",
    ]


def test_a_sentence_of_5000_words_is_cut_between_words() -> None:
    passages = split_text("word " * 5000, 100)
    assert {passage for passage in passages} == {"word " * 99 + "word"}
    assert len(passages) == 50


def test_a_text_without_spaces_is_cut_between_characters() -> None:
    passages = split_text("x" * 1000, 100)
    assert [len(passage) for passage in passages] == [200] * 5


def test_japanese_passages_are_about_as_long_as_english_ones() -> None:
    passages = split_text("これは二十文字くらいの短い文であります。" * 100, 100)
    assert all(len(squeezed(passage)) <= 250 for passage in passages)
    assert len(passages) <= ceil(2000 / 180)


def test_a_short_rest_joins_the_passage_before_it() -> None:
    text = ("Nine short words make up this one single sentence. " * 2) + "The end."
    assert len(split_text(text, 18)) == 1


def test_a_megabyte_without_a_single_full_stop_takes_no_time() -> None:
    start = time.process_time()
    split_text("word (" * 200_000)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("text", ["!", '!"', "(x).", "?"])
def test_a_text_of_ends_of_sentences_without_spaces_takes_no_time(text: str) -> None:
    start = time.process_time()
    whole = f"Before it. {text * 300_000} After it. The end."
    passages = split_text(whole)
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    assert squeezed("".join(passages)) == squeezed(whole)


def test_passages_carry_title_and_source_and_repeated_ones_appear_once() -> None:
    passages = split_document("T", "Same words. \n\n" * 3, "file.txt", max_words=2)
    assert [(p["title"], p["text"], p.get("source")) for p in passages] == [
        ("T", "Same words.", "file.txt")
    ]


def test_a_page_that_is_one_long_heading_is_not_in_each_of_its_passages() -> None:
    page = " ".join(f"Sentence {number} is about something else." for number in range(3_000))
    passages = split_document(page, page)
    assert len(passages) > 100
    assert {passage["title"] for passage in passages} == {f"{page[:300].rstrip()}…"}
    assert {passage["title"] for passage in split_document("t" * 300, page)} == {"t" * 300}
