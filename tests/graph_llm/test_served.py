"""A Graph LLM on a server: what is sent, what is read, and what each failure says."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from ras_flow import Context
from ras_flow.errors import (
    AuthenticationError,
    ConfigurationError,
    ModelResponseError,
)
from ras_flow.graph_llm.checkpoint import load_graph_llm, save_graph_llm
from ras_flow.graph_llm.embedder import PromptEmbedder
from ras_flow.graph_llm.export import export_graph_llm, read_export
from ras_flow.graph_llm.roles import GraphAnswerer, GraphPlanner
from ras_flow.graph_llm.served import ServedGraphLLM
from ras_flow.graph_llm.shared import SharedGraphLLM
from ras_flow.llms.local.text import LOOP
from ras_flow.parts import PlanRequest, Reading
from ras_flow.parts.chosen import Parts
from tests.graph_llm.tiny import BRIDGE, build, chain, graph
from tests.servers import Answer
from tests.servers.completions_server import CompletionsServer

REQUEST = PlanRequest("Where was she born?", chain(*BRIDGE), graph(*BRIDGE))
NOT_ENABLED = "You must set `--enable-prompt-embeds` to input `prompt_embeds`."
WIDTH = "`prompt_embeds` hidden_size 32 does not match the model's hidden_size 64."


@pytest.fixture(scope="module")
def exports(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same small model with a graph encoder and without, trained and exported."""
    folder = tmp_path_factory.mktemp("served")
    for name, changes in {"graph": {}, "text": {"gnn": None}}.items():
        save_graph_llm(build(llama, **changes), folder / f"{name}-trained")
        export_graph_llm(f"local:{folder / f'{name}-trained'}", folder / name)
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture
def source(exports: dict[str, Path]) -> Callable[..., ServedGraphLLM]:
    def make(server: Any, kind: str = "graph", **settings: Any) -> ServedGraphLLM:
        return ServedGraphLLM(exports[kind], base_url=server.url, **settings)

    return make


def letters(text: str) -> str:
    """Return the tokens of ASCII letters in the tiny vocabulary, as the scripted server has it."""
    from tokenizers import pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    return " ".join(str(5 + alphabet.index(letter)) for letter in text)


def tensor_of(body: dict[str, Any]) -> torch.Tensor:
    data = base64.b64decode(body["prompt_embeds"], validate=True)
    loaded: torch.Tensor = torch.load(io.BytesIO(data), weights_only=True)
    return loaded


async def test_what_is_sent_is_what_the_model_here_reads(
    exports: dict[str, Path], source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "s3cret")
    with CompletionsServer([Answer(letters("Narvik") + " 0", input_tokens=81)]) as server:
        [reply] = await GraphPlanner(source(server)).plan([REQUEST])
    [sent] = server.requests
    body = sent["body"]
    here = load_graph_llm(exports["graph-trained"])
    prompt = here.formatter.prompt(REQUEST)
    expected = here.embed(torch.tensor([prompt.input_ids]), [REQUEST.graph])[0]
    assert torch.equal(tensor_of(body), expected) and "prompt" not in body
    assert sent["path"] == "/v1/completions"
    assert sent["headers"]["authorization"] == "Bearer s3cret"
    assert body["model"] == read_export(exports["graph"]).served_name
    assert body["temperature"] == 0 and body["repetition_penalty"] == 1 and body["top_k"] == 0
    assert body["max_tokens"] == 64 and body["stop_token_ids"] == [0]
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("Narvik", 81, 7)
    with CompletionsServer(lambda _: Answer(letters("no"))) as server:
        planner = GraphPlanner(source(server, "text"))
        await planner.plan([REQUEST])
    body = server.requests[0]["body"]
    assert body["prompt"] == planner.source.formatter.prompt(REQUEST).input_ids
    assert "prompt_embeds" not in body and not planner.takes_soft_tokens


