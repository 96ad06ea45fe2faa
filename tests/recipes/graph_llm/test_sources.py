from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.settings.tasks import TASKS
from recipes.graph_llm.case import Case
from recipes.graph_llm.sources import UNUSED, read_cases
from tests.training.data import examples as e
from tests.training.data.examples import write_lines, write_list


def only(path: Path, **options: Any) -> Case:
    [case] = read_cases(path, **options)
    return case


def asked(case: Case) -> list[str]:
    return [step.phrasings[0] if step.phrasings else "" for step in case.steps]


def test_2wiki_as_published(tmp_path: Path) -> None:
    case = only(write_list(tmp_path / "train.json", e.WIKI2))
    assert (case.id, case.answer) == ("w1", "3 May 1921")
    assert asked(case) == ["Who directed Salt Road?", "When was Aino Laine born?"]
    assert [step.needs for step in case.steps] == [(), (0,)]
    assert case.steps[0].facts == (("Salt Road", "director", "Aino Laine"),)
    # What else stands in the document surrounds the gold triple; other documents distract.
    assert ("Salt Road", "is", "a 1950 drama film") in case.steps[0].page.triples
    assert [page.title for page in case.context] == ["Northern Light", "Pier House"]


def test_musique_as_published(tmp_path: Path) -> None:
    case = only(write_lines(tmp_path / "musique.jsonl", e.MUSIQUE))
    assert asked(case) == ["Who distributed Salt Road?", "Who founded Halden Pictures?"]
    assert [step.needs for step in case.steps] == [(), (0,)]
    # The triple of the paragraph, as extracted, not one made of question and answer.
    assert case.steps[1].facts == (("Halden Pictures", "was founded by", "Ingrid Moe in 1931"),)
    assert [page.title for page in case.context] == ["Oulu"]


def test_hotpotqa_as_published_and_with_a_document_missing(tmp_path: Path) -> None:
    case = only(write_list(tmp_path / "hotpot.json", e.HOTPOT))
    # Clara Novak is what the question names, and she leads to Lindau.
    assert [step.page.title for step in case.steps] == ["Clara Novak", "Lindau"]
    assert asked(case) == ["What is known about Clara Novak?", "What is known about Lindau?"]
    assert [step.needs for step in case.steps] == [(), (0,)]
    facts = (("Clara Novak", "", "Lindau"),), (("Lindau", "", "River Aach"),)
    assert tuple(step.short for step in case.steps) == facts
    assert case.steps[1].facts == (("Lindau", "is", "a town on the River Aach"),)
    assert [page.title for page in case.context] == ["Novak Quartet", "Oulu"]
    row = e.HOTPOT | {"context": [doc for doc in e.HOTPOT["context"] if doc[0] != "Lindau"]}
    case = only(write_list(tmp_path / "missing.json", row))
    assert [step.missing for step in case.steps] == [False, True]


def test_strategyqa(tmp_path: Path) -> None:
    case = only(write_list(tmp_path / "strategyqa_train.json", e.STRATEGY))
    assert case.answer == "yes"
    assert asked(case) == ["When was Aino Laine born?", "When was Pier House opened?"]
    assert case.instruction == TASKS["yes_no"].instruction
    assert case.steps[1].facts == (("Pier House", "was opened in", "1931"),)
    whole = e.STRATEGY | {"decomposition": ["Who is older?", "When was #1 born?", "Is #2 late?"]}
    case = only(write_list(tmp_path / "whole.json", whole))
    assert asked(case) == ["What is known about Aino Laine?"]
    assert len(case.steps[0].facts) == 2


KB = [
    ["aino_laine", "spouse", "ove_dahl"],
    ["ove_dahl", "nationality", "norway"],
    ["ove_dahl", "gender", "male"],
    ["berta_lind", "spouse", "x"],
    ["berta_lind", "spouse", "y"],
    ["x", "nationality", "norway"],
]


def test_pathquestion(tmp_path: Path) -> None:
    row = {
        "id": "p1",
        "kb": "2H",
        "question": "what is the nation of aino_laine 's husband ?",
        "answers": ["norway"],
        "path": ["aino_laine", "spouse", "ove_dahl", "nationality", "norway"],
    }
    two = {"question": "the nation of berta_lind 's spouse ?", "kb": "2H", "answers": ["norway"]}
    two |= {"id": "p2", "path": ["berta_lind", "spouse", "x", "nationality", "norway"]}
    wrong = row | {"id": "p3", "question": "the nation of aino_laine 's wife ?"}
    lost = row | {"id": "p4", "answers": [], "path": ["nobody", "nationality", "norway"]}
    kb = write_lines(tmp_path / "kb.jsonl", *({"kb": "2H", "triple": t} for t in KB))
    shared = only(write_lines(tmp_path / "pq.jsonl", row, two, wrong, lost), kb=kb)
    assert shared.question == "What is the nation of Aino Laine's husband?"
    assert asked(shared) == [
        "Who is the spouse of Aino Laine?",
        "What is the nationality of Ove Dahl?",
    ]
    assert shared.answer == "Norway"
    assert ("Ove Dahl", "gender", "Male") in shared.steps[1].page.triples
    with pytest.raises(InputError, match=r"pq\.jsonl:1:path: expected an entity"):
        only(write_lines(tmp_path / "pq.jsonl", row | {"path": []}), kb=kb)
    with pytest.raises(ConfigurationError, match="knowledge graph: set `kb`"):
        only(write_lines(tmp_path / "pq.jsonl", row))


