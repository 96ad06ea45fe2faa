"""Planner, extractor and answerer on a real vLLM server: what it writes is what we write here."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import torch

from ras_flow import Context
from ras_flow.errors import AuthenticationError, ConfigurationError, ModelResponseError
from ras_flow.graph_llm.checkpoint import save_graph_llm
from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.export import PART, export_graph_llm
from ras_flow.graph_llm.roles import GraphAnswerer, GraphPlanner
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.remote.completions import CompletionsServer
from ras_flow.parts import AnswerRequest, PlanRequest, Reply
from ras_flow.parts.chosen import Parts
from ras_flow.prompts.extractor import SCHEMA
from ras_flow.state.schema import Passage
from tests.graph_llm.tiny import build, chain, graph
from tests.llms.tiny import save_tiny_model
from tests.vllm.server import serve

pytestmark = pytest.mark.slow

KEY = "the-servers-key"
NAMES = ["Aurora Bridge", "Mira Lund", "Narvik", "Norway", "Ouroboros", "Sölvi", "1961", "東京"]
RELATIONS = ["designer", "place of birth", "country", "year", "part of"]


class Served(NamedTuple):
    """A server and what it serves.

    Attributes:
        url: Address.
        trained: The Graph LLM's folder.
        exported: Its export.
        wider: An export of another width, whose name the server knows too.
        plain: The exported model as a language model like any other, which the server calls so.
    """

    url: str
    trained: Path
    exported: Path
    wider: Path
    plain: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("vllm")
    trained, exported, wider = folder / "trained", folder / "exported", folder / "wider"
    names = []
    for width, made, out in ((128, trained, exported), (256, folder / "wide", wider)):
        base = save_tiny_model(folder / f"base-{width}", window=2048, width=width)
        gnn = GnnConfig(hidden=16, layers=2, heads=2, tokens="per_hop")
        model = build(base, seed=width, gnn=gnn)
        torch.nn.init.normal_(model.encoder.empty)
        save_graph_llm(model, made)
        names.append(export_graph_llm(f"local:{made}", out).served_name)
    plain = Path(shutil.copytree(exported, folder / "plain", ignore=lambda *_: [PART]))
    arguments = ["--served-model-name", *names, str(plain), "--enable-prompt-embeds"]
    arguments += ["--enable-prefix-caching"]
    with serve(exported, *arguments, log=folder / "server.log", key=KEY) as url:
        yield Served(url, trained, exported, wider, plain)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def asked() -> list[PlanRequest]:
    """Fifty requests of no to four hops, some of them empty, some without a graph."""
    draw = random.Random(11)
    made = []
    for number in range(50):
        hops = [
            [
                (draw.choice(NAMES), draw.choice(RELATIONS), draw.choice(NAMES))
                for _ in range(draw.randint(0, 3))
            ]
            for _ in range(draw.randint(0, 4))
        ]
        question = f"{number}: which {draw.choice(RELATIONS)} has {draw.choice(NAMES)}?"
        given = graph(*hops) if hops else None
        made.append(PlanRequest(question, chain(*hops), given))
    return made


def context(served: Served, model: str, **settings: Any) -> Context:
    return Context(
        planner=model,
        answerer=model,
        extractor=model,
        base_url=served.url,
        max_concurrency=16,
        model_timeout=240,
        **settings,
    )


def texts(replies: list[Reply]) -> list[str]:
    return [reply.text for reply in replies]


async def test_the_same_plans_and_answers_as_here(served: Served, asked: list[PlanRequest]) -> None:
    """70 prompts at once, in one batch here and in whatever batches the server makes."""
    answered = [
        AnswerRequest(one.question, one.chain, one.graph, max_new_tokens=24) for one in asked[:20]
    ]
    here = SharedGraphLLM(served.trained)
    parts, settings = Parts(), context(served, f"vllm:{served.exported}")
    planner, answerer = await parts.get_planner(settings), await parts.get_answerer(settings)
    assert await parts.encodes(["planner"], settings) == ["planner"]
    plans, answers = await asyncio.gather(planner.plan(asked), answerer.answer(answered))
    expected = await GraphPlanner(here).plan(asked)
    assert texts(plans) == texts(expected)
    assert len(set(texts(plans))) > 45, "the texts tell the prompts apart"
    assert texts(answers) == texts(await GraphAnswerer(here).answer(answered))
    assert [one.input_tokens for one in plans] == [one.input_tokens for one in expected]
    # Another order, other batches, and prompts whose beginnings the server has read before.
    again = await asyncio.gather(*(planner.plan([one]) for one in reversed(asked[::4])))
    assert [one.text for [one] in again] == texts(plans)[::4][::-1]
    graphless = await planner.plan([replace(asked[3], graph=None)])
    assert texts(graphless) == texts(await GraphPlanner(here).plan([replace(asked[3], graph=None)]))


async def test_prefixes_were_cached(served: Served, asked: list[PlanRequest]) -> None:
    planner = await Parts().get_planner(context(served, f"vllm:{served.exported}"))
    for _ in range(2):
        await planner.plan(asked[:4])
    metrics = httpx.get(served.url.removesuffix("v1") + "metrics").text
    [hits] = [
        float(line.rpartition(" ")[2])
        for line in metrics.splitlines()
        if line.startswith("vllm:prefix_cache_hits_total")
    ]
    assert hits > 0


async def test_another_model_under_the_same_name_is_refused(
    served: Served, asked: list[PlanRequest]
) -> None:
    planner = await Parts().get_planner(context(served, f"vllm:{served.wider}"))
    with pytest.raises(ConfigurationError, match="another width.*hidden_size"):
        await planner.plan(asked[:1])


async def test_a_wrong_key_is_refused(
    served: Served, asked: list[PlanRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "wrong")
    settings = context(served, f"vllm:{served.exported}").override({"model_timeout": 241.0})
    planner = await Parts().get_planner(settings)
    with pytest.raises(AuthenticationError, match="VLLM_API_KEY"):
        await planner.plan(asked[:1])


async def test_a_server_without_the_model_is_named(served: Served) -> None:
    server = CompletionsServer("graph-llm-0", base_url=served.url, max_retries=0)

    async def prompt() -> dict[str, Any]:
        return {"prompt": [5, 6, 7]}

    with pytest.raises(ModelResponseError, match="404.*graph-llm-0"):
        await server.complete(prompt, max_new_tokens=4)


@pytest.mark.parametrize("interface", ["openai", "vllm"])
async def test_every_role_by_chat_and_by_completions(served: Served, interface: str) -> None:
    """As text models: with the server's own chat template, and with tokens."""
    settings, parts = context(served, f"{interface}:{served.plain}"), Parts()
    planner, answerer = await parts.get_planner(settings), await parts.get_answerer(settings)
    [plan] = await planner.plan([PlanRequest("Who designed the Aurora Bridge?")])
    [answer] = await answerer.answer([AnswerRequest("Who designed it?", max_new_tokens=8)])
    assert plan.text and answer.text and plan.input_tokens > 100 and answer.output_tokens <= 8
    extractor = await parts.get_extractor(settings)
    [made] = await extractor.extract([PASSAGE])
    assert made.output_tokens > 0


