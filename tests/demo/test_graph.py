"""The demo's knowledge graph keeps its promises: size, form, and gold facts."""

from __future__ import annotations

import unicodedata
from collections import Counter
from importlib.resources import files

import networkx as nx
import pytest

from ras_flow import demo
from ras_flow.demo import DemoGraphQuestion, graph_questions

LINES = (files(demo) / demo.GRAPH).read_text(encoding="utf-8").splitlines()
ROWS = [tuple(line.split("\t")) for line in LINES]
FACTS = {(s, p, o.strip('"')) for s, p, o in ROWS}
QUESTIONS = graph_questions()
ANSWERABLE = [entry for entry in QUESTIONS if entry["type"] != "unanswerable"]


def test_size_and_form() -> None:
    assert len(set(ROWS)) == len(ROWS) >= 1500
    assert len({p for _, p, _ in ROWS}) <= 61
    names = {name for s, _, o in ROWS for name in (s, o)}
    assert len({name.casefold() for name in names}) == len(names)
    for line in LINES:
        assert unicodedata.is_normalized("NFC", line) and line == " ".join(line.split(" "))
        assert all(field == field.strip() and field for field in line.split("\t")), line


def test_what_holds_both_ways_is_there_both_ways() -> None:
    for s, p, o in FACTS:
        if p in {"spouse", "sibling", "shares border with"}:
            assert (o, p, s) in FACTS
    years = {s: int(o) for s, p, o in FACTS if p == "year of birth"}
    died = {s: int(o) for s, p, o in FACTS if p == "year of death"}
    assert all(years[who] < died[who] for who in years.keys() & died.keys())
    born = [(s, o) for s, p, o in FACTS if p in {"father", "mother"}]
    assert all(years[child] > years.get(parent, 0) for child, parent in born)


def test_questions_of_all_kinds() -> None:
    counts = Counter(entry["type"] for entry in QUESTIONS)
    assert len({entry["id"] for entry in QUESTIONS}) == len(QUESTIONS) == 40
    assert counts.keys() == {
        *("one-hop", "two-hop", "two-entity", "several", "comparison", "unanswerable")
    }
    assert all(not one["answers"] and not one["gold"] for one in QUESTIONS[-4:])


@pytest.mark.parametrize("entry", ANSWERABLE, ids=lambda entry: entry["id"])
def test_gold_facts_stand_in_the_graph_and_lead_to_the_answers(entry: DemoGraphQuestion) -> None:
    facts = [(s, p, o) for s, p, o in entry["gold"]]
    assert set(facts) <= FACTS
    way = nx.Graph((s, o) for s, _, o in facts)
    if entry["type"] == "comparison":
        assert set(entry["answers"]) < set(entry["entities"])
        assert [s for s, _, _ in facts] == entry["entities"]
        return
    hops = 2 if entry["type"] == "two-hop" else None
    for answer in entry["answers"]:
        for start in entry["entities"]:
            far = nx.shortest_path_length(way, start, answer)
            assert far == hops if hops else far >= 1
    # The graph holds no other answer: the last relations lead to no more.
    if len(entry["entities"]) == 1 and (hops or len(facts) == len(entry["answers"])):
        [relation] = {p for s, p, o in facts if {s, o} & set(entry["answers"])}
        before = {e for s, _, o in facts for e in (s, o)} - set(entry["answers"])
        ends = {o for s, p, o in FACTS if s in before and p == relation}
        starts = {s for s, p, o in FACTS if o in before and p == relation}
        assert set(entry["answers"]) in (ends, starts, ends | starts)
