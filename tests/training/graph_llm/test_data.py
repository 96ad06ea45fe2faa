"""Data sets that a training refuses, before it does anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import InputError
from ras_flow.training.graph_llm.data import load_data, plans_for_pretraining
from ras_flow.training.graph_llm.evaluate import evaluate
from tests.training.graph_llm.samples import ENCODER, config, record, records, train, write_set


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": "sing"}, "train.jsonl:2: task"),
        ({"split": "dev"}, "train.jsonl:2: split"),
        ({"target": {"label": "SUBQ", "subquery": "?!"}}, "train.jsonl:2: target: subquery"),
        ({"question": "why " * 300}, "question of plan-0-0"),
    ],
)
def test_wrong_records_are_told_by_file_and_line(
    base: Path, tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    good = records(1)
    write_set(tmp_path / "set", [good[1], good[0] | changes])
    with pytest.raises(InputError, match=said):
        train(base, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out.run").exists()


def test_nothing_to_learn_is_told(base: Path, tmp_path: Path) -> None:
    write_set(tmp_path / "set", [])
    with pytest.raises(InputError, match="No records to train on"):
        load_data(config(base), tmp_path)


@pytest.mark.parametrize("sets", [("set",), ("set", "more")])
@pytest.mark.parametrize(
    ("contrary", "said"),
    [
        (record(4, "answer", {"answer": "Bodø"}), "two splits: .*answer-4-0 in "),
        (record(0, "plan", {"label": "NO_RETRIEVAL"}), "plan-0-0 says .*says '.NO_RETR"),
        (record(1, "plan", {"label": "SUFFICIENT"}, []), "plan-1-1 says .*says '.SUFF"),
        (
            record(1, "answer", {"answer": "Bodø"}, [["p1", "Met", "bo"],
                                                     ["P1", "born in", "Oulu"]]),
            "answer-1-1 says 'oulu', .*says 'bod",
        ),
    ],
)  # fmt: skip
def test_one_question_is_in_one_split_and_one_input_has_one_label(
    base: Path, tmp_path: Path, sets: tuple[str, ...], contrary: dict[str, Any], said: str
) -> None:
    rows = [records(), [contrary]]
    for name, some in zip(sets, rows if len(sets) > 1 else [sum(rows, [])], strict=True):
        write_set(tmp_path / name, some, records(1, first=4))
    with pytest.raises(InputError, match=said):
        load_data(config(base, data={"sets": sets}), tmp_path)


def test_what_is_tested_on_is_not_learnt(base: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_set(tmp_path / name, records(1))
    tested = json.dumps(records(1, split="test")[3]) + "\n"
    (tmp_path / "other" / "test.jsonl").write_text(tested)
    with pytest.raises(InputError, match="plan-0-0 in train, answer-0-1 in test"):
        load_data(config(base, data={"sets": ("one", "other")}), tmp_path)


def test_a_half_replaced_data_set_is_refused(base: Path, unbroken: Path, tmp_path: Path) -> None:
    for name in ("set", "more"):
        write_set(tmp_path / name, records(), records(2, first=4))
        (tmp_path / name / "stats.json").unlink()
    settings = config(base, pretrain={"sets": ("more",), "epochs": 1})
    with pytest.raises(InputError, match="more is not a complete data set"):
        plans_for_pretraining(settings, tmp_path, [], ENCODER, print)  # type: ignore[arg-type]
    for use in (
        lambda: load_data(settings, tmp_path),
        lambda: evaluate(settings, str(unbroken), data=tmp_path, encoder=ENCODER),
    ):
        with pytest.raises(InputError, match="set is not a complete data set"):
            use()
