from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.triples import Spo, clean_field, format_triples, parse_triples
from ras_flow.training.triples.examples import Example
from recipes.triples.cleaning import clean
from recipes.triples.spelling import date_as_written


def example(
    text: str, *triples: Spo, title: str = "", source: str = "some", id: str = "1"
) -> Example:
    return Example(id, source, title, text, triples)


def cleaned(*examples: Example) -> list[Example]:
    return clean(examples)


def test_letter_case_and_lost_letters_come_back_from_the_text() -> None:
    text = "HMS Albury was part of the Royal Navy and was built in Ohio by Shi Wenqing."
    (kept,) = cleaned(
        example(
            text,
            ("Hms albury", "art of", "Royal navy"),
            ("Hms albury", "Built in", "hio"),
            ("hi wenqing", "Shipbuilder of", "Hms albury"),
            *(("Hms albury", f"Has {word}", "Royal navy") for word in "abcdefghijklmnopqrst"),
            source="wikiofgraph",
        )
    )
    assert ("HMS Albury", "Part of".lower(), "Royal Navy") in kept.triples
    assert ("HMS Albury", "built in", "Ohio") in kept.triples
    assert ("Shi Wenqing", "shipbuilder of", "HMS Albury") in kept.triples


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("FIRST_ELECTED", "first elected"),
        ("eatType", "eat type"),
        ("LAND_(_SQMI_)", "land (sqmi)"),
        ("NBA team", "NBA team"),
    ],
)
def test_predicates_become_words(written: str, plain: str) -> None:
    (kept,) = cleaned(example("Ann Lee met Bo Ek.", ("Ann Lee", written, "Bo Ek")))
    assert kept.triples[0][1] == plain


def test_mojibake_is_mended_and_what_is_beyond_mending_left_out() -> None:
    good = example("KÃ¤the Haack met Bo.", ("KÃ¤the Haack", "met", "Bo"))
    bad = example("Ð¡ÐµÑÐ³Ðµ met Bo.", ("Bo", "met", "Bo Ek"), id="2")
    (kept,) = cleaned(good, bad)
    assert kept.triples == (("Käthe Haack", "met", "Bo"),)


def test_pronouns_become_the_title_or_go() -> None:
    text = "He was born in Oslo. Ann Lee met Bo Ek in Oslo."
    triples: list[Spo] = [
        ("he", "born in", "Oslo"),
        ("Ann Lee", "met", "him"),
        ("Ann Lee", "met", "Bo Ek"),
    ]
    (titled,) = cleaned(example(text, *triples, title="Bo Ek"))
    assert ("Bo Ek", "born in", "Oslo") in titled.triples
    assert not any(is_pronoun(part) for s, _, o in titled.triples for part in (s, o))
    (untitled,) = cleaned(example(text, ("Her", "met", "Bo Ek"), ("Bo Ek", "met", "Ann Lee")))
    assert [s for s, _, _ in untitled.triples] == ["Bo Ek"]


def test_placeholders_and_what_the_text_does_not_state_go() -> None:
    (kept,) = cleaned(
        example(
            "Igor Bo rowed at the 1992 Summer Olympics.",
            ("[TABLECONTEXT]", "[TITLE]", "Igor Bo"),
            ("Igor Bo", "sex or gender", "male"),
            ("Igor Bo", "participant in", "1992 Summer Olympics"),
            ("Igor Bo", "Igor", "Igor Bo"),
            source="tekgen",
        )
    )
    assert kept.triples == (("Igor Bo", "participant in", "1992 Summer Olympics"),)


@pytest.mark.parametrize(
    ("date", "text", "written"),
    [
        ("01 January 1960", "a 1960 film", "1960"),
        ("15 January 1922", "born January 15, 1922 in", "January 15, 1922"),
        ("07 September 1929", "on 7 September 1929.", "7 September 1929"),
        ("07 September 1929", "in September 1929.", "September 1929"),
        ("01 January 1960", "a 1961 film", "01 January 1960"),
    ],
)
def test_dates_as_their_text_has_them(date: str, text: str, written: str) -> None:
    assert date_as_written(date, text) == written


def test_partial_labels_are_told_from_complete_ones() -> None:
    text = "Ann Lee, Bo Ek, Cy Ox, Di Ur and Ed Yo met in Oslo."
    people = ("Ann Lee", "Bo Ek", "Cy Ox", "Di Ur", "Ed Yo")
    whole = [(person, "met in", "Oslo") for person in people]
    complete, partial = (cleaned(example(text, *triples))[0] for triples in (whole, whole[:3]))
    assert complete.complete and not partial.complete
    assert not cleaned(example(text, *whole[:1]))


def test_triples_come_in_the_order_of_the_text_and_once() -> None:
    (kept,) = cleaned(
        example(
            "Ann met Bo, then Cy, then Di.",
            ("Ann", "met", "Di"),
            ("Ann", "met", "Bo"),
            ("ann", "met", "BO"),
            ("Ann", "met", "Cy"),
        )
    )
    assert [object for _, _, object in kept.triples] == ["Bo", "Cy", "Di"]


def test_rows_of_one_text_become_one_example() -> None:
    text = "Ann Lee met Bo Ek in Oslo."
    (kept,) = cleaned(
        example(text, ("Ann Lee", "met", "Bo Ek")),
        example(text, ("Ann Lee", "was in", "Oslo"), id="2"),
    )
    assert len(kept.triples) == 2


NAME = st.text("abcdeXYZ äß1 .,'()|>-", max_size=14)
ENTITY = st.sampled_from(["Oslo", "the Oslo", "OSLO", "Bo Ek", "She", "it"]) | NAME
RELATION = st.sampled_from(["met", "bornIn", "HAS_PART", "of,_", "P_> of"]) | NAME
REST = st.text("abcdeXYZ äß1 .,'()|>-\n", max_size=40)


@given(
    st.lists(st.tuples(ENTITY, RELATION, ENTITY), min_size=1, max_size=6),
    st.sampled_from(["", "She", "Bo Ek"]) | NAME,
    REST,
)
def test_whatever_comes_in_what_comes_out_can_be_learnt(
    triples: list[Spo], title: str, rest: str
) -> None:
    text = f"{'. '.join(map(' '.join, triples))}. {rest}"
    for kept in cleaned(example(text, *triples, title=title)):
        assert kept.triples
        assert parse_triples(format_triples(kept.triples)).triples == list(kept.triples)
        for subject, predicate, object in kept.triples:
            assert normalize_name(subject) != normalize_name(object)
            assert not is_pronoun(subject) and not is_pronoun(object)
            assert clean_field(predicate) == predicate