PASSAGE = Passage(id="1", title="Aurora Bridge", text="Aurora Bridge was designed by Mira Lund.")


async def test_tokens_are_those_of_a_model_here(served: Served) -> None:
    here = LocalLanguageModel(str(served.plain))
    model = await Parts().load_model(f"vllm:{served.plain}", context(served, "local"))
    prompts: list[Any] = [
        [{"role": "system", "content": "Say."}, {"role": "user", "content": f"{n}? <|end|>"}]
        for n in range(12)
    ]
    there = await model.generate(prompts, max_new_tokens=40, stop=["\n", "é"])
    expected = await here.generate(prompts, max_new_tokens=40, stop=["\n", "é"])
    assert [one.text for one in there] == [one.text for one in expected]
    assert [one.input_tokens for one in there] == [one.input_tokens for one in expected]


@pytest.mark.parametrize("interface", ["openai", "vllm"])
async def test_structured_outputs_hold(
    served: Served, interface: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A model of random weights writes JSON by the schema only because the server makes it."""
    name = f"{interface}:{served.plain}"
    model: Any = await Parts().load_model(name, context(served, name))
    prompt: Any = [[{"role": "user", "content": "Aurora Bridge was designed by Mira Lund."}]]
    [free] = await model.generate(prompt, max_new_tokens=40)
    [made] = await model.generate(prompt, max_new_tokens=40, schema=SCHEMA)
    start = "".join(made.text.split())
    assert start.startswith('{"facts":[')
    assert not "".join(free.text.split()).startswith("{")
    assert not caplog.messages, "the server took the schema"
