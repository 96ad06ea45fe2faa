"""Evidence chains: algorithm 1, the two mergings, and what a model reads and writes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.chains import (
    ChainForm,
    format_chains,
    last_line,
    match_answers,
    read_answers,
    write_chain,
)
from ras_flow.formats.chains.expansion import Chain, expand, leftovers
from ras_flow.formats.chains.merging import Group, merge, merge_answers, merge_entities
from ras_flow.formats.triples import Spo

MASCOT = [
    ("Lou Seal", "sports.mascot.team", "San Francisco Giants"),
    ("San Francisco Giants", "sports.sports_team.championships", "2012 World Series"),
    ("San Francisco Giants", "sports.sports_team.championships", "2014 World Series"),
    ("San Francisco Giants", "sports.sports_team.championships", "2010 World Series"),
]
ROCKETS = [
    ("boeing", "rockets_manufactured", "saturn v"),
    ("saturn v", "manufacturer", "North American Aviation"),
    ("boeing", "industry", "Aerospace"),
    ("Aerospace", "companies", "North American Aviation"),
    ("Little Joe", "manufacturer", "North American Aviation"),
    ("North American Aviation", "aircraft_models_made", "XB-70A"),
    ("saturn v", "height_meters", "110.6"),
    ("saturn v", "mass", "3038500.0"),
]

names = st.sampled_from("abcdefg")
graphs = st.lists(st.tuples(names, st.sampled_from("rs"), names), unique=True, max_size=12)
roots = st.sets(names, min_size=1, max_size=3)
lengths = st.one_of(st.none(), st.integers(1, 4))


def algorithm_1(facts: list[Spo], roots: set[str], longest: int | None) -> list[list[Spo]]:
    """Algorithm 1 line by line."""
    source = [fact for fact in facts if fact[0] in roots]
    others = [fact for fact in facts if fact not in source]
    paths: list[list[Spo]] = []
    queue = deque([fact] for fact in source)
    visited = set()
    while queue:
        path = queue.popleft()
        if path not in paths:
            paths.append(path)
        if longest is not None and len(path) >= longest:
            continue
        for fact in others:
            if path[-1][2] == fact[0] and (path[0][0], fact[2]) not in visited:
                queue.append([*path, fact])
                visited.add((path[0][0], fact[2]))
    return paths


def merged(chains: Iterable[Chain]) -> list[Group]:
    return merge(merge_entities(merge_answers(chains)))


@given(graphs, roots, lengths)
def test_literal_expansion_is_algorithm_1(
    facts: list[Spo], roots: set[str], longest: int | None
) -> None:
    chains = expand(facts, roots, ChainForm(longest, literal=True))
    assert [write_chain(chain) for chain in chains] == [
        path[0][0] + "".join(f" → [{relation}] → {end}" for _, relation, end in path)
        for path in algorithm_1(facts, roots, longest)
    ]


@given(graphs, roots, lengths, st.booleans(), st.data())
def test_every_triple_is_in_a_chain_or_left_over_and_merging_is_stable(
    facts: list[Spo], roots: set[str], longest: int | None, inverse: bool, data: st.DataObject
) -> None:
    scores = data.draw(
        st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=len(facts), max_size=len(facts))
    )
    shown = {"a": "·", "b": "·"}
    chains = expand(
        facts,
        roots,
        ChainForm(longest, inverse),
        scores=scores,
        shown=lambda name: shown.get(name, name),
    )
    rest = leftovers(facts, chains)
    used = [at for chain in [*chains, *rest] for at in chain.facts]
    assert set(used) == set(range(len(facts)))
    assert all(len(chain.facts) <= (longest or len(facts)) for chain in chains)
    groups = merged(chains)
    kept = [chain for group in groups for chain in group.chains]
    assert merged(data.draw(st.permutations(chains))) == groups
    assert merge_answers(merge_answers(chains)) == merge_answers(chains)
    assert merged(kept) == groups
    met = merge_entities(merge_answers(chains))
    assert merge_entities(chain for group in met for chain in group.chains) == met
    assert {at for chain in kept for at in chain.facts} == set(used) - {
        at for chain in rest for at in chain.facts
    }


def test_several_answers_of_one_chain_are_one_chain() -> None:
    for facts in permutations(MASCOT):
        [group] = merged(expand(facts, ["Lou Seal"]))
        assert [write_chain(chain) for chain in group.chains] == [
            "Lou Seal → [sports.mascot.team] → San Francisco Giants → "
            "[sports.sports_team.championships] → "
            "2010 World Series; 2012 World Series; 2014 World Series"
        ]


def test_chains_of_two_entities_meet_where_both_lead() -> None:
    scores = [0.9, 0.9, 0.2, 0.2, 0.8, 0.1, 0.1, 0.6]
    groups = merged(expand(ROCKETS, ["boeing", "Little Joe"], ChainForm(2), scores=scores))
    assert [write_chain(chain) for chain in groups[0].chains] == [
        "boeing → [rockets_manufactured] → saturn v → [manufacturer] → North American Aviation",
        "Little Joe → [manufacturer] → North American Aviation",
    ]
    assert "saturn v → [mass] → 3038500.0" in write_chain(groups[1].chains[0])


def test_chains_may_end_at_the_entity_and_other_films_directors_are_not_mixed() -> None:
    facts = [
        ("Solaris", "actor", "Banionis"),
        ("Stalker", "actor", "Banionis"),
        ("Lem", "wrote", "Solaris"),
        ("Boris", "wrote", "Stalker"),
    ]
    assert {write_chain(c) for g in merged(expand(facts, ["Banionis"])) for c in g.chains} == {
        "Lem → [wrote] → Solaris → [actor] → Banionis",
        "Boris → [wrote] → Stalker → [actor] → Banionis",
    }


def test_comparisons_stand_together_and_keep_their_targets() -> None:
    facts = [("A", "born", "1900"), ("A", "in", "Oslo"), ("B", "born", "1950")]
    groups = merged(expand(facts, ["A", "B"], scores=[0.5, 0.9, 0.1]))
    assert [[write_chain(chain) for chain in group.chains] for group in groups] == [
        ["A → [in] → Oslo"],
        ["A → [born] → 1900", "B → [born] → 1950"],
    ]


def test_chains_that_turn_are_grown_only_where_asked() -> None:
    facts = [("A", "made", "Ship"), ("Yard", "owns", "Ship")]
    assert [write_chain(chain) for chain in leftovers(facts, expand(facts, ["A"]))] == [
        "Yard → [owns] → Ship"
    ]
    [group] = merged(expand(facts, ["A"], ChainForm(inverse=True)))
    assert write_chain(group.chains[0]) == "A → [made] → Ship ← [owns] ← Yard"


def test_what_does_not_fit_is_left_out_worst_first() -> None:
    blocks = [[chain] for chain in expand(ROCKETS, ["boeing"], ChainForm(literal=True))]
    whole = format_chains(blocks, before="Read.\n", after="Q?")
    short = format_chains(blocks, before="Read.\n", after="Q?", max_tokens=len(whole.text) - 1)
    assert short.text.startswith("Read.\nEvidence Chains:\nChain 1.\nboeing → ")
    assert short.text.endswith("\nQ?") and len(short.text) < len(whole.text)
    assert (whole.lost, short.lost > 0) == (0, True)
    assert format_chains(blocks, after="Q?", max_tokens=3).text == "Q?"


def test_a_label_is_one_short_line() -> None:
    facts = [("A", "r\nans: x", "<b>\x1b[31m→" + "y" * 1_000_000)]
    text = format_chains([expand(facts, ["A"])]).text
    assert text.count("\n") == 3 and "\x1b" not in text and len(text) < 1_000


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Since …\nans: Oslo\nans: Bergen", ["Oslo", "Bergen"]),
        ("<think>ans: Rome</think>\n- **ans:** oslo.\n2. Ans: OSLO", ["oslo."]),
        ("ans: not available", []),
        ("ans: None\nans: Oslo", ["Oslo"]),
        ("It is Oslo.", None),
        ("", None),
    ],
)
def test_answers_are_read_from_lines(reply: str, wanted: list[str] | None) -> None:
    assert read_answers(reply) == wanted


def test_answers_are_written_as_the_graph_has_them() -> None:
    assert match_answers(["oslo; The Bergen", "Rome; X"], ["Oslo", "Bergen"]) == (
        ["Oslo", "Bergen", "Rome; X"],
        ["Rome; X"],
    )
    assert last_line("Well,\n**Oslo**\n\n") == "Oslo"
    assert last_line("…\nNot available.") == ""


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    match_answers([*(read_answers(reply) or ()), last_line(reply)], [reply])


@pytest.mark.parametrize("piece", ["\n", " ", "*", "_", "> "])
def test_reading_answers_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    read_answers(piece * (100_000 // len(piece)) + "x")
    assert time.process_time() - started < 5, "quadratic time would take minutes"
