"""Retrievers: exact encodings, the factorised layer, training that goes on, damaged folders."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.kg.retrievers.batch import Item, Texts, distances, number, place, stack
from ras_flow.kg.retrievers.opening import SHIPPED, open_retriever
from ras_flow.kg.retrievers.triple import SCALE, TripleModel
from ras_flow.kg.subgraph import Subgraph
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.testing import HashEncoder
from ras_flow.training.retriever.config import DataSettings, TrainingConfig
from ras_flow.training.retriever.supervise import supervise
from ras_flow.training.retriever.training import train_retriever
from tests.graph_llm.tiny import save_base
from tests.training.data.examples import write_lines

names = st.sampled_from(["a", "b", "c", "d", "m.0x", "m.0y"])
graphs = st.lists(st.tuples(names, st.sampled_from("xyz"), names), min_size=1, max_size=12)


@given(graphs, names, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_dense_matrices(
    triples: list[tuple[str, str, str]], topic: str, rounds: int
) -> None:
    graph = Subgraph.of(triples, [topic])
    size = len(graph.entities)
    edges = np.zeros((size, size))
    np.add.at(edges, (graph.triples[:, 2], graph.triples[:, 0]), 1)
    start = np.stack([np.arange(size) == graph.topics[0], np.arange(size) != graph.topics[0]], 1)
    expected = [start]
    for matrix in (edges, edges.T):
        mean = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
        expected += [np.linalg.matrix_power(mean, power) @ start for power in range(1, rounds + 1)]
    assert np.allclose(distances(graph, rounds), np.concatenate(expected, 1), atol=1e-6)


@given(st.lists(graphs, min_size=1, max_size=3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_factorised_layer_is_the_plain_one(
    many: list[list[tuple[str, str, str]]], named: bool
) -> None:
    texts, encoder = Texts(), HashEncoder(8)
    subgraphs = [Subgraph.of(triples, ["a"]) for triples in many]
    items = [
        Item(number(f"question {at}", texts), place(graph, texts, 2, named=named))
        for at, graph in enumerate(subgraphs)
    ]
    vectors = asyncio.run(encoder.encode(list(texts)))
    torch.manual_seed(0)
    model = TripleModel(8, hidden=16, entity_text=named)
    if named:
        torch.nn.init.normal_(model.nameless)
    scores = model(**stack(items, vectors))["scores"].detach()

    def entity(item: Item, at: int) -> torch.Tensor:
        row, places = item.graph.entities[at], torch.from_numpy(item.graph.places[at])
        if not named:
            return places
        text = torch.from_numpy(vectors[row]) if row >= 0 else model.nameless[0]
        return torch.cat([text, places])

    def two(item: Item, relation: int) -> torch.Tensor:
        asked, said = torch.from_numpy(vectors[[item.question, item.graph.relations[relation]]])
        return torch.cat([asked, said, SCALE * (asked @ said).unsqueeze(0)])

    rows = [
        torch.cat([two(item, relation), entity(item, head), entity(item, tail)])
        for item in items
        for head, relation, tail in item.graph.triples.tolist()
    ]
    ends = [model.head_place, model.tail_place]
    if named:
        ends = [model.head_text, ends[0], model.tail_text, ends[1]]
    layers = [model.question, model.relation, model.near, *ends]
    first = torch.cat([layer.weight for layer in layers], dim=1)
    hidden = torch.relu(torch.stack(rows) @ first.T + model.question.bias)
    assert torch.allclose(model.out(hidden).squeeze(-1), scores, atol=1e-5)


PEOPLE = ["Ada", "Bea", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea"]
JOBS = ["cook", "nurse", "pilot"]


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of questions about people's spouses: gold facts, and a graph with others beside."""
    home = tmp_path_factory.mktemp("kg")
    facts, questions = [], []
    for at, one in enumerate(PEOPLE):
        other, job = PEOPLE[(at + 5) % len(PEOPLE)], JOBS[at % 3]
        facts += [(one, "spouse", other), (one, "job", job), (one, "friend", PEOPLE[at - 1])]
        questions.append(
            {
                "id": f"q{at}", "question": f"What does the spouse of {one} do?", "graph": "people",
                "entities": [one], "answers": [JOBS[(at + 5) % len(PEOPLE) % 3]],
                "gold": [[one, "spouse", other], [other, "job", JOBS[(at + 5) % len(PEOPLE) % 3]]],
            }
        )  # fmt: skip
    (home / "people.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts))
    (home / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    (home / "mix.toml").write_text(
        'test = 0.1\ndev = 0.3\n[[sets]]\nname = "p"\nquestions = "q.jsonl"\n'
        'graphs = { people = "people.tsv" }\n'
    )
    card = asyncio.run(supervise(home / "mix.toml", home / "labels", "gold", None))
    assert card["refiners"] == {"p": "gold"}
    assert card["against_gold"]["p/train"]["exact"] == 1
    return home


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_base(tmp_path_factory.mktemp("base"))


def config(kind: str, base: Path) -> TrainingConfig:
    return TrainingConfig.model_validate(
        {
            "data": {"sets": ["labels"]},
            "model": {"kind": kind, "hidden": 16, "layers": 2, "base": str(base), "rank": 4},
            "optimizer": {"batch_size": 3, "epochs": 5.0, "learning_rate": 0.01},
            "watch": {"every": 6, "top": 3},
        },
        strict=False,
    )


@pytest.mark.parametrize("kind", ["triple", "entity", "path", "lm"])
def test_stopped_and_resumed_is_the_same_as_unbroken(
    labels: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))
    encoder, stops = HashEncoder(16), 0
    while not train_retriever(
        config(kind, base), tmp_path / "broken", data=labels, seconds=0.0 if stops < 2 else None,
        encoder=encoder,
    ).finished:  # fmt: skip
        stops += 1
    assert stops == 2
    train_retriever(config(kind, base), tmp_path / "whole", data=labels, encoder=encoder)
    one, other = (load_file(tmp_path / name / "model.safetensors") for name in ("broken", "whole"))
    assert all(torch.equal(one[name], other[name]) for name in one)

    retriever = open_retriever(f"local:{tmp_path / 'whole'}", encoder)
    facts = [line.split("\t") for line in (labels / "people.tsv").read_text().splitlines()]
    graph = Subgraph.of([(s, p, o) for s, p, o in facts], ["Ada"])
    [scores] = asyncio.run(retriever.score(["What does the spouse of Ada do?"], [graph]))
    assert scores.shape == (len(graph),)
    if kind in ("triple", "path"):
        assert graph.fact(int(scores.argmax()))[1] in ("spouse", "job")

    if kind != "lm":
        with pytest.raises(ConfigurationError, match="sentence encoder"):
            open_retriever(f"local:{tmp_path / 'whole'}", HashEncoderOfOthers())
    weights = tmp_path / "whole" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8] + b"\0" * 8)
    with pytest.raises(ConfigurationError, match=r"model.safetensors is damaged"):
        open_retriever(f"local:{tmp_path / 'whole'}", encoder)


def test_labels_without_paths_teach_no_retriever_of_paths(labels: Path, tmp_path: Path) -> None:
    for split in ("train", "dev"):
        file = labels / "labels" / f"{split}.jsonl"
        rows = [json.loads(line) | {"paths": []} for line in file.read_text().splitlines()]
        write_lines(tmp_path / f"{split}.jsonl", *rows)
    shutil.copytree(labels / "labels" / "graphs", tmp_path / "graphs")
    settings = config("path", tmp_path).override({"data": DataSettings(sets=(str(tmp_path),))})
    with pytest.raises(InputError, match=r"path, which model\.kind = 'path'"):
        train_retriever(settings, tmp_path / "out", encoder=HashEncoder(16))


def test_the_shipped_retriever_is_small_and_whole() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 4 * 2**20
    assert open_retriever("local:default", LocalSentenceEncoder()).identity


class HashEncoderOfOthers(HashEncoder):
    identity = "testing:another"
