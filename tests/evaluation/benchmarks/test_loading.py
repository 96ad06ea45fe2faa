"""What holds for all benchmarks: samples, parts, ids, errors, and files of one's own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from ras_flow import demo
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.evaluation.benchmarks import load_benchmark
from ras_flow.evaluation.question import Support
from tests.evaluation.benchmarks import rows as r
from tests.training.data import examples as e


def write(path: Path, *rows: Any) -> Path:
    path.write_text(r.lines(*rows), encoding="utf-8")
    return path


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "question": f"What is {i}?", "answer": f"It is {i}"} for i in range(number)
    ]


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    full = {
        "id": 7,
        "question": "Which river?",
        "answers": ["Vistula", "Wisła", "Vistula"],
        "kind": "two-hop",
        "documents": ["Bare text.", {"title": "Warsaw", "text": "A city."}],
        "support": [
            "Marie Curie",
            {
                "title": "Warsaw",
                "text": "A city.",
                "subquery": "Where?",
                "facts": [["a", "b", "c"]],
            },
        ],
    }
    found = load_benchmark(
        "jsonl", write(tmp_path / "own.jsonl", {"question": "Who?", "answer": "I"}, full)
    )
    bare, question = found.questions
    assert (bare.answers, bare.documents, bare.support) == (("I",), (), ()) and bare.id
    assert (question.id, question.kind, question.answers) == ("7", "two-hop", ("Vistula", "Wisła"))
    assert question.documents == (
        {"title": "", "text": "Bare text."},
        {"title": "Warsaw", "text": "A city."},
    )
    assert question.support == (
        Support("Marie Curie"),
        Support("Warsaw", "A city.", "Where?", (("a", "b", "c"),)),
    )
    assert (found.task, found.metrics) == ("short_qa", ("f1", "exact_match", "match"))


def test_the_questions_on_the_demo_graph_are_a_benchmark() -> None:
    with as_file(files(demo) / "kg_questions.jsonl") as path:
        found = load_benchmark("kg", path, unanswerable=4)
    asked = {row["id"]: row for row in demo.graph_questions()}
    assert len(found.questions) + len(found.unanswerable) == len(asked) == 40
    for question in found.questions:
        row = asked[question.id]
        assert question.answer_sets == tuple((answer,) for answer in row["answers"])
        assert question.entities == tuple(row["entities"]) and question.kind == row["type"]
        assert [list(fact) for one in question.support for fact in one.facts] == row["gold"]


def test_a_sample_depends_on_the_questions_and_not_on_their_order(tmp_path: Path) -> None:
    given = rows(60)
    shuffled = random.Random(1).sample(given, 60)
    first = load_benchmark("jsonl", write(tmp_path / "a.jsonl", *given), limit=20, seed=3)
    second = load_benchmark("jsonl", write(tmp_path / "b.jsonl", *shuffled), limit=20, seed=3)
    assert len(first.questions) == 20
    assert {q.id for q in first.questions} == {q.id for q in second.questions}
    order = [row["id"] for row in shuffled]
    places = [order.index(question.id) for question in second.questions]
    assert places == sorted(places)


def test_parts_of_a_file(tmp_path: Path) -> None:
    one, two = (
        e.HOTPOT | {"all_support": True, "src": "dev"},
        e.HOTPOT | {"_id": "h2", "src": "train"},
    )
    path = write(tmp_path / "a.jsonl", one, two)

    def ids(split: str) -> list[str]:
        return [q.id for q in load_benchmark("hotpotqa", path, split=split).questions]

    assert (ids("all_support"), ids("train")) == (["h1"], ["h2"])
    with pytest.raises(ConfigurationError, match="no part.*'test'.*dev.*all_support.*train"):
        ids("test")


def test_questions_that_may_not_be_asked_are_left_out_before_any_is_drawn(tmp_path: Path) -> None:
    rows = [{"question": f"What is {n}?", "answers": [str(n)]} for n in range(9)]
    path = write(tmp_path / "a.jsonl", *rows)

    def asked(*numbers: int, limit: int | None = None) -> list[str]:
        allowed = {f"What is {n}?" for n in numbers}
        found = load_benchmark("jsonl", path, limit=limit, only=lambda one: one.question in allowed)
        return [question.answers[0] for question in found.questions]

    assert asked(2, 7) == ["2", "7"] == asked(2, 7, limit=5)
    assert set(asked(2, 7, 8, limit=2)) < {"2", "7", "8"}
    with pytest.raises(InputError, match="can be asked"):
        asked()


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("triviaqa", r.SELF_RAG_TRIVIAQA | {"answers": "Aach"}, "answers"),
    ("triviaqa", r.SELF_RAG_TRIVIAQA | {"ctxs": [{"text": 3}, 4]}, r"ctxs\[1\]"),
    ("2wikimultihopqa", e.WIKI2 | {"evidences": [["a", "b"]]}, r"evidences\[0\]"),
    ("popqa", without(r.POPQA, "answers") | {"possible_answers": "[" * 10**5}, "possible_answers"),
    ("popqa_longtail", r.POPQA | {"s_pop": "few"}, "s_pop"),
    ("pubhealth", r.SELF_RAG_PUBHEALTH | {"answers": ["maybe"]}, "answers"),
    ("arc_challenge", e.ARC | {"answerKey": "7"}, "answerKey"),
    ("arc_challenge", r.SELF_RAG_ARC | {"choices": {"text": ["x"]}}, "choices:label"),
    ("asqa", r.ASQA | {"qa_pairs": [{"short_answers": []}]}, r"qa_pairs\[0\]:short_answers"),
    ("hotpotqa", e.HOTPOT | {"context": [["Lindau", "text"]]}, r"context\[0\]\[1\]"),
    ("hotpotqa", e.HOTPOT | {"question": " "}, "question"),
    ("musique", e.MUSIQUE | {"answerable": "yes"}, "answerable"),
    ("fever", r.FEVER | {"evidence": [[["x"]]]}, r"evidence\[0\]\[0\]"),
    ("pathquestion", r.PATHQUESTION | {"path": ["a", "b"]}, "path"),
    ("webqsp", e.WEBQSP | {"answers": [1]}, r"answers\[0\]"),
    ("explagraphs", r.EXPLAGRAPHS | {"label": "x"}, "label"),
    ("jsonl", {"question": "Who?"}, "answers"),
    (
        "jsonl",
        {"question": "Who?", "answer": "I", "documents": [{"title": "T"}]},
        r"documents\[0\]:text",
    ),
    ("jsonl", {"question": "Who?", "answer": "I", "support": [{}]}, r"support\[0\]:title"),
    ("jsonl", {"question": "?", "answer": "I", "support": ["T"], "subqueries": []}, "subqueries"),
]


@pytest.mark.parametrize(("name", "row", "message"), WRONG)
def test_a_wrong_row_is_told_by_file_line_and_field(
    tmp_path: Path, name: str, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=rf"wrong\.jsonl:2:{message}"):
        path = tmp_path / "wrong.jsonl"
        path.write_text("\n" + r.lines(row))
        load_benchmark(name, path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "triviaqa",
            json.dumps({"Data": [{"QuestionId": "1"}]}),
            r"f\.json:Data\[0\]:Answer: expec",
        ),
        ("triviaqa", "{}", "f.json:Data: expected a list"),
        ("triviaqa", '{"Data": [\n{,', "f.json:2: the file is not JSON"),
        ("asqa", "{}", "f.json:dev: expected an object with one of train, dev, test"),
        ("asqa", json.dumps({"dev": {"7": {}}}), "f.json:dev:7:answer: expected a text"),
        ("hotpotqa", "[{}]", "f.json:item 1:question: expected a text"),
        ("jsonl", "", "can be asked and judged"),
        ("jsonl", '{"question": "?", "answers": []}', "can be asked and judged"),
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_benchmark(name, path)


@pytest.mark.parametrize("make", [lambda p: p / "none.jsonl", lambda p: p])
def test_a_file_that_cannot_be_read(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_benchmark("jsonl", make(tmp_path))


def test_an_id_that_comes_twice_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *rows(2), {"id": "1", "question": "Who?", "answer": "I"})
    with pytest.raises(InputError, match=r"a\.jsonl:3: the id '1' comes twice"):
        load_benchmark("jsonl", path)


def test_an_unknown_benchmark_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *rows(2))
    with pytest.raises(ConfigurationError, match="'squad'.*triviaqa.*jsonl"):
        load_benchmark("squad", path)
