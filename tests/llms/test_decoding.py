"""Decoding with guesses: the same tokens as one at a time, in fewer readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from ras_flow.llms.local import decoding
from ras_flow.llms.local.text import Lookup

WORDS = 12
MOST = 48
"""Positions of the models."""

WIDE: dict[str, Any] = {
    "vocab_size": WORDS,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": MOST,
    "initializer_range": 0.6,
}


def llama() -> Any:
    return LlamaForCausalLM(LlamaConfig(**WIDE))


def qwen() -> Any:
    return Qwen2ForCausalLM(Qwen2Config(**WIDE))


def gpt2() -> Any:
    """Positions are learnt: there is none beyond the last."""
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=WORDS,
            n_embd=16,
            n_layer=2,
            n_head=4,
            n_positions=MOST,
            initializer_range=0.6,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


@pytest.fixture(scope="module", params=[llama, qwen, gpt2], ids=lambda make: make.__name__)
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(3)
    return request.param().eval()


@torch.inference_mode()
def one_at_a_time(model: Any, prompt: Sequence[int], new: int, end: int) -> list[int]:
    """Read the whole text again for each token."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + new and (len(tokens) == len(prompt) or tokens[-1] != end):
        tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[len(prompt) :]


prompts = st.lists(
    st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=16), min_size=1, max_size=4
)


HEAD = [1, 2, 3, 4]


def in_a_batch(model: Any, prompts: list[list[int]], shared: int, **how: Any) -> list[list[int]]:
    """Write all texts together, with so much of their beginning in common."""
    head = HEAD[:shared]
    prefix = decoding.read_prefix(model, head) if head else None
    return decoding.greedy(model, prefix, prompts, words=prompts, **how)


@given(prompts, st.integers(1, 12), st.integers(0, WORDS - 1), st.integers(0, 4))
@settings(max_examples=25, deadline=None)
def test_guesses_change_nothing(
    model: Any, prompts: list[list[int]], new: int, end: int, shared: int
) -> None:
    written = in_a_batch(
        model,
        prompts,
        shared,
        max_new_tokens=new,
        has_ended=lambda row, tokens: tokens[-1] == end,
    )
    asked = [[*HEAD[:shared], *one] for one in prompts]
    assert written == [one_at_a_time(model, one, new, end) for one in asked]


BY_COLUMN: dict[str, dict[str, Any]] = {
    "bloom": {"hidden_size": 16, "n_layer": 2, "n_head": 4},
    "falcon": {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "alibi": True,
    },
    "gpt_neo": {
        "hidden_size": 16,
        "num_layers": 2,
        "num_heads": 4,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 4,
    },
    "mpt": {"d_model": 16, "n_layers": 2, "n_heads": 4},
}
KINDS = [*BY_COLUMN.items(), ("falcon", {**BY_COLUMN["falcon"], "alibi": False})]


@pytest.mark.parametrize(("kind", "sizes"), KINDS)
def test_models_with_attention_of_their_own(kind: str, sizes: dict[str, Any]) -> None:
    torch.manual_seed(4)
    config = AutoConfig.for_model(kind, vocab_size=WORDS, initializer_range=0.6, **sizes)
    model = AutoModelForCausalLM.from_config(config).eval()
    prompts = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [4], [5, 1, 5, 1], [2, 7, 1, 8, 2, 8]]
    head = [1, 2, 3]
    share = decoding.can_share(model)
    written = decoding.greedy(
        model,
        decoding.read_prefix(model, head) if share else None,
        prompts if share else [[*head, *prompt] for prompt in prompts],
        max_new_tokens=10,
        has_ended=lambda row, tokens: row == 0 and len(tokens) > 4,
        words=prompts,
    )
    expected = [one_at_a_time(model, [*head, *prompt], 10, -1) for prompt in prompts]
    assert written == [expected[0][:5], *expected[1:]]


@pytest.mark.parametrize("kind", ["sdpa", "eager"])
def test_keys_are_read_where_they_are_and_the_model_is_left_as_it_was(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(3)
    model = llama().eval()
    model.set_attn_implementation(kind)
    attend, heads = torch.nn.functional.scaled_dot_product_attention, set()

    def watch(query: Any, key: Any, *args: Any, **how: Any) -> Any:
        heads.add(key.shape[1])
        return attend(query, key, *args, **how)

    prompts = [[1, 2, 3, 1, 2], [4, 5, 4]]

    def decode(has_ended: Any) -> list[list[int]]:
        return decoding.greedy(
            model, None, prompts, max_new_tokens=12, has_ended=has_ended, words=prompts
        )

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watch)
    written = decode(lambda row, tokens: bool(len(tokens) == 1 and heads.clear()))
    assert heads == ({WIDE["num_key_value_heads"]} if kind == "sdpa" else set())
    assert written == [one_at_a_time(model, prompt, 12, -1) for prompt in prompts]

    def fail(row: int, tokens: list[int]) -> bool:
        if len(tokens) > 1:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        decode(fail)
    assert model.config._attn_implementation == kind


@given(st.lists(st.integers(-1, 5), max_size=40), st.integers(0, 10))
def test_a_guess_is_what_followed_the_last_time(tokens: list[int], most: int) -> None:
    guess = Lookup(tokens).guess(most)
    assert len(guess) <= most and all(token >= 0 for token in guess)
    for size in (2, 1):
        end = tokens[len(tokens) - size :]
        before = [i for i in range(size, len(tokens)) if tokens[i - size : i] == end]
        if len(end) == size and before:
            followed = (tokens[before[-1] :] * (most + 1))[:most]
            assert guess == (followed[: followed.index(-1)] if -1 in followed else followed)
            return
    assert guess == []
