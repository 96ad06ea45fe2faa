"""`langgraph dev` over a langgraph.json of the repository, as a process of its own."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ras_flow.settings.limits import MODEL_SERVERS

CONFIG = Path(__file__).parents[2] / "langgraph.json"
SECONDS_TO_START = 120
KEYS = {"ada": "key-of-ada", "bo": "key-of-bo"}
"""The users of the example's auth handler."""


@dataclass(frozen=True)
class DevServer:
    url: str
    log: Path
    process: subprocess.Popen[bytes]


@contextmanager
def langgraph_dev(
    folder: Path,
    cache: Path,
    config: Path = CONFIG,
    environment: Mapping[str, str] | None = None,
) -> Iterator[DevServer]:
    """Serve from a folder of the test, where the in-memory runtime keeps its files."""
    port = free_port()
    log_file = folder / "server.log"
    command = [str(Path(sys.executable).parent / "langgraph"), "dev", "--config", str(config)]
    command += ["--no-browser", "--no-reload", "--port", str(port), "--n-jobs-per-worker", "4"]
    with log_file.open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=inherited()
            | {
                "LANGGRAPH_STRICT_MSGPACK": "true",
                "LANGGRAPH_CLI_NO_ANALYTICS": "1",
                "LANGGRAPH_NO_VERSION_CHECK": "true",
                "LANGSMITH_TRACING": "false",
                "OPENAI_API_KEY": "placeholder",
                "RAS_FLOW_HOME": str(folder / "home"),
                "RAS_FLOW_CACHE": str(cache),
                "NO_COLOR": "1",
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = DevServer(f"http://127.0.0.1:{port}", log_file, process)
    try:
        _wait(process, server)
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def inherited() -> dict[str, str]:
    """This process's environment without what is about models and tracing.

    Runs may name the tests' own model servers.
    """
    private = ("LANGSMITH_", "LANGCHAIN_", "OPENAI_", "ANTHROPIC_", "LANGGRAPH_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(private)}
    return kept | {MODEL_SERVERS: "http://127.0.0.1"}


def _wait(process: subprocess.Popen[bytes], server: DevServer) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/ok", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    raise AssertionError(f"langgraph dev did not start:\n{server.log.read_text()}")


def free_port() -> int:
    """Return a port that nobody has, nor is given by the system until the server takes it."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