async def test_a_text_ends_where_it_would_end_here(source: Any) -> None:
    """A server goes on to its limit where a model here stops to repeat itself."""
    with CompletionsServer([Answer(letters("ab" * LOOP), at_limit=True)]) as server:
        [reply] = await GraphPlanner(source(server)).plan([REQUEST])
    assert reply.text == "ab" * (LOOP // 2) and reply.output_tokens == 2 * LOOP


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (Answer(status=400, error=NOT_ENABLED), ConfigurationError, "--enable-prompt-embeds"),
        (Answer(status=400, error=WIDTH), ConfigurationError, "another width.*Serve '"),
        (
            Answer(status=404, error="The model `x` does not exist."),
            ConfigurationError,
            "--served-model-name graph-llm-",
        ),
        (Answer(status=401), AuthenticationError, "VLLM_API_KEY"),
        (Answer(status=400, error="maximum context length"), ModelResponseError, "context length"),
    ],
)
async def test_a_rejection_says_what_to_do(
    source: Any, answer: Answer, error: type[Exception], said: str
) -> None:
    with CompletionsServer(lambda _: answer) as server:
        with pytest.raises(error, match=said):
            await GraphPlanner(source(server)).plan([REQUEST])
    assert len(server.requests) == 1, "a rejected request is not sent again"


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=503, headers={"retry-after": "0"}),
        Answer("5", broken="cut"),
        Answer("5", broken="garbage"),
        Answer("5", delay=1.2),
        Answer(fields={"choices": [{"text": "no token ids", "finish_reason": "stop"}]}),
    ],
)
async def test_what_may_pass_is_tried_again(source: Any, failure: Answer) -> None:
    with CompletionsServer([failure, Answer(letters("Narvik"))]) as server:
        [reply] = await GraphPlanner(source(server, timeout=1.0)).plan([REQUEST])
    assert reply.text == "Narvik" and len(server.requests) == 2


async def test_soft_tokens_do_not_block_the_event_loop(
    source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding waits here for what only a running event loop does."""
    real, loop = PromptEmbedder.embed, asyncio.get_running_loop()
    went_on = []

    def waiting(self: PromptEmbedder, *given: Any) -> torch.Tensor:
        on = threading.Event()
        loop.call_soon_threadsafe(on.set)
        went_on.append(on.wait(10))
        return real(self, *given)

    monkeypatch.setattr(PromptEmbedder, "embed", waiting)
    with CompletionsServer(lambda _: Answer(letters("a"))) as server:
        await GraphPlanner(source(server)).plan([REQUEST, REQUEST])
    assert went_on == [True, True]


async def test_names_find_exports(
    exports: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    name, parts = f"vllm:{exports['graph']}", Parts()
    with pytest.raises(ConfigurationError, match="base_url.*VLLM_BASE_URL"):
        await parts.get_planner(Context(planner=name))
    # What it reads is known without its server, and a name that is none reads what all others do.
    for answerer, reading in {
        name: read_export(exports["graph"]).config.reading,
        f"local:{exports['graph-trained']}": read_export(exports["graph"]).config.reading,
        "local:default": Reading(
            top_k=2, max_triples=4, answer_passages=1, max_hops=3, min_score=0.4, kg_triples=20
        ),
        "nobody:x": Reading(),
    }.items():
        assert await parts.get_reading(Context(answerer=answerer)) == reading
    address = "http://localhost:1/v1"
    context = Context(planner=name, answerer=f"local:{exports['graph-trained']}", base_url=address)
    planner, answerer = await parts.get_planner(context), await parts.get_answerer(context)
    assert isinstance(planner, GraphPlanner) and isinstance(planner.source, ServedGraphLLM)
    assert isinstance(answerer, GraphAnswerer) and isinstance(answerer.source, SharedGraphLLM)
    assert planner.identity == answerer.identity, "the same weights, wherever they run"
    roles = ["planner", "answerer"]
    assert await parts.encodes(roles, context) == roles
    with pytest.raises(ConfigurationError, match="extracts no triples"):
        await parts.get_extractor(Context(extractor=name, base_url=address))
    monkeypatch.setenv("VLLM_BASE_URL", "localhost:1")
    with pytest.raises(ConfigurationError, match="VLLM_BASE_URL 'localhost:1'"):
        await parts.get_planner(Context(planner=name, model_timeout=61))
