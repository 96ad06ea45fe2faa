"""The loss on a target is that of its own tokens, whatever else is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ras_flow.components import AnswerRequest
from ras_flow.graph_llm.collate import Example
from ras_flow.graph_llm.soft import place
from ras_flow.training.graph_llm.losses import target_losses
from tests.graph_llm.tiny import BRIDGE, build, chain, graph

EXAMPLES = [
    Example(AnswerRequest("Where?", chain(*BRIDGE), graph=graph(*BRIDGE)), "Narvik"),
    Example(AnswerRequest("Who?"), "Mira Lund"),
]


def test_it_is_the_surprise_of_each_token(base: Path) -> None:
    model = build(base).eval()
    for example, found in zip(EXAMPLES, target_losses(model, EXAMPLES), strict=True):
        prompt = model.formatter.prompt(example.request).input_ids
        target = model.formatter.target(example.target)
        ids = torch.tensor([[*prompt, *target]])
        with torch.no_grad():
            words = model.base.get_input_embeddings()(ids.clamp(min=0))
            embedded = place(words, ids, model.soft_tokens([example.request.graph]))
            logits = model.base(inputs_embeds=embedded).logits[0]
        said = torch.log_softmax(logits[len(prompt) - 1 : -1], 1)
        surprise = [-float(said[row, token]) for row, token in enumerate(target)]
        assert found == pytest.approx(sum(surprise) / len(surprise), rel=1e-4)


def test_the_others_do_not_count(base: Path) -> None:
    model = build(base).eval()
    alone = [target_losses(model, [example])[0] for example in EXAMPLES]
    assert target_losses(model, EXAMPLES) == alone
    assert target_losses(model, []) == []
