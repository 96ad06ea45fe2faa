"""Broken, hostile and random texts read as triples."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow.formats.normalize import name_key
from ras_flow.formats.triples import (
    clean_field,
    format_triple,
    format_triples,
    parse_triples,
)

A = ("Pick Motor Company", "location", "Stamford, Lincolnshire")


B = ("Stamford", "river", "Welland")


@pytest.mark.parametrize(
    "broken",
    [
        "(S> Stamford| P> river)",
        "(S> Stamford| O> Welland)",
        "(S> Stamford| P> river| P> Welland)",
        "(P> river| O> Welland)",
        "(S> | P> river| O> Welland)",
        "(S> Stamford| P> | O> Welland)",
        "(S> Stamford| P> river| O> )",
        "(S> Stamford| P> river| O> ,)",
        "(S> Stamford| P> river| O> " + "Welland " * 40 + ")",
        "(S> Stamford| P> " + "river " * 60 + "| O> Welland)",
        "(S> " + "Stamford " * 40 + "| P> river| O> Welland)",
    ],
)
def test_a_broken_triple_costs_only_itself(broken):
    for text in (
        f"{format_triple(*A)}, {broken}, {format_triple(*B)}",
        f"{broken}\n{format_triples([A, B])}",
    ):
        parsed = parse_triples(text)
        assert parsed.triples == [A, B]
        assert len(parsed.dropped) == 1
        assert len(parsed.dropped[0]) <= 300


def test_broken_json_costs_only_itself():
    parsed = parse_triples(
        '[{"subject": "Stamford", "predicate": "river", "object": "Welland"}, '
        '{"subject": "Stamford", "predicate": "area"}, '
        '{"subject": "Stamford", "predicate": "population", "object": 19701}, '
        '{"subject": "Stamford", "predicate": "height", "object": 3.50}, {"subject": "Stam'
    )
    assert parsed.triples == [
        B,
        ("Stamford", "population", "19701"),
        ("Stamford", "height", "3.50"),
    ]
    assert len(parsed.dropped) == 2


NAMES = ("subject", "predicate", "object")


SAID = st.text(max_size=12) | st.sampled_from(['"', "{x}", "a|b", "(S> a| P> b| O> c)", "x" * 400])


NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


VALUE = SAID | NUMBER | st.none() | st.lists(SAID, max_size=2) | st.just({"x": 1})


ITEMS = st.lists(
    st.fixed_dictionaries(dict.fromkeys(NAMES, SAID | NUMBER))
    | st.fixed_dictionaries({"subject": VALUE}, optional={"predicate": VALUE, "object": VALUE})
    | st.tuples(SAID, SAID, VALUE)
    | VALUE,
    max_size=6,
)


def said_by(item: Any) -> list[tuple[str, ...]]:
    """What an item says: one fact, or one for each text of a list as its object."""
    parts = [item.get(name) for name in NAMES] if isinstance(item, dict) else item
    if not isinstance(parts, list | tuple) or len(parts) != 3:
        return []
    *names, last = parts
    objects = last if isinstance(last, list) and isinstance(item, dict) else [last]
    if not all(isinstance(part, str | int | float) for part in [*names, *objects]):
        return []
    return [tuple(map(cleaned, [*names, object])) for object in objects]


def cleaned(part: object) -> str:
    return clean_field(part if isinstance(part, str) else json.dumps(part))


@given(ITEMS)
def test_json_gives_each_fact_cleaned_and_once(items: list[Any]) -> None:
    expected: dict[tuple[str, ...], tuple[str, ...]] = {}
    for fact in (fact for item in items for fact in said_by(item)):
        if all(0 < len(part) <= 300 for part in fact):
            expected.setdefault(tuple(map(name_key, fact)), fact)
    if any(isinstance(item, dict) and "subject" in item for item in items):
        found = parse_triples(json.dumps({"triples": items}))
        assert found.triples == list(expected.values())


FIELD = st.one_of(
    st.text(min_size=1, max_size=30),
    st.lists(
        st.sampled_from([*"|()\\'\",; \n>x", "S>", "P >", "o>", "p > 0.05"]),
        min_size=1,
        max_size=12,
    ).map("".join),
)


TRIPLES = st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=4)


@given(TRIPLES)
@example([(">", "P", "O>>"), ('\\("', ")S>", "x)(")])
@example([("0", "0|\\S>", "0")])
def test_round_trip(triples):
    cleaned = [tuple(map(clean_field, triple)) for triple in triples]
    assert [tuple(map(clean_field, triple)) for triple in cleaned] == cleaned
    expected: dict[tuple[str, ...], tuple[str, ...]] = {}
    for triple in cleaned:
        expected.setdefault(tuple(map(name_key, triple)), triple)
    if all(map(all, cleaned)):
        parsed = parse_triples(format_triples(triples))
        assert parsed.triples == list(expected.values())
        assert parsed.dropped == []


@given(st.text(alphabet="abc ,'", min_size=1), st.text(alphabet="a()", min_size=1))
def test_plain_fields_are_not_changed(plain, bracketed):
    assert clean_field(plain) == " ".join(plain.split()).strip(" ,")
    assert clean_field(f"x({plain.strip()}x)") == f"x({' '.join(plain.split())}x)"
    assert clean_field(bracketed).count("(") == clean_field(bracketed).count(")")


PART = FIELD | st.just("Oslo") | st.just("long " * 70)


OUTPUT = st.lists(
    st.one_of(
        FIELD,
        st.builds(format_triple, PART, PART, PART),
        st.sampled_from(
            ["(S> a", "| P> b", "| O> c", ")", "{", "}", '"subject":', "\n", ", ", "["]
            + [r"(S\> a\| P\> b\| O\> c)", "&lt;S&gt; a", "{S> a| P> b| O> c}", '{"s": "{}", "p":']
            + ["Subject: a", "P: b", "<O> c", "(a | b | c)", '["a", "b", "c"]', "|S|P|O|\n|a|b|c|"]
        ),
    ),
    max_size=20,
).map("".join)


@given(OUTPUT)
def test_any_text_gives_triples_that_round_trip(text):
    parsed = parse_triples(text)
    assert parse_triples(format_triples(parsed.triples)).triples == parsed.triples
    for triple in parsed.triples:
        assert all(0 < len(part) <= 300 and "\n" not in part for part in triple)


@given(OUTPUT)
def test_good_triples_survive_bad_neighbours(text):
    parsed = parse_triples(f"{text}\n({')' * text.count('(')}(S> Stamford| P> river| O> Welland)")
    assert B in parsed.triples


HOSTILE = ["(", ")", "S> ", "(S> a| P> b| O> ", "{", '{"subject": [', "|", "S ", '"', "p > 0.05 "]
HOSTILE += ["(S> a| P> b| O> (", "\\", "{}", '{"', '{":', '{"\\"', '{"a": [{"b{": ', "[(a) ", "S: "]
HOSTILE += ["(S> a| P> b| O> c}", "(a | b ", '["a", "b", ', "**", " ", "[ ", "<S> ", "'"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    parse_triples(text)
    parse_triples(f"(S> a| P> b| O> {text}")
    seconds = time.process_time() - started
    assert seconds < 60, "quadratic time would take minutes"
