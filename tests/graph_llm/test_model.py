"""The Graph LLM: what it reads, what is trained, and that its texts depend on nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_weights, save_graph_llm
from ras_flow.graph_llm.collate import Collator, Example
from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.prompt import SOFT
from ras_flow.graph_llm.roles import PLAN_TOKENS, GraphPlanner
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.llms.local import decoding
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.parts import AnswerRequest, AttributedGraph, PlanRequest
from tests.graph_llm.tiny import (
    APART,
    BRIDGE,
    FAILED,
    LOOP,
    build,
    chain,
    config,
    graph,
)

Q = "Where was she born?"
HOPS: list[Any] = [BRIDGE, BRIDGE[:1], LOOP, APART, FAILED, []]
KINDS = ["llama", "qwen2", "qwen3"]


@pytest.fixture(scope="module")
def models(bases: dict[str, Path]) -> dict[str, GraphLLM]:
    return {kind: build(bases[kind]) for kind in KINDS}


@pytest.fixture
def model(models: dict[str, GraphLLM]) -> Iterator[GraphLLM]:
    models["llama"].eval()
    yield models["llama"]
    models["llama"].zero_grad()


class TwoTokens(GnnConfig):
    def count_tokens(self, graph: AttributedGraph | None) -> int:
        return 2


class Means(torch.nn.Module):
    """A graph encoder of one's own: the means of nodes and of edges, a soft token each."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 16)

    def forward(self, graphs: Sequence[AttributedGraph | None]) -> list[torch.Tensor]:
        return [self.linear(self._means(graph)) for graph in graphs]

    def _means(self, graph: AttributedGraph | None) -> torch.Tensor:
        if graph is None or not graph.nodes:
            return torch.zeros(2, 8)
        return torch.tensor(np.stack([graph.node_attr.mean(0), graph.edge_attr.mean(0)]))


def test_a_graph_encoder_of_ones_own_takes_the_place_of_ours(llama: Path, tmp_path: Path) -> None:
    def make(seed: int) -> GraphLLM:
        made = build(llama, seed, gnn=TwoTokens(hidden=16, layers=1, heads=2))
        made.encoder = Means()
        return made

    model = make(0)
    assert model.formatter.prompt(requests()[0]).input_ids.count(SOFT) == 2
    model(**Collator(model.formatter)([example()])).loss.backward()
    assert model.encoder.linear.weight.grad.abs().sum() > 0
    said = texts(model, requests())
    save_graph_llm(model, tmp_path / "mine")
    again = make(1)
    assert texts(again, requests()) != said
    load_weights(again, tmp_path / "mine")
    assert texts(again, requests()) == said

    class Mine(SharedGraphLLM):
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            self.config = again.config

        def model(self) -> GraphLLM:
            return again

    planner = GraphPlanner(Mine(tmp_path / "mine"))
    plans = asyncio.run(planner.plan(requests()))
    assert [plan.text for plan in plans] == texts(again, requests(), PLAN_TOKENS)


def requests() -> list[PlanRequest]:
    return [PlanRequest(Q * (i + 1), chain(*hops), graph(*hops)) for i, hops in enumerate(HOPS)]


def example(target: str = "[SUFFICIENT]", hops: Any = BRIDGE) -> Example:
    return Example(PlanRequest(Q, chain(*hops), graph(*hops)), target)


def texts(model: GraphLLM, asked: Any, new: int = 12, **settings: Any) -> list[str]:
    prompts = [model.formatter.prompt(one) for one in asked]
    made = model.generate(prompts, [one.graph for one in asked], max_new_tokens=new, **settings)
    assert [one.input_tokens for one in made] == [len(prompt.input_ids) for prompt in prompts]
    return [one.text for one in made]


def reference(model: GraphLLM, request: PlanRequest, new: int = 12) -> str:
    """Greedy text of the whole prompt alone, by transformers' own generate()."""
    prompt = model.formatter.prompt(request)
    ids = torch.tensor([prompt.input_ids])
    words = model.base.get_input_embeddings()(ids.clamp(min=0))
    [soft] = model.soft_tokens([request.graph])
    at = prompt.input_ids.index(SOFT)
    assert ids[0, at : at + len(soft)].tolist() == [SOFT] * len(soft)
    words = torch.cat([words[:, :at], soft.unsqueeze(0), words[:, at + len(soft) :]], dim=1)
    made = model.base.generate(
        inputs_embeds=words,
        attention_mask=torch.ones(words.shape[:2], dtype=torch.long),
        do_sample=False,
        temperature=None,
        max_new_tokens=new,
    )
    return str(model.tokenizer.decode(made[0], skip_special_tokens=True))


@pytest.mark.parametrize("kind", KINDS)
def test_batched_texts_are_those_of_plain_greedy_generation(
    models: dict[str, GraphLLM], kind: str
) -> None:
    model = models[kind].eval()
    asked = requests()
    with torch.inference_mode():
        expected = [reference(model, one) for one in asked]
    assert len(set(expected)) > 2, "texts must differ to compare"
    assert texts(model, asked) == expected
    assert texts(model, asked[::-1], batch_size=2)[::-1] == expected
    assert [texts(model, [one])[0] for one in asked] == expected
    assert texts(model, []) == []
    model.train()
    assert texts(model, asked) == expected, "dropout is off"
    assert model.training and model.encoder.training and model.base.training


