"""Language models of a vLLM server that are asked with tokens."""

from __future__ import annotations

import json
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ras_flow.errors import ConfigurationError, ModelResponseError, ModelUnavailableError
from ras_flow.llms import ServedLanguageModel, load_language_model
from ras_flow.llms.local import tokenized
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.shipped import WEIGHTS
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.remote import served
from ras_flow.parts import Generation
from ras_flow.parts.prompted import make_extractor
from ras_flow.prompts.extractor import SCHEMA, TRAINED_INSTRUCTION
from ras_flow.state.schema import Passage
from tests.llms.tiny import save_tiny_model
from tests.servers import Answer
from tests.servers.completions_server import CompletionsServer

PASSAGE = Passage(id="1", title="Aurora Bridge", text="Designed by Mira Lund. <|end|>")
TRIPLE = ("Aurora Bridge", "designer", "Mira Lund")
FACT = "(S> Aurora Bridge| P> designer| O> Mira Lund)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("served"), window=4000)


def tokens(folder: Path | str, text: str) -> str:
    return " ".join(map(str, load_tokenizer(str(folder)).encode(text, add_special_tokens=False)))


async def ask(folder: Path, server: Any, new: int = 4) -> Generation:
    model = ServedLanguageModel(str(folder), base_url=server.url)
    [made] = await model.generate([[{"role": "user", "content": "x"}]], max_new_tokens=new)
    return made


async def test_the_server_reads_what_a_model_here_reads(folder: Path) -> None:
    answer = Answer(tokens(folder, "one\ntwo") + " 0", input_tokens=9)
    prompt: Any = [{"role": "user", "content": "Say <|end|>"}]
    with CompletionsServer(lambda _: answer) as server:
        model = load_language_model(f"vllm:{folder}", base_url=server.url)
        assert isinstance(model, ServedLanguageModel)
        [made] = await model.generate([prompt], max_new_tokens=30, stop=["\n"])
    body = server.requests[0]["body"]
    here = LocalLanguageModel(str(folder))
    assert body["prompt"] == list(here._encode(prompt, share=False).rest)
    assert body["prompt"].count(0) == 1, "what a text spells out ends no message"
    assert body["model"] == str(folder) and body["stop"] == ["\n"] and body["max_tokens"] == 30
    assert (made.text, made.input_tokens, made.output_tokens) == ("one", 9, 8)
    assert model.identity != here.identity and not made.truncated


async def test_the_tokenizer_is_never_loaded_on_the_event_loop(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaders = set()

    def watched(name: str) -> Any:
        loaders.add(threading.current_thread())
        return load_tokenizer(name)

    for module in (tokenized, served):
        monkeypatch.setattr(module, "load_tokenizer", watched)
    with CompletionsServer(lambda _: Answer("5 0")) as server:
        await ask(folder, server)
    assert loaders and threading.current_thread() not in loaders


@pytest.mark.parametrize("at_limit", [True, False])
async def test_a_text_that_is_cut_says_so(folder: Path, at_limit: bool) -> None:
    answer = Answer(tokens(folder, "an unfinished sen"), at_limit=at_limit)
    with CompletionsServer(lambda _: answer) as server:
        made = await ask(folder, server, 17)
    assert made.truncated is at_limit


async def test_a_schema_is_sent_and_a_server_that_ignores_it_is_read_all_the_same(
    folder: Path,
) -> None:
    with CompletionsServer(lambda _: Answer(tokens(folder, FACT))) as server:
        extractor = make_extractor(ServedLanguageModel(str(folder), base_url=server.url), "json")
        [made] = await extractor.extract([PASSAGE])
    assert made.triples == [TRIPLE]
    [asked] = [one["body"]["response_format"] for one in server.requests]
    assert asked["json_schema"]["schema"] == json.loads(json.dumps(SCHEMA))


async def test_a_trained_extractor_is_asked_as_it_was_trained() -> None:
    name = str(WEIGHTS / "extractor")
    with CompletionsServer(lambda _: Answer(tokens(name, FACT))) as server:
        extractor = make_extractor(ServedLanguageModel(name, base_url=server.url))
        [made] = await extractor.extract([PASSAGE])
    asked = load_tokenizer(name).decode(server.requests[0]["body"]["prompt"])
    assert made.triples == [("Aurora Bridge", "designer", "Mira Lund")]
    assert asked.count(TRAINED_INSTRUCTION) == 1 and asked.count("<|im_start|>user") == 1


async def test_what_is_wrong_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="base_url"):
        ServedLanguageModel(str(folder))
    with pytest.raises(ConfigurationError, match="folder"):
        ServedLanguageModel("/no/such/folder", base_url="http://localhost:1/v1")
    with CompletionsServer(lambda _: Answer(status=404, error="no such model")) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        model = ServedLanguageModel(str(folder))
        with pytest.raises(ModelResponseError, match="model's name.*no such model"):
            await model.generate([[{"role": "user", "content": "x"}]], max_new_tokens=4)


async def test_an_answer_that_the_server_gave_up_is_asked_for_again(folder: Path) -> None:
    cut = {"index": 0, "text": "", "token_ids": [5], "finish_reason": "abort"}
    answers = [Answer("5", fields={"choices": [cut]}), Answer(tokens(folder, "one") + " 0")]
    with CompletionsServer(lambda _: answers.pop(0)) as server:
        made = await ask(folder, server)
    assert made.text == "one" and len(server.requests) == 2


async def test_a_server_that_sends_elsewhere_is_not_followed(folder: Path) -> None:
    moved = Answer(status=307, headers={"location": "https://there.example/v1/completions"})
    with CompletionsServer(lambda _: moved) as server:
        with pytest.raises(ModelResponseError, match=r"https://there\.example.*base_url"):
            await ask(folder, server)
    assert len(server.requests) == 1


def of_nobody(folder: Path) -> ssl.SSLContext:
    """Return what serves with a certificate that nobody vouches for."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "server.pem").write_bytes(secret + made)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
async def test_no_key_is_sent_to_a_server_that_cannot_prove_its_name(
    folder: Path, tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sk-secret")
    server = CompletionsServer(lambda _: Answer("5 0"))
    server.http.socket = of_nobody(tmp_path).wrap_socket(server.http.socket, server_side=True)
    with server:
        address = server.url.replace("http", scheme, 1)
        model = ServedLanguageModel(str(folder), base_url=address, max_retries=0)
        with pytest.raises(ModelUnavailableError, match="certificate"):
            await model.generate([[{"role": "user", "content": "x"}]], max_new_tokens=4)
    assert not server.requests
