"""The Graph LLM as planner and answerer, alone and in the real loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch
from langchain_core.callbacks import AsyncCallbackHandler

from ras_flow import Context
from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm import shared
from ras_flow.graph_llm.checkpoint import save_graph_llm
from ras_flow.graph_llm.collate import Collator, Example
from ras_flow.graph_llm.config import LoraConfig
from ras_flow.graph_llm.roles import GraphAnswerer, GraphPlanner
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.parts import AnswerRequest, Generation, PlanRequest, named
from ras_flow.parts.chosen import Parts
from ras_flow.testing import HashEncoder, ScriptedAnswerer
from tests.graph.world import QUESTION, SECOND, ScriptedPlanner, build, world
from tests.graph_llm.tiny import BRIDGE, GNN, LINEAR, LOOP, chain, graph
from tests.graph_llm.tiny import build as build_model


@pytest.fixture(scope="module")
def folder(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("roles") / "tiny-graph-llm"
    save_graph_llm(build_model(llama), made)
    return made


@pytest.fixture(scope="module")
def text_only(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("roles") / "text-only"
    save_graph_llm(build_model(llama, gnn=None), made)
    return made


@pytest.fixture
def source(folder: Path) -> SharedGraphLLM:
    return SharedGraphLLM(folder)


def requests() -> list[PlanRequest]:
    return [
        PlanRequest(QUESTION),
        PlanRequest(QUESTION, chain(*BRIDGE), GRAPHS[0]),
        PlanRequest("Why?", chain(*LOOP), GRAPHS[1]),
    ]


GRAPHS = [graph(*BRIDGE), graph(*LOOP)]


async def test_a_reply_never_depends_on_the_others(source: SharedGraphLLM) -> None:
    planner = GraphPlanner(source)
    together = await planner.plan(requests())
    assert together == [(await planner.plan([one]))[0] for one in requests()]
    assert len({reply.text for reply in together}) > 1
    assert all(0 < reply.output_tokens <= 64 for reply in together)
    assert together[1].input_tokens > together[0].input_tokens
    assert await planner.plan([]) == []
    many = chain([(f"thing {i}", "relates to", "it") for i in range(60)])
    [reply] = await planner.plan([PlanRequest(QUESTION, many)])
    assert 0 < reply.lost_triples < 60


async def test_answers_keep_their_own_limits(source: SharedGraphLLM) -> None:
    asked = [AnswerRequest(QUESTION, max_new_tokens=limit) for limit in (3, 9, 3)]
    replies = await GraphAnswerer(source).answer(asked)
    assert [reply.output_tokens for reply in replies] == [3, 9, 3]
    assert replies[0] == replies[2] and replies[1].text.startswith(replies[0].text)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("Oslo[SUBQ] Where is Oslo?", "Oslo"),
        ("Oslo.\n[SUFFICIENT]\nOslo", "Oslo."),
        ("the label [SUBQ", "the label [SUBQ"),
        (" [SUBQ] Where is Oslo?", " [SUBQ] Where is Oslo?"),
    ],
)
async def test_an_answer_ends_where_a_plan_begins(
    source: SharedGraphLLM, monkeypatch: pytest.MonkeyPatch, written: str, answer: str
) -> None:
    async def generate(prompts: Any, graphs: Any, *, max_new_tokens: int) -> list[Generation]:
        return [Generation(written, 5, 6) for _ in prompts]

    monkeypatch.setattr(source, "generate", generate)
    [reply] = await GraphAnswerer(source).answer([AnswerRequest(QUESTION)])
    assert (reply.text, reply.output_tokens) == (answer, 6)


async def test_planner_and_answerer_share_one_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = []
    real = shared.load_graph_llm

    def counting(*args: Any, **settings: Any) -> Any:
        loads.append(args)
        return real(*args, **settings)

    monkeypatch.setattr(shared, "load_graph_llm", counting)
    shared._opened.cache_clear()
    name = f"local:{folder}"
    parts, context = Parts(), Context(planner=name, answerer=name)
    planner, answerer = await asyncio.gather(
        parts.get_planner(context), parts.get_answerer(context)
    )
    roles = ["planner", "answerer"]
    assert await parts.encodes(roles, context) == roles
    assert loads == [], "choosing a model loads nothing"
    await asyncio.gather(
        planner.plan(requests()), answerer.answer([AnswerRequest("Why?", max_new_tokens=2)])
    )
    assert len(loads) == 1
    assert planner.identity == answerer.identity != name


def test_a_folder_that_is_written_anew_is_another_model(llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trained"
    context = Context(planner=f"local:{folder}")
    save_graph_llm(build_model(llama), folder)
    before = named.planner_of(context)
    assert named.planner_of(context).source is before.source
    model = build_model(llama)
    model.projector.outer.bias.data += 1
    save_graph_llm(model, folder)
    after = named.planner_of(context)
    assert after.identity != before.identity
    assert torch.equal(after.source.model().projector.outer.bias, model.projector.outer.bias)
    with pytest.raises(ConfigurationError, match="written anew"):
        before.source.model()


async def run(parts: dict[str, Any], **settings: Any) -> tuple[dict[str, Any], list[str]]:
    """Run the two-hop question; return its result and the nodes it went through."""
    nodes: list[str] = []
    result: dict[str, Any] = {}
    context = Context(top_k=1, max_hops=2, **settings)
    given = {"question": QUESTION}
    async for kind, data in build(parts).astream(
        given, context=context, stream_mode=["updates", "values"]
    ):
        if kind == "updates":
            nodes += data
        else:
            result = data
    return result, nodes


def without(parts: dict[str, Any], role: str) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if name != role}


async def test_what_it_was_taught_it_does_in_the_loop(llama: Path, tmp_path: Path) -> None:
    """Training sees what inference sees: recorded requests, learned, lead the loop again."""
    teacher = world(
        planner=ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=True),
        answerer=ScriptedAnswerer("Narvik", takes_soft_tokens=True),
    )
    expected, expected_nodes = await run(teacher)
    plans = [plan["raw"] for plan in expected["plans"]]
    examples = [
        Example(request, plan)
        for request, plan in zip(teacher["planner"].requests, plans, strict=True)
    ] + [Example(teacher["answerer"].requests[0], "Narvik")]
    assert len(examples) == 3

    model = build_model(
        llama, gnn=GNN.override({"tokens": "per_hop"}), lora=LoraConfig(targets=LINEAR)
    )
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    model.train()
    batch = Collator(model.formatter)(examples)
    for _ in range(150):
        optimiser.zero_grad()
        loss = model(**batch).loss
        if loss < 0.03:
            break
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    save_graph_llm(model, tmp_path / "taught")

    parts = without(without(world(), "planner"), "answerer")
    name = f"local:{tmp_path / 'taught'}"
    result, nodes = await run(parts, planner=name, answerer=name)
    assert [plan["raw"] for plan in result["plans"]] == plans
    assert (result["answer"], nodes) == ("Narvik", expected_nodes)
    assert result["stop_reason"] == expected["stop_reason"]


async def test_with_text_models_encode_is_skipped(text_only: Path) -> None:
    name = f"local:{text_only}"
    result, nodes = await run(without(world(), "answerer"), answerer=name)
    assert "to_triples" in nodes and "encode" not in nodes
    parts = world(planner=ScriptedPlanner(["[SUBQ] x", SECOND]), answerer=ScriptedAnswerer("x"))
    assert "encode" not in (await run(parts))[1]


async def test_another_sentence_encoder_is_refused_by_name(folder: Path) -> None:
    class Other(HashEncoder):
        identity = "other:encoder"

    parts = without(world(encoder=Other()), "answerer")
    with pytest.raises(ConfigurationError, match="'other:encoder'.*trained with 'testing:encoder'"):
        await run(parts, answerer=f"local:{folder}")


@pytest.mark.parametrize("role", ["planner", "answerer"])
async def test_the_graph_is_embedded_as_the_graph_llm_learnt_it(
    folder: Path, text_only: Path, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Named(HashEncoder):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.identity = name if name == "testing:encoder" else f"{name}@other"

    monkeypatch.setattr("ras_flow.parts.named._encoder", Named)
    other = "openai:gpt-5-mini"

    async def used(name: str, **own: Any) -> str:
        models: dict[str, Any] = {"planner": other, "answerer": other, role: name}
        return (await Parts(**own).get_encoder(Context(encoder="mine", **models))).identity

    assert await used(f"local:{folder}") == "testing:encoder"
    assert await used(f"local:{text_only}") == await used(other) == "mine@other"
    own: dict[str, Any] = {
        role: ScriptedAnswerer("x") if role == "answerer" else ScriptedPlanner([])
    }
    assert await used(f"local:{folder}", **own) == "mine@other"


async def test_calls_are_traced(source: SharedGraphLLM) -> None:
    from langchain_core.runnables import RunnableLambda

    class Watch(AsyncCallbackHandler):
        seen: list[Any] = []

        async def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
            self.seen.append((serialized["name"], messages[0][1].content))

        async def on_llm_end(self, response: Any, **_: Any) -> None:
            self.seen.append(response.generations[0][0].message)

    async def plan(_: object) -> Any:
        return await GraphPlanner(source).plan(requests()[:1])

    [reply] = await RunnableLambda(plan).ainvoke("", config={"callbacks": [Watch()]})
    (name, asked), message = Watch.seen
    assert (name, asked) == ("tiny-graph-llm", f"Question: {QUESTION}")
    assert message.content == reply.text
    assert message.usage_metadata["input_tokens"] == reply.input_tokens
