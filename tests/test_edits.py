"""Edits as JSON, and what they do to a state: no graph, no model."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Overwrite

from ras_flow.edits.apply import apply_edits
from ras_flow.edits.parse import parse_edits
from ras_flow.errors import EditError, InputError
from ras_flow.graph import SYSTEM
from ras_flow.state.kg import merge_triples, triple_id
from ras_flow.state.reducers import by_index, by_key
from ras_flow.state.schema import Hop, Passage, Plan

EDITS: list[dict[str, Any]] = [
    {"op": "drop_triple", "triple": "aa"},
    {"op": "add_triple", "subject": "a", "predicate": "b", "object": "c"},
    {"op": "add_triple", "subject": "a", "predicate": "b", "object": "c", "passages": ["p"]},
    {"op": "drop_passage", "passage": "p"},
    {"op": "subquery", "text": "Who?"},
    {"op": "plan", "text": "[SUFFICIENT]"},
    {"op": "model", "role": "answerer", "name": "openai:x"},
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def broken_edits(draw: st.DrawFn) -> Any:
    """A well-formed edit of which up to two fields are replaced, removed or added."""
    edit = dict(draw(st.sampled_from(EDITS)))
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from([*edit, "passages", "triple", "text"]) | st.text(max_size=3))
        edit[name] = draw(json_values | st.sampled_from(["\ud800", " ", ["p", 1]]))
        if draw(st.booleans()):
            del edit[name]
    return edit


@given(json_values | st.lists(broken_edits() | json_values, max_size=3))
def test_any_json_is_read_or_refused(payload: Any) -> None:
    try:
        edits = parse_edits(payload, SYSTEM.operations)
    except EditError as error:
        assert str(error)
        return
    assert parse_edits(edits, SYSTEM.operations) == edits == payload
    json.dumps(edits).encode()


def test_edits_are_read_as_they_are() -> None:
    assert parse_edits(EDITS, SYSTEM.operations) == EDITS
    assert issubclass(EditError, InputError)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("drop", "Edit 2"),
        ({}, "use one of drop_triple"),
        ({"op": ["x"]}, "use one of"),
        ({"op": "drop_triple", "triple": 3}, r"Edit 2 \(drop_triple\): triple"),
        ({"op": "subquery", "text": " "}, "text.*empty"),
        ({"op": "subquery", "text": "a\udc00"}, "half a character at position 1"),
        ({"op": "plan", "text": "x", "hop": 1}, "hop.*text"),
        ({**EDITS[1], "passages": [1]}, "passages"),
    ],
)
def test_a_malformed_edit_is_named_by_number(edit: Any, message: str) -> None:
    with pytest.raises(EditError, match=message):
        parse_edits([EDITS[0], edit], SYSTEM.operations)


BORN = triple_id("Mira Lund", "place of birth", "Narvik")
DESIGNED = triple_id("Aurora Bridge", "designer", "Mira Lund")
BOTH = triple_id("Aurora Bridge", "in", "Norway")


def triple(subject: str, predicate: str, object: str, *passages: str) -> Any:
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "passages": list(passages),
    }


def plan(index: int, hop: int, label: Any, subquery: str = "", **more: str) -> Any:
    return {
        "index": index,
        "hop": hop,
        "label": label,
        "subquery": subquery,
        "raw": subquery,
        **more,
    }


def state(**changes: Any) -> Any:
    """After two hops."""
    return {
        "question": "Where was the designer born?",
        "context": {"top_k": 2},
        "plans": [plan(0, 0, "SUBQ", "Where?"), plan(1, 1, "SUBQ", "Who was Mira Lund?")],
        "hops": [
            {"index": 0, "subquery": "Where?", "passages": ["p", "q"], "scores": [2.0, 1.0]},
            {"index": 1, "subquery": "Who was Mira Lund?", "passages": ["q"], "scores": [3.0]},
        ],
        "passages": {id: {"id": id, "title": id, "text": id} for id in ("p", "q")},
        "extracted": [],
        "triples": {
            DESIGNED: triple("Aurora Bridge", "designer", "Mira Lund", "p"),
            BORN: triple("Mira Lund", "place of birth", "Narvik", "q"),
            BOTH: triple("Aurora Bridge", "in", "Norway", "p", "q"),
        },
        "usage": {},
        "warnings": [],
    } | changes


GONE = {
    "triples": {},
    "extracted": [{"passage": "q", "triples": [["Mira Lund", "place of birth", "Narvik"]]}],
}
"""A graph from which a triple of the last hop was dropped."""


def edited(edits: list[dict[str, Any]], before: str, **changes: Any) -> tuple[Any, str]:
    """Apply edits as the graph's reducers would; the state itself must stay as it was."""
    given = state(**changes)
    kept = copy.deepcopy(given)
    made = apply_edits(SYSTEM, given, parse_edits(edits, SYSTEM.operations), before)
    assert given == kept
    reducers: Any = {
        "triples": merge_triples,
        "passages": by_key(Passage),
        "hops": by_index(Hop),
        "plans": by_index(Plan),
    }
    for name, update in made.values.items():
        if isinstance(update, Overwrite):
            given[name] = update.value
        else:
            given[name] = reducers[name](given[name], update) if name in reducers else update
    return given, made.as_node


