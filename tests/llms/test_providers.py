"""Chat models by name: names, keys, addresses, and what tells two models apart."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from langchain_openai import ChatOpenAI

from ras_flow.errors import ConfigurationError, MissingExtraError
from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.support.network import certificates
from tests.llms.remote_models import KEY, KINDS, PROMPT, both, client, serve
from tests.servers import Answer

pytestmark = pytest.mark.usefixtures("providers")


@both
@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "/v1", "http://", "ftp://host/v1", "http://h:port/v1", "http://[::1", "a b"],
)
def test_a_wrong_address_is_refused(
    kind: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=r"base_url .*http://localhost:8000/v1"):
        load_language_model(KINDS[kind][1], base_url=address)
    monkeypatch.setenv(f"{kind.upper()}_BASE_URL", address)
    with pytest.raises(ConfigurationError, match=f"{kind.upper()}_BASE_URL"):
        load_language_model(KINDS[kind][1])


@pytest.mark.parametrize("host", ["h:port", "localhost:1"])
def test_a_password_in_an_address_is_refused_and_not_shown(host: str) -> None:
    """OpenAI's client cannot send one beside a key."""
    with pytest.raises(ConfigurationError) as caught:
        load_language_model("openai:m", base_url=f"http://user:hunter2@{host}/v1")
    assert "hunter2" not in str(caught.value)


async def test_address_and_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve("anthropic", Answer("Paris")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = load_language_model("anthropic:claude-haiku-4-5")
        (made,) = await model.generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert KEY in json.dumps(server.requests[0]["headers"])


async def test_servers_without_keys_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serve("openai", Answer("Paris")) as server:
        (made,) = await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert KEY not in json.dumps(server.requests[0]["headers"])


def test_window_follows_the_models_profile() -> None:
    known = load_language_model("anthropic:claude-haiku-4-5")
    unknown = load_language_model("openai:unknown", base_url="http://localhost:1/v1")
    assert 190_000 < known.window < 200_000
    assert unknown.window == 8000
    told = load_language_model("openai:unknown", base_url="http://localhost:1/v1", window=4096)
    assert 3000 < told.window < 4096


def test_identity_tells_settings_apart_and_keeps_secrets() -> None:
    names = ["openai:gpt-4.1-mini", "openai:gpt-4.1", "anthropic:claude-haiku-4-5"]
    urls = ["http://localhost:1/v1", "http://localhost:2/v1", "http://localhost:2/hunter2/v1"]
    found = {
        load_language_model(name, base_url=url).identity: None for name in names for url in urls
    }
    assert len(found) == 9
    assert not any(secret in identity for identity in found for secret in (KEY, "hunter2"))
    again = load_language_model(names[0], base_url=urls[0]).identity
    assert again in found
    given = [ChatOpenAI(model="gpt-4.1", temperature=warmth) for warmth in (0.0, 0.0, 1.0)]
    assert len({ChatLanguageModel(model).identity for model in given}) == 2
    patient: list[dict[str, Any]] = [{}, {"timeout": 300.0}, {"max_retries": 0}]
    for name in names:
        waiting = {load_language_model(name, **settings).identity for settings in patient}
        assert len(waiting) == 1, "a longer timeout must not have a whole corpus read again"
    routed = [ChatOpenAI(model="m", default_query={"to": name}) for name in ("a", "b")]
    assert len({ChatLanguageModel(model).identity for model in routed}) == 2


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_identity_tells_servers_of_the_environment_apart(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {load_language_model("openai:m").identity}
    for port in (1, 2):
        monkeypatch.setenv(variable, f"http://localhost:{port}/hunter2/v1")
        found |= {load_language_model("openai:m").identity}
        assert any(f"m@localhost:{port}" in identity for identity in found)
    assert len(found) == 3 and not any("hunter2" in identity for identity in found)


@pytest.mark.parametrize("name", ["gpt-4.1", "nobody:model", "test:model", "openai:", ":x", ""])
def test_unknown_names_show_examples(name: str) -> None:
    with pytest.raises(ConfigurationError, match="anthropic:claude"):
        load_language_model(name)


@both
def test_a_key_is_sent_without_the_end_of_its_line_and_else_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = load_language_model(KINDS[kind][1])
    variable = f"{kind.upper()}_API_KEY"
    monkeypatch.setenv(variable, f"{KEY}\n")
    assert isinstance(plain, ChatLanguageModel)
    mounted = load_language_model(KINDS[kind][1])
    assert isinstance(mounted, ChatLanguageModel)
    assert mounted._endpoint.secrets == plain._endpoint.secrets == (KEY,)
    monkeypatch.setenv(variable, "sk-ключ")
    with pytest.raises(ConfigurationError, match=variable) as caught:
        load_language_model(KINDS[kind][1])
    assert "sk-" not in str(caught.value)


@both
def test_what_is_missing_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, variable = KINDS[kind][1], f"{kind.upper()}_API_KEY"
    with monkeypatch.context() as without_key:
        without_key.delenv(variable)
        with pytest.raises(ConfigurationError, match=variable):
            load_language_model(name)
    monkeypatch.setitem(sys.modules, f"langchain_{kind}", None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ras-flow\[{kind}\]'"):
        load_language_model(name)


async def _open_server_runs() -> None:
    async with open_runs_at("http://localhost:1"):
        pass


@pytest.mark.parametrize(
    "call",
    [
        *(partial(load_language_model, name) for _, name in KINDS.values()),
        partial(load_language_model, "vllm:some/model", base_url="http://localhost:1/v1"),
        lambda: asyncio.run(_open_server_runs()),
    ],
    ids=[*KINDS, "vllm", "runs on a server"],
)
def test_what_the_network_lacks_is_named_before_anything_is_sent(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates.cache_clear()
    with monkeypatch.context() as moved:
        moved.setenv("SSL_CERT_FILE", "/no/such/file.pem")
        with pytest.raises(ConfigurationError, match="SSL_CERT_FILE=/no/such/file.pem"):
            call()
    monkeypatch.setenv("ALL_PROXY", "socks5h://localhost:1")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(MissingExtraError, match=r"ALL_PROXY .*httpx\[socks\]"):
        call()
    monkeypatch.setenv("NO_PROXY", "*")
    call()


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("azure_openai:m", ConfigurationError, "OPENAI_API_VERSION"),
        ("mistralai:mistral-small", MissingExtraError, "langchain-mistralai"),
        ("ollama:qwen3", MissingExtraError, "ollama.*not installed"),
    ],
)
def test_what_another_provider_lacks_is_named(name: str, error: Any, said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        load_language_model(name)
    assert KEY not in str(caught.value)
