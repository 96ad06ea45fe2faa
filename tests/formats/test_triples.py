from __future__ import annotations

import json

import pytest

from ras_flow.formats.triples import (
    ParsedTriples,
    clean_field,
    format_triple,
    format_triples,
    parse_triples,
)

A = ("Pick Motor Company", "location", "Stamford, Lincolnshire")


B = ("Stamford", "river", "Welland")


def test_the_form():
    assert format_triples([A, B]) == (
        "(S> Pick Motor Company| P> location| O> Stamford, Lincolnshire), "
        "(S> Stamford| P> river| O> Welland)"
    )
    assert format_triples([]) == ""
    assert parse_triples(format_triples([A, B])) == ParsedTriples([A, B], [])


SPELLINGS = [
    "(S>{}|P>{}|O>{}),",
    "( S > {} | P > {} | O > {} )",
    "(s> {}| p> {}| o> {})\n",
    "1. (S> {}| P> {}| O> {})\n",
    "- (S> {}| P> {}| O> {})\n",
    "(S> {}|\nP> {}|\nO> {}\n),\n",
    '"(S> {}| P> {}| O> {})", ',
    "(S> {} P> {} O> {}), ",
    "S> {}| P> {}| O> {}\n",
    "(S> {}| P> {}| O> {}\n",
    "（S＞{}｜P＞{}｜O＞{}），",
    "（S> {}| P> {}| O> {}）、",
    "- **S>** {} | **P>** {} | **O>** {}\n",
    "[S> {}| P> {}| O> {}], ",
    "【S> {}| P> {}| O> {}】\n",
    "{{S> {}| P> {}| O> {}}}, ",
    "({} | {} | {}), ",
    "1. ({}|{}|{})\n",
    "(S: {}| P: {}| O: {}), ",
    "<S> {} | <P> {} | <O> {}\n",
    "&lt;S&gt; {} &lt;P&gt; {} &lt;O&gt; {}\n",
    "1. **Subject:** {}\n   - **Predicate:** {}\n   - **Object:** {}\n\n",
    "Subject: {}, Relation: {}, Object: {}\n",
    '["{}", "{}", "{}"], ',
    '{{"s": "{}", "p": "{}", "o": "{}"}}\n',
    '{{"head": "{}",\n"relation": "{}",\n"tail": "{}"}},\n',
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("around", ["{}", "```\n{}\n```", "[{}]"])
def test_what_models_make_of_it(spelling: str, around: str) -> None:
    text = around.format("".join(spelling.format(*triple) for triple in (A, B)))
    assert parse_triples(text).triples == [A, B]


@pytest.mark.parametrize(
    "text",
    [
        "S> Pick Motor Company| P> location| O> Stamford, Lincolnshire, "
        "S> Stamford| P> river| O> Welland",
        "(S> Pick Motor Company| P> location| O> Stamford, Lincolnshire, "
        "(S> Stamford| P> river| O> Welland)",
        "Here are the triples (both of them):\n"
        "(S> Pick Motor\nCompany| P> location| O> Stamford,\nLincolnshire)"
        "(S> Stamford| P> river| O> Welland). I hope this helps (really)!",
        f"{format_triples([A, B])}, (S> stamford| P> River| O> the Welland)",
        str([format_triple(*A), format_triple(*B)]),
        str([format_triple(*A)[:-1], format_triple(*B)[:-1]]),
        json.dumps([A, B]),
        json.dumps({"triples": [A, B]}),
        json.dumps([{"triple": A}, {"triple": B}]),
        json.dumps({"passage 1": {"entities": ["a", "b", "c"], "triples": [A]}, "2": {"t": [B]}}),
        f'{{"triples": [{json.dumps(A)}, {json.dumps(B)},],}}',
    ],
)
def test_triples_in_texts_and_lists_are_read_alone(text: str) -> None:
    assert parse_triples(text) == ParsedTriples([A, B], [])


@pytest.mark.parametrize(
    "text",
    [
        "1999 | Oslo | 12",
        "As shown by some ([1, 2, 3]).",
        "Object: none. Subject: none.",
        "He (a painter, a poet, a priest) came in 1999.",
    ],
)
def test_other_tables_and_lists_give_no_triples(text):
    """As a weak model copies them from the passage."""
    parsed = parse_triples(text)
    assert not parsed.triples and parsed.dropped


@pytest.mark.parametrize(
    "text",
    [
        "(S> Stamford| P> river| O> Welland| T> 1999)",
        "(S> Stamford| P> river| O> Welland O> 1999)",
    ],
)
def test_surplus_is_dropped_and_the_triple_kept(text):
    parsed = parse_triples(f"{text}, {format_triple(*A)}")
    assert parsed.triples == [B, A]
    assert len(parsed.dropped) == 1
    assert "1999" in parsed.dropped[0]


@pytest.mark.parametrize(
    "triple",
    [
        ("ls | wc", "counts", "a | b || c"),
        ("P(A|B)", "is|equals", "|x|"),
        ("int|None", "type of", "x|y|z"),
    ],
)
def test_a_bar_in_a_field_keeps_it_whole(triple):
    kept = [tuple(part.strip("|") for part in triple)]
    assert parse_triples(format_triple(*triple)).triples == kept
    assert parse_triples("(S> {} | P> {} | O> {})".format(*triple)).triples == kept
    assert parse_triples(json.dumps([triple])).triples == kept


@pytest.mark.parametrize(
    "end",
    [
        "(S> Stamford| P> river| O> Wel",
        "(S> Stamford| P> river| O> ",
        "(S> Stamf",
        "(S> Stamford| P",
    ],
)
def test_a_triple_cut_off_is_reported(end):
    parsed = parse_triples(f"{format_triple(*A)}, {end}")
    assert parsed.triples == [A]
    assert len(parsed.dropped) == 1
    assert parsed.dropped[0].startswith("S> Stamf")


def test_a_triple_without_final_parenthesis_that_ended_is_kept():
    assert parse_triples("(S> Stamford| P> river| O> Welland\n```").triples == [B]
    assert parse_triples("['(S> Stamford| P> river| O> Welland']").triples == [B]
    assert parse_triples("S> Stamford| P> river| O> Welland").triples == [B]
    assert parse_triples("(S> Paris (Texas)| P> is| O> a city (small)").triples == [
        ("Paris (Texas)", "is", "a city (small)")
    ]


def test_parentheses_inside_fields():
    triples = [("Paris (Texas)", "named after (probably)", "Paris (France (Europe))")] * 2
    triples[1] = ("f(x)", "is", "(odd)")
    assert parse_triples(format_triples(triples)).triples == triples
    assert parse_triples("(S> a| P> b| O> c (d), (S> e| P> f| O> g)").triples == [
        ("a", "b", "c (d)"),
        ("e", "f", "g"),
    ]


def test_lists_in_json_are_read_one_by_one() -> None:
    text = r'[["Stamford", "population", 19701], ["\"S\"", "height", 3.50], ["a", "b", null]]'
    parsed = parse_triples(text)
    assert parsed.triples == [("Stamford", "population", "19701"), ('"S"', "height", "3.50")]
    assert parsed.dropped == ['["a", "b", null]']


@pytest.mark.parametrize(
    ("object", "read"),
    [
        ("p > 0.05", "p 0.05"),
        ("significant (p > 0.05)", "significant (p 0.05)"),
        ("significant (P>0.05, n = 3)", "significant (P0.05, n = 3)"),
        ("S > 0", "S 0"),
        ("positive (S > 0)", "positive (S 0)"),
        ("O > 3 and p > 0.05", "O 3 and p 0.05"),
    ],
)
def test_a_comparison_in_an_object_stays(object: str, read: str) -> None:
    text = f"(S> drug| P> had effect| O> {object})"
    for whole in (f"{text}, {format_triple(*B)}", f"{format_triple(*B)}\n{text}"):
        parsed = parse_triples(whole)
        assert sorted(parsed.triples) == sorted([B, ("drug", "had effect", read)])
        assert parsed.dropped == []


@pytest.mark.parametrize("mark", ["|", ""])
def test_spaced_markers_begin_a_field_and_a_triple(mark: str) -> None:
    text = f"S > Stamford {mark} P > river {mark} O > Welland"
    assert parse_triples(f"{text}\nS > a {mark} P > b {mark} O > c").triples == [B, ("a", "b", "c")]
    parsed = parse_triples(f"({text} | P > 0.05), (S > a {mark} P > b {mark} O > c)")
    assert parsed.triples == [B, ("a", "b", "c")]
    assert [piece.rstrip("), (") for piece in parsed.dropped] == ["P > 0.05"]


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "```\n{}\n```"])
@pytest.mark.parametrize("text", ["[]", '{"triples": []}', ' {"Triples" : [ ] }\n'])
def test_an_empty_list_gives_nothing(text: str, around: str) -> None:
    assert parse_triples(around.replace("{}", text)) == ParsedTriples() == parse_triples(" \n")