def test_a_dropped_triple_is_gone_and_the_same_node_comes_next() -> None:
    after, node = edited([{"op": "drop_triple", "triple": BORN}], "plan")
    assert (BORN in after["triples"], DESIGNED in after["triples"], node) == (False, True, "encode")


def test_a_dropped_passage_takes_along_what_no_other_states() -> None:
    after, _ = edited([{"op": "drop_passage", "passage": "p"}], "plan")
    assert list(after["passages"]) == ["q"]
    assert set(after["triples"]) == {BORN, BOTH}
    assert after["triples"][BOTH]["passages"] == ["q"]
    assert [(hop["passages"], hop["scores"]) for hop in after["hops"]] == [
        (["q"], [1.0]),
        (["q"], [3.0]),
    ]
    both = [{"op": "drop_passage", "passage": id} for id in ("p", "q")]
    after, _ = edited(both, "plan")
    assert [hop.get("dropped") for hop in after["hops"]] == [["p", "q"], ["q"]]


def test_triples_that_a_person_added_outlive_every_passage() -> None:
    add = {"op": "add_triple", "subject": "a", "predicate": "b", "object": "c"}
    drops = [{"op": "drop_passage", "passage": id} for id in ("p", "q")]
    after, _ = edited([add, *drops], "answer")
    assert list(after["triples"]) == [triple_id("a", "b", "c")]


def test_an_added_triple_is_cleaned_and_keyed_as_extracted_ones_are() -> None:
    add = {"op": "add_triple", "subject": " Mira|Lund, ", "predicate": "job", "object": "engineer"}
    after, _ = edited([{**add, "passages": ["q"]}], "plan")
    assert after["triples"][triple_id("Mira|Lund", "job", "engineer")] == triple(
        "Mira|Lund", "job", "engineer", "q"
    )
    longest = {**EDITS[1], "object": "x" * 300}
    after, _ = edited([longest], "plan")
    assert triple_id("a", "b", "x" * 300) in after["triples"]


def test_a_known_triple_gains_a_passage() -> None:
    add = {"op": "add_triple", "subject": "MIRA LUND", "predicate": "place of birth"}
    after, _ = edited([{**add, "object": "Narvik", "passages": ["p"]}], "plan")
    assert after["triples"][BORN] == triple("Mira Lund", "place of birth", "Narvik", "q", "p")


def test_what_is_not_merged_yet_can_be_dropped_for_good() -> None:
    extracted = [
        {"passage": "p", "triples": [["Mira Lund", "place of birth", "Narvik"], ["a", "b", "c"]]},
        {"passage": "q", "triples": [["d", "e", "f"]]},
    ]
    edits = [
        {"op": "drop_triple", "triple": BORN},
        {"op": "drop_triple", "triple": triple_id("a", "b", "c")},
        {"op": "drop_passage", "passage": "q"},
    ]
    after, node = edited(edits, "merge_graph", extracted=extracted)
    assert after["extracted"] == [{"passage": "p", "triples": []}]
    assert BORN not in after["triples"] and node == "to_triples"


@pytest.mark.parametrize("before", ["plan", "retrieve", "answer", ""])
def test_a_subquery_takes_the_place_of_the_plan_that_is_pending(before: str) -> None:
    pending = plan(2, 2, "SUFFICIENT", problem="x") if before != "plan" else None
    plans = [*state()["plans"], *([pending] if pending else [])]
    after, node = edited([{"op": "subquery", "text": '"What else?"'}], before, plans=plans)
    assert node == "review_plan"
    assert after["plans"][2:] == [{**plan(2, 2, "SUBQ", "What else?"), "raw": "[SUBQ] What else?"}]


def test_a_first_subquery_is_what_the_person_wrote_but_a_first_plan_asks_the_question() -> None:
    start = {"hops": [], "plans": [plan(0, 0, "SUBQ", "Where?")], "triples": {}, "passages": {}}
    asked, _ = edited([{"op": "subquery", "text": "Who?"}], "retrieve", **start)
    planned, _ = edited([{"op": "plan", "text": "[SUBQ] Who?"}], "retrieve", **start)
    assert asked["plans"][0]["subquery"] == "Who?"
    assert planned["plans"][0]["subquery"] == state()["question"]


