"""Checkpoints: all that was trained and nothing else, whole or refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_graph_llm, load_weights, save_graph_llm
from ras_flow.graph_llm.manifest import Manifest, read_manifest
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.llms.local.adapter import merge_adapter
from ras_flow.llms.local.generation import end_tokens
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.parts import PlanRequest
from tests.graph_llm.tiny import BRIDGE, build, chain, graph, save_base

REQUEST = PlanRequest("Where was she born?", chain(*BRIDGE), graph(*BRIDGE))


def text(model: GraphLLM) -> str:
    prompt = model.formatter.prompt(REQUEST)
    [made] = model.generate([prompt], [REQUEST.graph], max_new_tokens=20)
    return made.text


@pytest.fixture(scope="module")
def model(llama: Path) -> GraphLLM:
    made = build(llama, seed=3)
    torch.nn.init.normal_(made.encoder.empty)
    return made


@pytest.fixture(scope="module")
def saved(model: GraphLLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "graph-llm"
    save_graph_llm(model, folder, card={"Seed": 3, "Data | more": "a\nb"})
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def trainable(folder: Path, **changes: Any) -> GraphLLM:
    """Load a checkpoint as training goes on from it."""
    made = build(Path(read_manifest(folder).config.base), seed=5, **changes)
    load_weights(made, folder)
    return made


def edit(folder: Path, change: dict[str, Any]) -> None:
    """Change a description; ``config.gnn`` names what is inside the configuration."""
    path = folder / "graph_llm.json"
    values = json.loads(path.read_text())
    for name, value in change.items():
        where, _, key = name.rpartition(".")
        (values[where] if where else values)[key] = value
    path.write_text(json.dumps(values))


def test_what_is_loaded_writes_the_same(model: GraphLLM, saved: Path) -> None:
    expected = text(model)
    assert text(build(Path(model.config.base), seed=4)) != expected
    used, trained = load_graph_llm(saved), trainable(saved)
    assert text(used) == text(trained) == expected
    for name, weight in model.named_parameters():
        assert torch.equal(weight, trained.get_parameter(name)), name
        assert weight.requires_grad == trained.get_parameter(name).requires_grad
    assert not any(weight.requires_grad for weight in used.parameters())


def test_a_base_in_bfloat16_stays_so_and_what_is_trained_is_float32(
    llama: Path, saved: Path, tmp_path: Path
) -> None:
    model = build(llama, dtype="bfloat16")
    save_graph_llm(model, tmp_path / "half")
    used = load_graph_llm(tmp_path / "half")
    trained = trainable(tmp_path / "half", dtype="bfloat16")
    assert used.base.dtype == trained.base.dtype == torch.bfloat16
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            assert weight.dtype == torch.float32
            assert torch.equal(weight, trained.get_parameter(name)), name
    assert "dtype" not in read_manifest(saved).to_mapping()["config"], "an older one has no dtype"


@pytest.fixture
def ending(saved: Path, tmp_path: Path) -> Path:
    """A Graph LLM that ends its texts with token 9."""
    folder = Path(shutil.copytree(saved, tmp_path / "ending"))
    end = load_tokenizer(read_manifest(saved).config.base).convert_ids_to_tokens(9)
    edit(folder, {"end": end})
    return folder


@pytest.mark.parametrize("order", [(0, 9), (9, 0)])
def test_the_end_of_one_is_no_other_models(
    saved: Path, ending: Path, llama: Path, order: tuple[int, int]
) -> None:
    folders = {0: saved, 9: ending}
    loaded = {end: load_graph_llm(folders[end]) for end in order}
    for end, model in loaded.items():
        assert model.tokenizer.eos_token_id == model.formatter.target("yes")[-1] == end
        # The base's own settings end a text with 0 in any case.
        assert end_tokens(model.base, model.tokenizer) == {0, end}
        assert SharedGraphLLM(folders[end]).formatter.target("yes")[-1] == end
    begun = build(llama)
    assert begun.formatter.target("yes")[-1] == 0
    load_weights(begun, ending)
    assert begun.formatter.target("yes")[-1] == 9
    assert load_tokenizer(str(llama)).eos_token_id == 0


def test_the_bases_weights_are_never_saved(model: GraphLLM, saved: Path) -> None:
    assert sorted(path.name for path in saved.iterdir()) == [
        "README.md", "adapter_config.json", "adapter_model.safetensors", "gnn.safetensors",
        "graph_llm.json",
    ]  # fmt: skip
    card = (saved / "README.md").read_text()
    assert r"| Data \| more | a b |" in card and "testing:encoder" in card
    kept = {
        name
        for file in ("adapter_model.safetensors", "gnn.safetensors")
        for name in safetensors.torch.load_file(saved / file)
    }
    trained = {name for name, p in model.named_parameters() if p.requires_grad}
    assert kept == {name.removeprefix("lm.").replace(".default", "") for name in trained}


def test_the_adapter_is_one_that_peft_loads(model: GraphLLM, saved: Path) -> None:
    import peft
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(model.config.base, dtype=torch.float32)
    plain = peft.PeftModel.from_pretrained(base, str(saved)).eval()
    ids = torch.arange(20, 40).unsqueeze(0)
    with torch.no_grad():
        expected = model.eval().lm(ids).logits
        torch.testing.assert_close(plain(ids).logits, expected)
        merged = load_graph_llm(saved).lm(ids).logits
        torch.testing.assert_close(merged, expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    "more", [{"use_rslora": True}, {"alpha_pattern": {"q_proj": 2}}, {"use_dora": True}]
)
def test_an_adapter_that_is_more_than_plain_lora_is_not_merged_wrongly(
    llama: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    import peft

    settings = peft.LoraConfig(r=2, target_modules=["q_proj"], **more)
    peft.get_peft_model(read_model(str(llama)), settings).save_pretrained(tmp_path)
    with pytest.raises(ConfigurationError, match="plain LoRA"):
        merge_adapter(read_model(str(llama)), tmp_path)


def test_a_killed_save_leaves_the_earlier_checkpoint(
    model: GraphLLM, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    before = read_manifest(copy).identity
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "write", killed)
        for folder in (copy, copy.with_name("new")):
            with pytest.raises(KeyboardInterrupt):
                save_graph_llm(model, folder)
    assert read_manifest(copy).identity == before
    assert not list(copy.parent.glob("*new*"))
    save_graph_llm(model, copy.with_name("new"))
    assert text(load_graph_llm(copy.with_name("new"))) == text(model)


@pytest.mark.parametrize(
    "name", ["adapter_model.safetensors", "gnn.safetensors", "adapter_config.json"]
)
def test_missing_and_damaged_files_are_named_before_the_base_is_read(copy: Path, name: str) -> None:
    edit(copy, {"config.base": "/nowhere"})
    content = bytearray((copy / name).read_bytes())
    content[-3] ^= 1
    for damaged in (content, content[:-10], None):
        if damaged is None:
            (copy / name).unlink()
        else:
            (copy / name).write_bytes(damaged)
        with pytest.raises(ConfigurationError, match=name):
            load_graph_llm(copy)


@pytest.mark.parametrize("content", ["{", "[]", "{}", "[" * 100_000, None])
def test_damaged_or_missing_descriptions(copy: Path, content: str | None) -> None:
    if content is None:
        (copy / "graph_llm.json").unlink()
    else:
        (copy / "graph_llm.json").write_text(content)
    with pytest.raises(ConfigurationError, match="graph_llm.json"):
        load_graph_llm(copy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 99}, "99"),
        ({"prompt": 99}, "99"),
        ({"config": []}, "config"),
        ({"base": None}, "base"),
        ({"config.encoder": None}, "encoder"),
        ({"config.gnn": {"colour": "red"}}, "colour"),
        ({"config.gnn": {"hidden": 32}}, "do not fit"),
        ({"config.base": "/gone"}, "/gone"),
        ({"end": "<|over|>"}, "over"),
    ],
)
def test_descriptions_that_say_something_else(
    copy: Path, change: dict[str, Any], said: str
) -> None:
    edit(copy, change)
    with pytest.raises(ConfigurationError, match=said):
        load_graph_llm(copy)


def test_another_base_is_refused(copy: Path, bases: dict[str, Path], tmp_path: Path) -> None:
    gpt2 = save_base(tmp_path / "gpt2", "gpt2")
    for base, kind in ((bases["qwen2"], "qwen2"), (gpt2, "gpt2")):
        edit(copy, {"config.base": str(base)})
        with pytest.raises(ConfigurationError, match=f"model_type {kind} instead of llama"):
            load_graph_llm(copy)


def test_half_precision_halves_the_size(model: GraphLLM, saved: Path, tmp_path: Path) -> None:
    save_graph_llm(model, tmp_path / "half", dtype="float16")
    for name in ("adapter_model.safetensors", "gnn.safetensors"):
        assert (tmp_path / "half" / name).stat().st_size < 0.65 * (saved / name).stat().st_size
    loaded = trainable(tmp_path / "half")
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            found = loaded.get_parameter(name)
            assert found.dtype == torch.float32
            torch.testing.assert_close(found, weight, atol=1e-3, rtol=1e-3)


def test_what_half_precision_cannot_hold_stays_as_it_is(llama: Path, tmp_path: Path) -> None:
    large = build(llama, seed=3, lora=None)
    torch.nn.init.constant_(large.projector.inner.bias, 1e6)
    save_graph_llm(large, tmp_path / "large", dtype="float16")
    bias = load_graph_llm(tmp_path / "large").projector.inner.bias
    assert torch.equal(bias, torch.full_like(bias, 1e6))


def test_a_later_checkpoint_replaces_an_earlier(llama: Path, copy: Path) -> None:
    before = read_manifest(copy).identity
    other = build(llama, seed=9)
    save_graph_llm(other, copy)
    assert read_manifest(copy).identity != before
    assert text(load_graph_llm(copy)) == text(other)
    assert [path.name for path in copy.parent.iterdir() if path.name != "home"] == ["copy"]


def test_other_files_are_not_overwritten(model: GraphLLM, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigurationError, match="new folder"):
        save_graph_llm(model, tmp_path)
    assert (tmp_path / "thesis.txt").exists()