def test_the_instruction_is_read_once(model: GraphLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    real = decoding.read_prefix

    def counting(base: Any, tokens: tuple[int, ...]) -> Any:
        read.append(tokens)
        return real(base, tokens)

    monkeypatch.setattr(decoding, "read_prefix", counting)
    model.train().eval()
    before = texts(model, requests()[:2], 2, batch_size=1), texts(model, requests()[2:4], 2)
    assert len(read) == 1
    model.train().eval()
    assert (texts(model, requests()[:2], 2), texts(model, requests()[2:4], 2)) == before
    assert len(read) == 2, "weights may have changed in training"


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(models: dict[str, GraphLLM], kind: str) -> None:
    model = models[kind].eval()
    short, long = example(hops=[]), example("[SUBQ] Where is it?", [*BRIDGE, *APART])
    collate = Collator(model.formatter)
    with torch.no_grad():
        alone = [model(**collate([one])) for one in (short, long)]
        both = collate([short, long])
        together = model(**both)
    labels = both["labels"][:, -together.logits.shape[1] :]
    for row, one in enumerate(alone):
        length = int((labels[row] != -100).sum())
        torch.testing.assert_close(
            together.logits[row, -length - 1 :], one.logits[0, -length - 1 :], atol=1e-4, rtol=0
        )
    counts = (both["labels"] != -100).sum(1)
    mean = (alone[0].loss * counts[0] + alone[1].loss * counts[1]) / counts.sum()
    torch.testing.assert_close(together.loss, mean)


def test_the_loss_is_that_of_the_whole_sequence(model: GraphLLM) -> None:
    """Logits before the first label are left out; those that count are not."""
    batch = Collator(model.formatter)([example(), example("[SUBQ] Where?", APART)])
    labels = batch.pop("labels")  # type: ignore[misc]
    with torch.no_grad():
        logits = model(**batch).logits
        found = model(**batch, labels=labels)
        shared = model(**batch, labels=labels, num_items_in_batch=2 * (labels != -100).sum())
    expected = torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100
    )
    torch.testing.assert_close(found.loss, expected)
    torch.testing.assert_close(shared.loss, expected / 2)
    assert found.logits.shape[1] < logits.shape[1] / 4
    nothing = torch.full_like(labels, -100)
    with torch.no_grad():
        assert model(**batch, labels=nothing).logits.shape[1] == 1


def test_a_label_counts_as_much_as_it_weighs(model: GraphLLM) -> None:
    asked = [example("[SUBQ] Where is it?"), Example(AnswerRequest("Why?"), "[SUBQ] no plan")]
    plain, heavy = (Collator(model.formatter, label_weight=w)(asked) for w in (1.0, 3.0))
    weighed = heavy["weights"] != 1
    written = [model.tokenizer.decode(heavy["input_ids"][row][weighed[row]]) for row in (0, 1)]
    assert ["".join(text.split()) for text in written] == ["[SUBQ]", ""], "an answer has no label"
    labels = torch.where(weighed, heavy["labels"], -100)
    with torch.no_grad():
        light = model(**plain).loss
        extra = model(**plain | {"labels": labels}).loss * weighed.sum()
        loss = model(**heavy).loss
    count = (plain["labels"] != -100).sum()
    torch.testing.assert_close(loss * count, light * count + 2 * extra)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("ras_flow.llms.local.decoding.greedy", "watch.batch_size"),
        ("ras_flow.graph_llm.build.read_model", "smaller base"),
    ],
)
def test_memory_errors_say_what_can_be_done(
    llama: Path, monkeypatch: pytest.MonkeyPatch, where: str, said: str
) -> None:
    def exhausted(*args: object, **kwargs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(where, exhausted)
    with pytest.raises(ConfigurationError, match=said):
        texts(build(llama), requests()[:1])


def test_half_precision_in_training(model: GraphLLM, llama: Path) -> None:
    """By autocast, and with a base whose weights are kept in it."""
    batch = Collator(model.formatter)([example(), example(hops=[])])
    with torch.no_grad():
        exact = model(**batch).loss
    soft = model.soft_tokens(batch["graphs"])
    with torch.autocast("cpu", torch.bfloat16):
        cast = model(**batch).loss
        assert all(map(torch.equal, model.soft_tokens(batch["graphs"]), soft))
    cast.backward()
    assert model.projector.inner.weight.grad.abs().max() > 0
    torch.manual_seed(0)
    settings = config(llama)
    base = read_model(settings.base, "bfloat16")
    small = GraphLLM(settings, base, load_tokenizer(settings.base, chat=False)).eval()
    assert small.base.dtype == torch.bfloat16
    trained = {p.dtype for p in small.parameters() if p.requires_grad}
    assert trained == {torch.float32}
    small(**batch).loss.backward()
    assert small.projector.inner.weight.grad.abs().max() > 0
    torch.testing.assert_close(cast.float(), exact, rtol=0.1, atol=0)


@pytest.mark.parametrize("place", ["before", "after"])
def test_one_token_a_hop_and_models_whose_cache_cannot_be_shared(
    llama: Path, monkeypatch: pytest.MonkeyPatch, place: Any
) -> None:
    model = build(llama, gnn=GnnConfig(hidden=16, heads=2, layers=1, tokens="per_hop", place=place))
    asked = requests()
    with torch.inference_mode():
        expected = [reference(model, one) for one in asked]
    assert texts(model, asked) == expected
    monkeypatch.setattr(decoding, "can_share", lambda model: False)
    assert texts(model, asked) == expected
