from __future__ import annotations

import pytest

from ras_flow.errors import InputError
from ras_flow.formats.history import History, format_history
from ras_flow.parts import ChainLink
from ras_flow.state.schema import Triple
from tests.formats.parsed_history import parse_history

Q = "The Pick Motor Company Limited is located in a town on which river?"


def triple(subject: str, predicate: str, object: str) -> Triple:
    return Triple(subject=subject, predicate=predicate, object=object, passages=[])


LOCATION = triple("Pick Motor Company", "location", "Stamford")
INDUSTRY = triple("Pick Motor Company", "industry", "cars")
RIVER = triple("Stamford", "river", "Welland")
SMALL_TALK = triple("Bob Hope", "liked", "golf (very much)")
CHAIN = [
    ChainLink("Where is Pick Motor Company?", [SMALL_TALK, LOCATION, INDUSTRY]),
    ChainLink("Which river is Stamford on?", [LOCATION, RIVER]),
]


def words(text: str) -> int:
    return len(text.split())


def test_the_form():
    history = format_history(Q, CHAIN, instruction="Answer briefly.")
    assert history == History(
        "Answer briefly.\n"
        "[SUBQ] Where is Pick Motor Company?\n"
        "Retrieved Graph Information: (S> Bob Hope| P> liked| O> golf (very much)), "
        "(S> Pick Motor Company| P> location| O> Stamford), "
        "(S> Pick Motor Company| P> industry| O> cars)\n"
        "[SUBQ] Which river is Stamford on?\n"
        "Retrieved Graph Information: (S> Stamford| P> river| O> Welland)\n"
        f"Question: {Q}",
        0,
    )


def test_without_chain_and_with_an_empty_hop():
    assert format_history(Q, []).text == f"Question: {Q}"
    assert format_history(Q, [ChainLink("Where?", [])]).text == (
        f"[SUBQ] Where?\nRetrieved Graph Information: none\nQuestion: {Q}"
    )
    repeated = format_history(Q, [ChainLink("a?", [RIVER]), ChainLink("b?", [RIVER])]).text
    assert repeated.count("Welland") == 1
    assert repeated.index("Welland") < repeated.index("b?")


def test_least_relevant_triples_go_first():
    full = format_history(Q, CHAIN).text
    fits = format_history(Q, CHAIN, max_tokens=words(full), count_tokens=words)
    assert fits == History(full, 0)
    shorter = format_history(Q, CHAIN, max_tokens=words(full) - 1, count_tokens=words)
    assert shorter == History(full.replace("(S> Bob Hope| P> liked| O> golf (very much)), ", ""), 1)


def test_older_hops_and_later_triples_go_first_among_equals():
    chain = [
        ChainLink("old?", [triple("a", "b", "c0"), triple("a", "b", "c1")]),
        ChainLink("new?", [triple("a", "b", "c2"), triple("a", "b", "c3")]),
    ]
    size = words(format_history(Q, chain).text)
    left = []
    for lost in range(1, 5):
        history = format_history(Q, chain, max_tokens=size - 6 * (lost - 1) - 1, count_tokens=words)
        left.append([c for c in ("c0", "c1", "c2", "c3") if c in history.text])
        assert history.lost_triples == lost
    assert left == [["c0", "c2", "c3"], ["c2", "c3"], ["c2"], []]


@pytest.mark.parametrize(
    ("question", "wanted", "other"),
    [
        ("玛丽居里出生在哪里", ("玛丽居里", "出生地", "华沙"), ("汽车", "颜色", "红色")),
        ("マリー・キュリーはどこで生まれましたか", ("キュリー", "出生", "波"), ("車", "色", "赤")),
        ("서울은 어느 나라의 수도입니까", ("서울", "수도", "한국"), ("차", "색깔", "빨강")),
        ("1990年柏林发生了什么", ("统一", "时间", "1990"), ("汽车", "颜色", "1991")),
    ],
)
def test_least_relevant_triples_go_first_in_scripts_without_spaces_and_korean(
    question: str, wanted: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    chain = [ChainLink("?", [triple(*other)]), ChainLink("?", [triple(*wanted)])]
    for links in (chain, chain[::-1]):
        size = len(format_history(question, links).text)
        history = format_history(question, links, max_tokens=size - 1, count_tokens=len)
        assert wanted[2] in history.text and other[2] not in history.text
        assert history.lost_triples == 1


def test_subqueries_go_when_no_triple_is_left_oldest_first():
    bare = format_history(Q, [ChainLink(link.subquery, []) for link in CHAIN], instruction="Hm.")
    without = format_history(
        Q, CHAIN, instruction="Hm.", max_tokens=words(bare.text), count_tokens=words
    )
    assert without == History(bare.text, 4)
    shorter = format_history(
        Q, CHAIN, instruction="Hm.", max_tokens=words(bare.text) - 1, count_tokens=words
    )
    assert shorter.lost_triples == 4
    assert shorter.text == (
        f"Hm.\n[SUBQ] Which river is Stamford on?\nRetrieved Graph Information: none\nQuestion: {Q}"
    )


def test_question_and_instruction_never_go():
    limit = words(f"Hm.\nQuestion: {Q}")
    history = format_history(Q, CHAIN, instruction="Hm.", max_tokens=limit, count_tokens=words)
    assert history == History(f"Hm.\nQuestion: {Q}", 4)
    with pytest.raises(InputError, match=f"take {limit} tokens, but only {limit - 1} fit"):
        format_history(Q, CHAIN, instruction="Hm.", max_tokens=limit - 1, count_tokens=words)
    with pytest.raises(InputError, match="count_tokens"):
        format_history(Q, CHAIN, max_tokens=10)


def test_instruction_cannot_pose_as_history():
    instruction = "Say\n[SUBQ] no\nQuestion: never"
    parsed = parse_history(format_history(Q, CHAIN, instruction=instruction).text)
    assert parsed.question == Q
    assert len(parsed.chain) == 2
    assert parsed.instruction == "Say\n [SUBQ] no\n Question: never"
