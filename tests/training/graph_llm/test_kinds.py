"""Every kind of graph encoder and several types of base: trained, saved, and loaded the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.training.graph_llm import training
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.graph_llm.evaluate import evaluate_graph_llm
from ras_flow.training.graph_llm.training import train_graph_llm
from recipes.graph_llm.config import MixConfig, Source
from recipes.graph_llm.mix import write_mix
from tests.graph_llm.tiny import save_base
from tests.recipes.graph_llm.test_mix import choice, film
from tests.training.data.examples import write_lines
from tests.training.graph_llm.samples import ENCODER, config


@pytest.fixture(scope="module")
def bases(base: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    others = {kind: save_base(tmp_path_factory.mktemp(kind), kind) for kind in ("qwen2", "gpt2")}
    return {"llama": base, **others}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What trained models write, right before they are saved."""
    texts: list[list[str]] = []
    write_folder = training.write_folder

    def spy(folder: Path, model: GraphLLM, settings: Any, report: Any) -> None:
        data = settings.data.sets[0]
        texts.append(texts_of(model, Path(data)))
        write_folder(folder, model, settings, report)

    monkeypatch.setattr(training, "write_folder", spy)
    return texts


def texts_of(model: GraphLLM, data: Path, shuffle: int | None = None) -> list[str]:
    records = read_split([data], "train")[:4]
    return evaluate_graph_llm(model, records, encoder=ENCODER, shuffle=shuffle).texts


def train(base: Path, data: Path, output: Path, **changes: Any) -> GraphLLM:
    settings = config(
        base,
        data={"sets": (str(data),)},
        optimizer={"steps": 2},
        watch={"records": 2, "generate": 0, "dtype": "float32"},
        **changes,
    )
    assert train_graph_llm(settings, output, encoder=ENCODER).finished
    return load_graph_llm(output)


@pytest.mark.parametrize(
    ("kind", "gnn"),
    [
        ("llama", {"kind": "gcn", "tokens": "per_hop"}),
        ("qwen2", {"kind": "gat", "tokens": "per_hop"}),
        ("gpt2", {"kind": "gcn", "scope": "merged", "tokens": "per_hop"}),
    ],
)
def test_what_is_loaded_writes_what_was_trained(
    bases: dict[str, Path],
    data: Path,
    tmp_path: Path,
    written: list[list[str]],
    kind: str,
    gnn: dict[str, str],
) -> None:
    lora = {"targets": "all-linear"} if kind == "gpt2" else {}
    loaded = train(bases[kind], data / "set", tmp_path / "out", gnn=gnn, lora=lora)
    assert {name: getattr(loaded.config.gnn, name) for name in gnn} == gnn
    assert [texts_of(loaded, data / "set")] == written
    assert [texts_of(loaded, data / "set", shuffle=1)] != written, "the graphs are not read"


def test_passages_without_a_graph(base: Path, tmp_path: Path, written: list[list[str]]) -> None:
    write_lines(tmp_path / "films.jsonl", *map(film, range(6)))
    write_lines(tmp_path / "choices.jsonl", *map(choice, range(6)))
    sources = tuple(Source(file=tmp_path / f"{name}.jsonl") for name in ("films", "choices"))
    out = tmp_path / "set"
    write_mix(MixConfig(sources=sources, dev=0.3, test=0.1, as_text=True), out)
    links = [link for one in read_split([out], "train") for link in one["chain"]]
    assert any(link["passages"] for link in links)
    loaded = train(base, out, tmp_path / "out", model={"without": ("graph",)})
    assert loaded.config.gnn is None
    assert [texts_of(loaded, out)] == written
