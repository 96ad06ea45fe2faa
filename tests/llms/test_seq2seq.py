"""Encoder-decoders: a tiny random T5, for exactness."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from ras_flow import Context
from ras_flow.errors import ConfigurationError
from ras_flow.llms import LocalLanguageModel, LocalSeq2SeqModel, load_language_model
from ras_flow.parts import Message
from ras_flow.parts.chosen import Parts
from ras_flow.state.schema import Passage
from tests.llms.tiny import save_tiny_model


def save_tiny_t5(folder: Path) -> Path:
    """Save one of byte tokens, whose own settings ask for anything but greedy texts."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate(["<pad>", "</s>", *alphabet])}
    inner = Tokenizer(models.BPE(vocabulary, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="</s>", pad_token="<pad>"
    ).save_pretrained(folder)
    torch.manual_seed(3)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(vocabulary),
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            initializer_factor=4.0,
            decoder_start_token_id=0,
            tie_word_embeddings=False,
        )
    )
    model.generation_config.do_sample = True
    model.generation_config.num_beams = 3
    model.generation_config.temperature = 5.0
    model.generation_config.no_repeat_ngram_size = 1
    model.generation_config.repetition_penalty = 5.0
    model.generation_config.min_length = 20
    model.generation_config.forced_eos_token_id = 1
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_t5(tmp_path_factory.mktemp("t5"))


TEXTS = ["a", "bc " * 9, "what is this? " * 20, "東京" * 30, "x" * 301]


def chat(text: str) -> list[Message]:
    return [{"role": "user", "content": text}]


def reference(folder: Path, text: str, new: int) -> list[int]:
    """Greedy tokens, from the definition: the most likely token, again and again."""
    model = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    ids = PreTrainedTokenizerFast.from_pretrained(folder)(text, return_tensors="pt").input_ids
    written = [0]
    with torch.inference_mode():
        while len(written) <= new and written[-1] != 1:
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([written])).logits
            written.append(int(logits[0, -1].argmax()))
    return written[1:]


async def test_outputs_are_greedy_and_do_not_depend_on_the_batch(folder: Path) -> None:
    model = LocalSeq2SeqModel(str(folder), batch_size=3)
    expected = [reference(folder, text, 30) for text in TEXTS]
    assert len({tuple(tokens[:5]) for tokens in expected}) > 1, "outputs must differ to compare"
    together = await model.generate([chat(text) for text in TEXTS], max_new_tokens=30)
    alone = [(await model.generate([chat(text)], max_new_tokens=30))[0] for text in TEXTS]
    assert together == alone
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    for made, tokens, text in zip(together, expected, TEXTS, strict=True):
        assert made.text == tokenizer.decode(tokens, skip_special_tokens=True)
        assert made.output_tokens == len(tokens)
        assert made.truncated == (tokens[-1] != 1)
        assert made.input_tokens == len(text.encode()) + 1


async def test_concurrent_calls_and_stop_strings(folder: Path) -> None:
    model = LocalSeq2SeqModel(str(folder))
    [whole] = await model.generate([chat("abc")], max_new_tokens=30)
    stop = whole.text[4:6]
    calls = [model.generate([chat(text)], max_new_tokens=30, stop=[stop]) for text in TEXTS]
    cut, *_ = await asyncio.gather(
        model.generate([chat("abc")], max_new_tokens=30, stop=[stop]), *calls
    )
    assert cut[0].text == whole.text[: whole.text.index(stop)]
    assert not cut[0].truncated
    assert await model.generate([], max_new_tokens=5) == []


def test_the_configuration_tells_the_kind_of_model(folder: Path, tmp_path: Path) -> None:
    assert isinstance(load_language_model(f"local:{folder}"), LocalSeq2SeqModel)
    causal = save_tiny_model(tmp_path / "causal")
    assert type(load_language_model(f"local:{causal}")) is LocalLanguageModel
    assert type(load_language_model("local:default")) is LocalLanguageModel


@pytest.mark.parametrize("content", [None, "{", json.dumps([1])])
def test_a_folder_without_a_model_is_told(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigurationError, match="config.json"):
        load_language_model(f"local:{tmp_path}").count_tokens("a")


async def test_it_is_an_extractor_by_name_that_reads_the_passage_alone(folder: Path) -> None:
    extractor = await Parts().get_extractor(Context(extractor=f"local:{folder}"))
    passages = [Passage(id=text[:3], title="T", text=text) for text in TEXTS]
    made = await extractor.extract(passages)
    assert made[0].input_tokens == len("Title: T\nText: a") + 1, "nothing but the passage"
    assert all(one.output_tokens for one in made)
    assert str(folder) in extractor.identity