def test_webqsp_bridges_nameless_nodes(tmp_path: Path) -> None:
    case = only(write_lines(tmp_path / "webqsp.jsonl", e.WEBQSP))
    assert case.question == "Who plays aino in salt road?"
    assert case.steps[0].facts == (("Salt Road", "starring actor", "Berta Lind"),)
    assert asked(case) == ["Who plays aino in salt road?"]
    assert not any("m.0" in part for triple in case.steps[0].page.triples for part in triple)
    published = {key: e.WEBQSP[key] for key in ("id", "question")}
    published |= {"answer": e.WEBQSP["answers"], "graph": e.WEBQSP["triples"], "q_entity": ["x"]}
    assert only(write_lines(tmp_path / "rog.jsonl", published)).steps == case.steps
    unreached = e.WEBQSP | {"answers": ["Nobody"]}
    assert list(read_cases(write_lines(tmp_path / "none.jsonl", unreached, e.WEBQSP))) == [case]


def test_arc_as_published_and_shared(tmp_path: Path) -> None:
    case = only(write_lines(tmp_path / "ARC-Easy-Train.jsonl", e.ARC))
    assert case.question == (
        "What do plants take from the air?\nA. iron\nB. carbon dioxide\nC. salt\nD. helium"
    )
    assert (case.answer, case.instruction) == ("B", TASKS["multiple_choice"].instruction)
    shared = {
        "id": "arc-1",
        "set": "arc_easy",
        "question": "What do plants take from the air?",
        "choices": ["iron", "carbon dioxide", "salt", "helium"],
        "answer": "B",
    }
    assert only(write_lines(tmp_path / "mcq.jsonl", shared)) == case


def test_fever(tmp_path: Path) -> None:
    unknown = {"id": 8, "claim": "Ove Dahl likes Halden.", "label": "NOT ENOUGH INFO"}
    path = write_lines(tmp_path / "fever.jsonl", e.FEVER, unknown | {"evidence": []})
    false, open_ = read_cases(path)
    assert (false.question, false.answer) == (e.FEVER["claim"], "false")
    assert ("Aino Laine", "is", "a Finnish director") in false.steps[0].facts
    assert false.steps[0].phrasings == ("What is known about Aino Laine?",)
    assert open_.steps[0].missing
    numbered = e.FEVER | {"evidence": [[[91, 93, "Aino_Laine", 0]]]}
    with pytest.raises(InputError, match=r"raw\.jsonl:1:evidence\[0\]: .*FEVER's own files"):
        only(write_lines(tmp_path / "raw.jsonl", numbered))


def test_qed(tmp_path: Path) -> None:
    case = only(write_lines(tmp_path / "qed.jsonl", e.QED))
    assert case.question == "Who directed the film salt road?"
    assert case.steps[0].facts == (("The film Salt Road", "was directed by", "Aino Laine"),)


def test_rows_of_which_there_is_no_question_are_counted(tmp_path: Path) -> None:
    beyond = e.HOTPOT | {"supporting_facts": [["Lindau", 99], ["Clara Novak", 0]]}
    dropped: Counter[str] = Counter()
    path = write_lines(tmp_path / "hotpot.jsonl", e.HOTPOT, beyond, beyond)
    assert len(list(read_cases(path, dropped=dropped))) == 1
    assert dropped == {UNUSED: 2}
    parts = [e.MUSIQUE["question_decomposition"][0] | {"paragraph_support_idx": 77}]
    path = write_lines(tmp_path / "b.jsonl", e.MUSIQUE | {"question_decomposition": parts})
    assert not list(read_cases(path, dropped=dropped))
    assert dropped == {UNUSED: 3}


STEP = {"question": "q", "answer": "x", "paragraph_support_idx": "0"}


@pytest.mark.parametrize(
    ("row", "field", "value", "place"),
    [
        (e.WIKI2, "context", [["Salt Road", "text"]], r"context\[0\]\[1\]"),
        (e.MUSIQUE, "question_decomposition", [STEP], r"\S*:paragraph_support_idx"),
        (e.HOTPOT, "supporting_facts", [["Lindau", "0"]], r"supporting_facts\[0\]\[1\]"),
        (e.STRATEGY, "answer", "yes", "answer"),
        (e.FEVER, "label", "MAYBE", "label"),
        (e.ARC, "answerKey", "E", "answerKey"),
        (e.WEBQSP, "triples", "x", "triples"),
    ],
)
def test_a_wrong_row_is_told_by_file_line_and_field(
    tmp_path: Path, row: dict[str, Any], field: str, value: Any, place: str
) -> None:
    path = write_lines(tmp_path / "data.jsonl", row, row | {field: value})
    with pytest.raises(InputError, match=rf"data\.jsonl:2:{place}: "):
        list(read_cases(path))
