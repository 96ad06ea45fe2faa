"""`ras-flow export`: a plain model and the client's part, whole or not there."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_graph_llm, save_graph_llm
from ras_flow.graph_llm.embedder import PromptEmbedder
from ras_flow.graph_llm.export import PART, WORDS, export_graph_llm, read_export
from ras_flow.graph_llm.manifest import GNN
from ras_flow.graph_llm.served import ServedGraphLLM
from ras_flow.parts import PlanRequest
from tests.cli.command import ras_flow
from tests.graph_llm.tiny import APART, BRIDGE, build, chain, graph

REQUESTS = [
    PlanRequest("Where was she born?", chain(*BRIDGE), graph(*BRIDGE)),
    PlanRequest("Why?"),
    PlanRequest("Why?", chain(*APART), graph(*APART)),
]


@pytest.fixture(scope="module")
def trained(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = build(llama, seed=3)
    torch.nn.init.normal_(made.encoder.empty)
    folder = tmp_path_factory.mktemp("trained") / "graph-llm"
    save_graph_llm(made, folder)
    return folder


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "new" / "export"
    export_graph_llm(f"local:{trained}", folder)
    return folder


def test_a_plain_model_and_the_clients_part_alone_write_the_same(
    trained: Path, exported: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported / PART, tmp_path / PART)
    source = load_graph_llm(trained)
    served = ServedGraphLLM(tmp_path, base_url="http://localhost:1/v1")
    prompts = [served.formatter.prompt(request) for request in REQUESTS]
    graphs = [request.graph for request in REQUESTS]
    expected = [one.text for one in source.generate(prompts, graphs, max_new_tokens=24)]
    assert len(set(expected)) == len(expected)
    embedder = PromptEmbedder(read_export(tmp_path), tmp_path)
    plain = AutoModelForCausalLM.from_pretrained(exported, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(exported)
    for prompt, given, text in zip(prompts, graphs, expected, strict=True):
        ids = torch.tensor([prompt.input_ids])
        embedded = embedder.embed(prompt, given)
        assert torch.equal(embedded, source.embed(ids, [given])[0])
        written = plain.generate(
            inputs_embeds=embedded[None],
            attention_mask=torch.ones(1, len(embedded)),
            max_new_tokens=24,
        )[0]
        assert tokenizer.decode(written, skip_special_tokens=True).startswith(text)


def test_a_server_finds_no_weights_but_the_models(exported: Path) -> None:
    """vLLM loads every *.safetensors beside the model's own."""
    assert [path.name for path in exported.glob("*.safetensors")] == ["model.safetensors"]
    assert not any("lora" in name for name in safetensors.torch.load_file(
        exported / "model.safetensors"
    ))  # fmt: skip
    assert json.loads((exported / "generation_config.json").read_text()).get("do_sample") is None
    for path in exported.rglob("*.safetensors"):
        assert path.stat().st_mode & 0o777 == 0o644


def test_folders_that_are_in_use_are_left_alone(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    for folder in (".", str(tmp_path), "/", "out"):
        with pytest.raises(ConfigurationError, match="Name a new folder"):
            export_graph_llm(f"local:{trained}", Path(folder))
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine.txt"]
    assert list(tmp_path.parent.glob("*.unfinished")) == []


@pytest.mark.parametrize(
    ("where", "error", "said"),
    [
        ("safetensors.torch.save_file", OSError(errno.ENOSPC, "No space left"), "No space left"),
        (
            "ras_flow.graph_llm.export.load_graph_llm",
            torch.OutOfMemoryError("CUDA out of memory"),
            "CUDA_VISIBLE_DEVICES",
        ),
    ],
    ids=["full disk", "small GPU"],
)
def test_nothing_is_left_of_a_failed_export(
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    error: Exception,
    said: str,
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(where, fails)
    with pytest.raises(ConfigurationError, match=said):
        export_graph_llm(f"local:{trained}", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [WORDS, GNN])
def test_a_damaged_client_part_is_refused(exported: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(exported, tmp_path / "copy"))
    data = bytearray((copy / PART / name).read_bytes())
    data[-1] ^= 1
    (copy / PART / name).write_bytes(data)
    with pytest.raises(ConfigurationError, match="damaged.*export"):
        PromptEmbedder(read_export(copy), copy)
    (copy / PART / name).unlink()
    with pytest.raises(ConfigurationError, match="missing"):
        PromptEmbedder(read_export(copy), copy)


def test_the_command_says_how_to_serve(trained: Path, tmp_path: Path) -> None:
    done = ras_flow("export", str(trained), "--out", str(tmp_path / "out"))
    served = read_export(tmp_path / "out").served_name
    assert done.out.split() == [
        "vllm", "serve", str(tmp_path / "out"), "--served-model-name", served,
        "--dtype", "float32", "--enable-prompt-embeds",
    ]  # fmt: skip
    again = ras_flow("export", str(trained), "--out", str(tmp_path / "out"))
    assert again.code == 1 and "not empty" in again.err
    assert "Traceback" not in again.err
    other = ras_flow("export", str(tmp_path), "--out", str(tmp_path / "new"))
    assert other.code == 1 and "does not name a Graph LLM" in other.err


def test_other_weights_have_another_name(llama: Path, exported: Path, tmp_path: Path) -> None:
    save_graph_llm(build(llama, seed=4), tmp_path / "other")
    name = f"local:{tmp_path / 'other'}"
    other = export_graph_llm(name, tmp_path / "a")
    half = export_graph_llm(name, tmp_path / "b", dtype="bfloat16")
    names = {read_export(exported).served_name, other.served_name, half.served_name}
    assert len(names) == 3
    words = safetensors.torch.load_file(tmp_path / "b" / PART / WORDS)["words"]
    assert words.dtype == torch.bfloat16
    assert safetensors.torch.load_file(tmp_path / "b" / PART / GNN)["encoder.empty"].dtype == (
        torch.float32
    )
    size = (tmp_path / "b" / "model.safetensors").stat().st_size
    assert size < 0.6 * (tmp_path / "a" / "model.safetensors").stat().st_size