@pytest.mark.parametrize(
    "text", ["{}", '{"triples": null}', '{"triples": [5]}', "I found no facts.", "C > D, <p>x</p>"]
)
def test_what_holds_no_triples_is_dropped_as_it_is(text: str) -> None:
    assert parse_triples(text) == ParsedTriples([], [text])


def test_clean_field():
    assert clean_field(" Paris\n (Texas)  ") == "Paris (Texas)"
    assert clean_field(":( either|or P> x)) | ") == ":( either|or P x)"
    assert clean_field("Schindler\\'s List") == "Schindler's List"
    assert clean_field("bad\ud800\x00") == "bad"


@pytest.mark.parametrize(
    "text",
    [
        "(S> Marie Curie| P> birth date| 7 November 1867)",
        "(S> Marie Curie| P> birth date| D> 7 November 1867)",
        "(S> Marie Curie | p> birth date |7 November 1867), (S> Marie Curie| P> mother)",
    ],
)
def test_a_third_field_without_its_marker_is_the_object(text: str) -> None:
    assert parse_triples(text).triples == [("Marie Curie", "birth date", "7 November 1867")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("(S> Lund| P> is an engineer)", ("Lund", "is", "an engineer")),
        ("(S> They| P> were the owners)", ("They", "were", "the owners")),
        ("(s> Lund | p> are A pair )", ("Lund", "are", "A pair")),
        ("(S> Lund| P> is a| O> person)", ("Lund", "is a", "person")),
        ("(S> Lund| P> was a member (late)| O> club)", ("Lund", "was a member (late)", "club")),
    ],
)
def test_an_object_inside_the_predicate_is_found(written: str, read: tuple[str, str, str]) -> None:
    for text in (written, f"{written}, (S> a| P> b| O> c)", f"(S> a| P> b| O> c), {written}"):
        parsed = parse_triples(text)
        assert read in parsed.triples and not parsed.dropped
        assert len(parsed.triples) == (1 if text == written else 2)


@pytest.mark.parametrize(
    "text", ["(S> Lund| P> is)", "(S> Lund| P> lives in Oslo)", "(S> Lund| P> is a "]
)
def test_where_no_object_can_be_told_nothing_is_made_up(text: str) -> None:
    parsed = parse_triples(text)
    assert not parsed.triples and parsed.dropped
