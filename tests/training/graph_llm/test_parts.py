"""The mix, the graphs and the samples that a training run is made of."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import RunError
from ras_flow.graph_llm.attributes import attribute_graph
from ras_flow.graph_llm.manifest import read_manifest
from ras_flow.support.validation import read_toml
from ras_flow.testing import HashEncoder
from ras_flow.training.data.requests import as_graph
from ras_flow.training.graph_llm.config import MixSettings, TrainingConfig
from ras_flow.training.graph_llm.data import Examples
from ras_flow.training.graph_llm.graphs import build_graphs
from ras_flow.training.graph_llm.mixing import Mixed, kind_of
from tests.training.graph_llm.samples import ENCODER, records

ROWS: list[Any] = records(10)


def mixed(step: int = 4, seed: int = 1, rows: Any = None, **settings: float) -> Mixed:
    rows = rows or ROWS
    return Mixed(rows, [1] * len(rows), MixSettings(**settings), step=step, seed=seed)


def epoch(order: Mixed, number: int) -> list[int]:
    order.set_epoch(number)
    return list(order)


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.integers(1, 9), st.integers(0, 5))
def test_each_kind_is_seen_as_often_as_the_mix_says(
    plan: float, answer: float, step: int, number: int
) -> None:
    order = mixed(step, plan=plan, answer=answer, first_subq=0.2)
    drawn = epoch(order, number)
    seen = Counter(kind_of(ROWS[at]) for at in drawn)
    assert seen == +Counter(plan=round(20 * plan), answer=round(10 * answer), first_subq=2)
    assert len(order) == len(drawn) and epoch(order, number) == drawn


def test_temperature_evens_out_sources() -> None:
    rows = records(16) + [{**row, "source": "small"} for row in records(1)]
    counts = {t: mixed(rows=rows, temperature=t).counts for t in (1, 2, 1e6)}
    answers = {t: (c["places", "answer"], c["small", "answer"]) for t, c in counts.items()}
    assert answers[1] == (16, 1)
    assert 1 < answers[2][1] < answers[1e6][1] and answers[2][0] > answers[1e6][0]
    assert answers[1e6][0] == answers[1e6][1]


def test_graphs_are_those_of_inference(tmp_path: Path) -> None:
    built = build_graphs(ROWS, ENCODER, tmp_path)
    for at, row in enumerate(ROWS):
        expected = asyncio.run(attribute_graph(*as_graph(row), ENCODER))
        found = built[at]
        assert (found.nodes, found.edges, found.hops) == (
            expected.nodes,
            expected.edges,
            expected.hops,
        )
        assert found.encoder == expected.encoder
        for name in ("node_attr", "edge_attr", "edge_index", "query_attr"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name).dtype == getattr(expected, name).dtype


class Counting(HashEncoder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[str] = []

    async def encode(self, texts: Any) -> Any:
        self.asked += texts
        return await super().encode(texts)


def test_each_text_is_embedded_once_and_kept_on_disk(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    built = build_graphs(ROWS, first, tmp_path)
    assert sorted(first.asked) == sorted(set(first.asked)) and "born in" in first.asked
    again = build_graphs(ROWS, second, tmp_path)
    assert second.asked == []
    np.testing.assert_array_equal(built.vectors, again.vectors)
    other = Counting()
    other.identity = "testing:other"  # type: ignore[misc]
    build_graphs(ROWS, other, tmp_path)
    assert sorted(other.asked) == sorted(first.asked)


class Doubles(HashEncoder):
    """Gives vectors of another type than it should, and at first of another length."""

    size = 4

    async def encode(self, texts: Any) -> Any:
        return (await super().encode(texts))[:, : self.size].astype(np.float64)


def test_vectors_of_another_form_are_not_kept(tmp_path: Path) -> None:
    encoder = Doubles(8)
    with pytest.raises(ValueError, match="reshape"):
        build_graphs(ROWS, encoder, tmp_path)
    encoder.size = 8
    expected = build_graphs(ROWS, HashEncoder(8), tmp_path / "other").vectors
    for _ in range(2):
        np.testing.assert_array_equal(build_graphs(ROWS, encoder, tmp_path).vectors, expected)


def test_damaged_vectors_are_named(tmp_path: Path) -> None:
    build_graphs(ROWS, Counting(), tmp_path)
    [file] = tmp_path.glob("*.sqlite")
    file.write_bytes(b"not a database" * 100)
    with pytest.raises(RunError, match="remove that file"):
        build_graphs(ROWS, Counting(), tmp_path)


def test_an_example_is_what_inference_asks() -> None:
    examples = Examples(ROWS, build_graphs(ROWS, ENCODER))
    plain = Examples(ROWS, None)
    assert examples[2].request.graph is not None and plain[2].request.graph is None
    assert replace(examples[2].request, graph=None) == plain[2].request
    assert [examples[at].target for at in range(4)] == [
        "[SUBQ] it",
        "[SUBQ] P0?",
        "[SUFFICIENT]",
        "Narvik",
    ]


def test_the_shipped_settings_can_be_read() -> None:
    folder = Path(__file__).parents[3] / "recipes" / "configs"
    for file in folder.glob("graph-llm*.toml"):
        if "mix" not in file.name:
            read_toml(file, TrainingConfig)
    settings = read_toml(folder / "graph-llm.toml", TrainingConfig)
    made_of = ("data", "reading-data", "played-data", "on-policy-data")
    assert set(settings.data.sets) == {f"graph-llm-{name}" for name in made_of}
    made = settings.graph_llm("e", 384)
    shipped = read_manifest(folder.parents[1] / "ras_flow" / "weights" / "graph-llm").config
    assert (made.gnn, made.lora, made.reading) == (shipped.gnn, shipped.lora, shipped.reading)


def test_what_is_sampled_down_is_seen_in_time() -> None:
    order = mixed(first_subq=0.3, plan=0, answer=0)
    epochs = [epoch(order, number) for number in range(4)]
    assert [len(one) for one in epochs] == [3, 3, 3, 3]
    assert len({at for one in epochs for at in one}) == 10
    assert epochs[0] != epochs[1]
    assert [epoch(mixed(first_subq=0.3, plan=0, answer=0), n) for n in range(4)] == epochs
    assert epoch(mixed(first_subq=0.3, plan=0, answer=0, seed=2), 0) != epochs[0]


def test_only_the_plan_that_asks_the_question_counts_as_a_first_one() -> None:
    first, later = ROWS[:2]
    known = {**first, "target": {"label": "NO_RETRIEVAL"}}
    assert first["target"]["label"] == later["target"]["label"] == "SUBQ" and later["chain"]
    assert [kind_of(row) for row in (first, later, known)] == ["first_subq", "plan", "plan"]
