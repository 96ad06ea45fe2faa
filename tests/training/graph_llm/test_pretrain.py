"""A graph encoder learns by itself whether a graph suffices."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import torch

from ras_flow.errors import InputError
from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.gnn import GraphEncoder
from ras_flow.parts import AttributedGraph
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Hop, Triple
from ras_flow.training.graph_llm.config import PretrainSettings
from ras_flow.training.graph_llm.data import Examples, plans_for_pretraining
from ras_flow.training.graph_llm.pretrain import LaterPlans, pretrain_graph_encoder
from tests.training.graph_llm.samples import ENCODER, config, records, write_set

NAMES = ["Mira", "Leo", "Ada", "Bo"]


class Alone:
    """As much of a Graph LLM as learns here."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.encoder = GraphEncoder(GnnConfig(hidden=32, heads=2, queries=True), 8)


def asked_for(name: str, found: str) -> AttributedGraph:
    """Return the graph of one search: whom it asked for, and whom it found."""
    from ras_flow.graph_llm.attributes import attribute_graph

    fact = Triple(subject=found, predicate="born in", object="Oulu", passages=["p"])
    hop = Hop(index=0, subquery=name, passages=["p"], scores=[1.0])
    return asyncio.run(attribute_graph({triple_id(found, "born in", "Oulu"): fact}, [hop], ENCODER))


def test_what_depends_on_the_question_is_learnt_from_the_question() -> None:
    """Each name is found as often when it was asked for as when another one was."""
    lines: list[str] = []
    plans = [
        (asked_for(name, NAMES[(at + shift) % 4]), shift == 0)
        for at, name in enumerate(NAMES)
        for shift in (0, 0, 0, 1, 2, 3)
    ]
    said = pretrain_graph_encoder(
        Alone(),  # type: ignore[arg-type]
        plans,
        plans,
        PretrainSettings(epochs=40, learning_rate=5e-3, batch_size=8),
        seed=1,
        log=lines.append,
    )
    right = sum((one > 0) == label for one, (_, label) in zip(said, plans, strict=True))
    assert right == len(plans)
    assert lines[-1].endswith(f"pass 40 over 24 plans: {right} of 24 others right")


def test_the_graph_encoder_may_learn_from_more_plans_than_the_rest(
    base: Path, tmp_path: Path
) -> None:
    rows = records(6)
    write_set(tmp_path / "set", rows[:4], rows[4:8])
    write_set(tmp_path / "more", rows[8:] + rows[:4])
    write_set(tmp_path / "first", rows[8:9])

    def plans(name: str) -> Examples:
        settings = config(base, pretrain={"epochs": 1, "sets": (name,)})
        return plans_for_pretraining(settings, tmp_path, Examples([], None), ENCODER, print)

    assert len(LaterPlans(plans("more"))) == 10, "two of each of five people"
    with pytest.raises(InputError, match="No plans after a search in first"):
        plans("first")
    measured = json.dumps({**rows[4], "split": "test", "question": "Where was p9  born?"})
    (tmp_path / "set" / "test.jsonl").write_text(measured + "\n")
    write_set(tmp_path / "more", [*rows[8:], {**rows[9], "question": "Where was P9 born?"}])
    with pytest.raises(InputError, match="plan-2-1 in train, plan-1-0 in test"):
        plans("more")
