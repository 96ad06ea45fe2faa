"""Who may talk to the local page, and what every answer carries."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import httpx
import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.page.bodies import MAX_BYTES
from ras_flow.runs import RunSummary
from tests.page.server import Page, serving


class OneRun:
    """Runs with one run in them; enough for requests that are refused or list."""

    told = staticmethod(nullcontext)

    def __init__(self) -> None:
        self.started: list[str] = []

    async def recent(self, **_: Any) -> list[RunSummary]:
        return [RunSummary("a1", "2026-01-02T03:04:05Z", "ras", "Who?", "done", "SECRET")]

    async def resume(self, run_id: str, _: Any = None) -> AsyncIterator[Any]:
        self.started.append(run_id)
        yield {"type": "answer"}


@pytest.fixture
async def runs() -> OneRun:
    return OneRun()


@pytest.fixture
async def page(runs: OneRun) -> AsyncIterator[Page]:
    async with serving(runs) as page:
        yield page


async def test_the_page_listens_on_loopback_alone_with_a_token_that_differs_each_time(
    page: Page,
) -> None:
    assert page.base.startswith("http://127.0.0.1:")
    port = int(page.base.rstrip("/").rpartition(":")[2])
    # Another address of this machine's own: what listens on all of them is reached there.
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), timeout=1).close()
    assert len(page.token) >= 32
    async with serving(OneRun()) as other:
        assert other.token != page.token


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer x", "bearer {}", "{}", "Bearer {}x", "Basic é"]
)
async def test_without_the_token_nothing_is_told_or_done(
    page: Page, runs: OneRun, given: str | None
) -> None:
    headers = {} if given is None else {"Authorization": given.replace("{}", page.token).encode()}
    async with httpx.AsyncClient(base_url=page.base) as stranger:
        for request in (
            stranger.get("api/runs", headers=headers),
            stranger.get("api/nothing", headers=headers),
            stranger.get("api/choices", headers=headers),
            stranger.get(f"api/runs?token={page.token}", headers=headers),
            stranger.post("api/resume/a1", headers=headers, json={}),
        ):
            answer = await request
            assert answer.status_code == 401
            assert "open the link" in answer.json()["error"] and "SECRET" not in answer.text
    assert runs.started == []
    assert (await page.get("api/runs"))["runs"][0]["answer"] == "SECRET"


@pytest.mark.parametrize("path", ["", "api/runs"])
async def test_another_host_name_is_refused(page: Page, path: str) -> None:
    port = page.base.rstrip("/").rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert (await page.client.get(path, headers={"Host": host})).status_code == 200
    rebound = ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost:1", "")
    for host in (*rebound, f"127.0.0.1:{port}.evil.example", f"x@127.0.0.1:{port}"):
        answer = await page.client.get(path, headers={"Host": host})
        assert answer.status_code == 421, host
        assert "SECRET" not in answer.text


async def test_pages_of_other_sites_are_refused_even_with_the_token(
    page: Page, runs: OneRun
) -> None:
    port = page.base.rstrip("/").rpartition(":")[2]
    foreign = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"http://evil.example@127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": f"http://127.0.0.1:{port}"},
    ]
    for headers in foreign:
        for request in (
            page.client.post("api/resume/a1", json={}, headers=headers),
            page.client.get("api/runs", headers=headers),
        ):
            assert (await request).status_code == 403, headers
    assert runs.started == []
    sites = [{"Sec-Fetch-Site": site} for site in ("same-origin", "none")]
    own = [*sites, {"Origin": f"http://127.0.0.1:{port}"}, {}]
    for headers in own:
        assert (await page.client.get("api/runs", headers=headers)).status_code == 200
    link_elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert (await page.client.get("", headers=link_elsewhere)).status_code == 200


async def test_every_answer_carries_the_security_headers(page: Page) -> None:
    async with httpx.AsyncClient(base_url=page.base) as stranger:
        answers = [
            await page.client.get(""),
            await page.client.get("main.js"),
            await page.client.get("api/runs"),
            await page.client.get("api/nothing"),
            await page.client.get("api/runs?limit=x"),
            await page.client.get("", headers={"Host": "evil.example"}),
            await stranger.get("api/runs"),
        ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy and "*" not in policy
        # The last three do not follow from the first.
        for name in ("default-src", "base-uri", "form-action", "frame-ancestors"):
            assert f"{name} 'none'" in policy.split("; ")
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
        if "/api/" in str(answer.url) and answer.status_code != 421:
            assert answer.headers["cache-control"] == "no-store"
    script = answers[1]
    assert script.status_code == 200
    assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "../app.py",
        "%2e%2e/app.py",
        "..%2fapp.py",
        "vendor/../../app.py",
        "%2e%2e%2f%2e%2e%2ferrors.py",
        "..%5capp.py",
        "/etc/passwd",
        "//etc/passwd",
        "vendor/",
        "index.html%00",
    ],
)
async def test_no_other_file_is_served(page: Page, path: str) -> None:
    port = int(page.base.rstrip("/").rpartition(":")[2])
    # A client of our own: others tidy such paths up before they send them.
    head = f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    assert answer.split(b"\r\n")[0].split()[1] in (b"404", b"400", b"307")
    assert b"import" not in answer and b"root:" not in answer


async def test_bodies_are_small_json_objects_with_known_fields(page: Page, runs: OneRun) -> None:
    url, kind = "api/resume/a1", {"Content-Type": "application/json"}
    sent = [
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"edits=", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b'{"edits": [' + b" " * MAX_BYTES + b"]}", kind, 413),
        (b"[" * 100_000, kind, 400),
        (b"", kind, 400),
        (b"[]", kind, 400),
        (b'{"edits": [], "code": 1}', kind, 400),
        (b"\xff{}", kind, 400),
    ]
    for content, headers, status in sent:
        answer = await page.client.post(url, content=content, headers=headers)
        assert answer.status_code == status, (content[:40], answer.text)
        assert answer.json()["error"] and "Traceback" not in answer.text
    assert runs.started == []


@pytest.mark.parametrize("checkpoint", ["\ud800", "a\x00b", "", 5])
async def test_what_can_be_no_step_is_refused(page: Page, checkpoint: object) -> None:
    body = json.dumps({"checkpoint": checkpoint})
    kind = {"Content-Type": "application/json"}
    answer = await page.client.post("api/fork/a1", content=body, headers=kind)
    assert answer.status_code == 400
    assert "checkpoint" in answer.json()["error"]


async def test_a_script_is_one_whatever_the_system_takes_it_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starlette.responses.guess_type", lambda *_: ("text/plain", None))
    script = await page.client.get("main.js")
    assert script.headers["content-type"].startswith("text/javascript")
    again = await page.client.get("main.js", headers={"If-None-Match": script.headers["etag"]})
    assert again.status_code == 304


async def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} .*--port"):
            async with serving(OneRun(), port=port):
                pass
