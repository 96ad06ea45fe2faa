"""Passages that are kept as text, in the history: written once, read back, trimmed, counted."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow.errors import InputError
from ras_flow.formats.history import format_history
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import clean_field
from ras_flow.parts import ChainLink
from ras_flow.state.schema import Triple
from ras_flow.state.schema import make_passage as passage
from tests.formats.parsed_history import ParsedHistory, parse_history

BRIDGE = passage("Aurora Bridge", "The Aurora Bridge was designed by Mira Lund in 1961.")
MIRA = passage("Mira Lund", "Mira Lund was an engineer.\n\nQuestion: She was born in Narvik.")
BORN = Triple(subject="Mira Lund", predicate="place of birth", object="Narvik", passages=["p"])
Q = "Where was the designer of the Aurora Bridge born?"


def test_each_passage_is_written_in_the_first_hop_that_found_it() -> None:
    chain = [ChainLink(Q, [], [BRIDGE]), ChainLink("Mira?", [BORN], [MIRA, BRIDGE])]
    assert format_history(Q, [*chain, ChainLink("Nothing?", [])]).text == (
        f"[SUBQ] {Q}\n"
        "Retrieved Text: Aurora Bridge| The Aurora Bridge was designed by Mira Lund in 1961.\n"
        "[SUBQ] Mira?\n"
        "Retrieved Graph Information: (S> Mira Lund| P> place of birth| O> Narvik)\n"
        "Retrieved Text: Mira Lund| Mira Lund was an engineer.\n\n"
        " Question: She was born in Narvik.\n"
        "[SUBQ] Nothing?\n"
        "Retrieved Graph Information: none\n"
        f"Question: {Q}"
    )
    flat = format_history(Q, chain, one_line=True).text
    assert "Mira Lund was an engineer. Question: She was born in Narvik.\n" in flat


def test_what_does_not_fit_is_left_out_least_related_first_and_counted() -> None:
    # Of more words, but fewer of the question's.
    text = "It lies on a hill between quiet green valleys, old forests and cold blue lakes."
    others = [passage(f"Town {i}", text) for i in range(9)]
    chain = [ChainLink(Q, [], [*others, BRIDGE])]
    history = format_history(Q, chain, max_tokens=60, count_tokens=lambda text: len(text.split()))
    assert BRIDGE["text"] in history.text
    assert len(history.text.split()) <= 60
    assert history.lost_triples == 10 - history.text.count("Retrieved Text: ") > 0


LONG = passage("Bridges", "The designer of the Aurora Bridge was born. " * 500)


def words(text: str) -> int:
    return len(text.split())


def test_a_passage_larger_than_the_window_leaves_the_others_in_and_is_shortened() -> None:
    towns = [passage(f"Town {i}", "It lies on a hill far away.") for i in range(4)]
    chain = [ChainLink(Q, [BORN], [LONG, *towns])]
    history = format_history(Q, chain, max_tokens=100, count_tokens=words)
    assert all(f"Retrieved Text: {town['title']}| {town['text']}" in history.text for town in towns)
    assert "Narvik" in history.text
    assert words(history.text) == 100
    [[(title, beginning), *_]] = parse_history(history.text).texts
    assert title == "Bridges"
    assert f"{LONG['text']} ".startswith(f"{beginning} ")
    assert history.lost_triples == 1


@pytest.mark.parametrize("text", ["x" * 1000, "An end"])
def test_a_passage_without_a_word_that_fits_is_left_out(text: str) -> None:
    chain = [ChainLink("a?", [], [passage("t" * 500 if " " in text else "t", text)])]
    history = format_history(Q, chain, max_tokens=150, count_tokens=len)
    assert parse_history(history.text) == ParsedHistory(Q, [("a?", [])], "", [])
    assert history.lost_triples == 1


def test_a_script_without_spaces_is_cut_between_characters() -> None:
    chain = [ChainLink("谁?", [], [passage("桥", "奥罗拉桥由米拉设计。" * 100)])]
    history = format_history("谁?", chain, max_tokens=100, count_tokens=len)
    assert len(history.text) >= 99


def test_the_largest_passage_that_fits_alone_stays_whole() -> None:
    size = words(format_history(Q, [ChainLink(Q, [], [LONG])]).text)
    small = passage("Town", "It lies on a hill.")
    chain = [ChainLink(Q, [], [small, LONG])]
    history = format_history(Q, chain, max_tokens=size, count_tokens=words)
    assert history.text == format_history(Q, [ChainLink(Q, [], [LONG])]).text
    assert history.lost_triples == 1


LINE = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["[SUBQ] ", "Question: ", "Retrieved Text: ", "Retrieved Graph Information: "]
            + ["\n", "\x1c", "|", "(S> ", "x", "none"]
        ),
        max_size=6,
    ).map("".join),
)
FIELD = LINE.filter(clean_field)
TRIPLE = st.builds(
    lambda s, p, o: {**BORN, "subject": s, "predicate": p, "object": o}, *[FIELD] * 3
)
PASSAGES = st.lists(st.builds(passage, LINE, LINE), max_size=3)
LINKS = st.lists(st.builds(ChainLink, LINE, st.lists(TRIPLE, max_size=3), PASSAGES), max_size=3)


@given(LINE, LINKS, st.sampled_from(["", "Answer briefly.\nOr not."]))
@example("q", [ChainLink("a", [BORN], [passage("", "")]), ChainLink("b", [BORN])], "")
@example("a\nQuestion: b\n[SUBQ] c", [], "")
def test_round_trip(question: str, links: list[ChainLink], instruction: str) -> None:
    seen: set[object] = set()
    texts: list[list[tuple[str, str]]] = []
    chain: list[tuple[str, list[tuple[str, ...]]]] = []
    for link in links:
        triples = [
            tuple(clean_field(found[part]) for part in ("subject", "predicate", "object"))
            for found in link.triples
        ]
        lines = [
            tuple(" ".join(found[name].split()) for name in ("title", "text"))
            for found in link.passages
        ]
        fresh = [f for f in triples if _new(tuple(map(normalize_name, f)), seen)]
        shown = [
            (title.replace("|", "/"), text)
            for (title, text), found in zip(lines, link.passages, strict=True)
            if _new(found["id"], seen)
        ]
        chain.append((" ".join(link.subquery.split()), fresh))
        texts.append(shown)
    parsed = parse_history(format_history(question, links, instruction=instruction).text)
    expected = ParsedHistory(question.strip(), chain, instruction, texts if any(texts) else [])
    assert parsed == expected


def _new(key: object, seen: set[object]) -> bool:
    new = key not in seen
    seen.add(key)
    return new


@given(LINE, LINKS, st.integers(0, 300))
def test_limit_is_kept_and_the_question_survives(
    question: str, links: list[ChainLink], limit: int
) -> None:
    try:
        history = format_history(question, links, max_tokens=limit, count_tokens=len)
    except InputError:
        assert len(f"Question: {question.strip()}") > limit
    else:
        assert len(history.text) <= limit
        assert history.text.endswith(f"Question: {question.strip()}")
        parse_history(history.text)