def test_a_plan_is_read_as_the_planner_is() -> None:
    text = "Sure! **[SUBQ]** Where is Narvik?"
    after, _ = edited([{"op": "plan", "text": text}], "plan")
    assert (after["plans"][2]["subquery"], after["plans"][2]["raw"]) == ("Where is Narvik?", text)
    after, node = edited([{"op": "plan", "text": "[SUFFICIENT]"}], "plan")
    assert (after["plans"][2]["label"], node) == ("SUFFICIENT", "review_plan")


def test_the_last_step_answers_again() -> None:
    done = {"answer": "Narvik", "stop_reason": "sufficient", "citations": [{}]}
    after, node = edited([{"op": "drop_triple", "triple": BORN}], "", **done)
    assert (after["answer"], after["stop_reason"], after["citations"]) == ("", None, [])
    assert node == "review_answer"


def test_a_model_is_a_setting_of_the_run() -> None:
    edit = {"op": "model", "role": "planner", "name": "openai:gpt"}
    after, _ = edited([edit], "plan")
    assert after["context"] == {"top_k": 2, "planner": "openai:gpt"}
    after, _ = edited([edit], "plan", encodes=["planner"])
    assert after["encodes"] is None, "whether the new model takes soft tokens is not known yet"
    after, _ = edited([{"op": "model", "role": "extractor", "name": "none"}], "plan")
    assert after["context"]["extractor"] == "none", "passages are kept as text"
    documents = [{"text": "t"}]
    made = apply_edits(
        SYSTEM, state(documents=documents), parse_edits([edit], SYSTEM.operations), "start"
    )
    assert made.as_node == "__start__"
    assert made.values["documents"] == documents, "given documents are lost"


def test_an_edit_writes_no_more_than_what_it_changes() -> None:
    given = state(extracted=GONE["extracted"])
    made = apply_edits(
        SYSTEM,
        given,
        parse_edits([{"op": "drop_triple", "triple": BORN}], SYSTEM.operations),
        "plan",
    )
    assert made.values == {"triples": {BORN: None}}


@pytest.mark.parametrize("before", ["plan", "to_triples", "merge_graph", "answer", ""])
def test_no_edits_change_nothing(before: str) -> None:
    assert apply_edits(SYSTEM, state(), [], before).values == {}


@pytest.mark.parametrize(
    ("edit", "before", "changes", "message"),
    [
        (EDITS[0], "plan", {}, r"Edit 1 \(drop_triple\): .*'aa'"),
        ({"op": "drop_triple", "triple": BORN}, "plan", GONE, BORN),
        ({"op": "drop_passage", "passage": "z"}, "plan", {}, "'z'"),
        ({**EDITS[1], "passages": ["z"]}, "plan", {}, "'z'"),
        ({**EDITS[1], "subject": " ;\u200b"}, "plan", {}, "subject has no letter"),
        ({**EDITS[1], "object": "x" * 301}, "plan", {}, "object has 301 characters; 300 fit"),
        (EDITS[1], "plan", {"hops": []}, "nothing has been retrieved yet"),
        (
            {
                "op": "add_triple",
                "subject": "mira lund",
                "predicate": "place of birth",
                "object": "Narvik",
            },
            "plan",
            {},
            "has this triple already",
        ),
        ({"op": "subquery", "text": "x" * 500}, "plan", {}, "1 to 400 characters"),
        (EDITS[4], "to_triples", {}, "about to to_triples"),
        (EDITS[5], "merge_graph", {}, "no effect"),
        (EDITS[5], "start", {}, "before the run's first step"),
        (EDITS[5], "plan", {"hops": [], "plans": []}, "cannot be .SUFFICIENT"),
        ({"op": "plan", "text": "hm"}, "plan", {}, "no label"),
        (EDITS[4], "answer", {"context": {"max_hops": 2}}, "'max_hops'"),
        ({**EDITS[6], "name": "gpt"}, "plan", {}, "'gpt' is not of the form provider:model"),
        ({**EDITS[6], "name": "none"}, "plan", {}, "not of the form"),
        ({**EDITS[6], "role": "encoder"}, "plan", {}, "planner, extractor, answerer"),
        (EDITS[6], "plan", {"context": {"depth": 3}}, "settings cannot be used: .*depth"),
        (EDITS[6], "rerank", {}, "'rerank'"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(
    edit: Any, before: str, changes: Any, message: str
) -> None:
    with pytest.raises(EditError, match=message):
        apply_edits(SYSTEM, state(**changes), parse_edits([edit], SYSTEM.operations), before)
