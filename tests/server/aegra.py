"""aegra over the example's auth handler, as a process that can be stopped and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.server.dev import KEYS, free_port, inherited

CONFIG = Path(__file__).parents[2] / "examples" / "auth" / "aegra.json"
SECONDS_TO_START = 180
SECONDS_TO_STOP = 30
GRACE = "2"
"""Seconds that open streams get when the server is told to stop."""


class Aegra:
    """The server; each start is a new process on the same database and port.

    Args:
        database: Address of an empty database.
        folder: For its log, and the runs' home.
    """

    def __init__(self, database: str, folder: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "aegra.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [str(Path(sys.executable).parent / "uvicorn"), "aegra_api.main:app"]
        self._command += ["--host", "127.0.0.1", "--port", str(port)]
        self._command += ["--timeout-graceful-shutdown", GRACE]
        self._folder = folder
        self._environment = inherited() | {
            "AEGRA_CONFIG": str(CONFIG),
            "DATABASE_URL": database,
            "RAS_FLOW_USERS": json.dumps({key: name for name, key in KEYS.items()}),
            "LANGGRAPH_STRICT_MSGPACK": "true",
            "OPENAI_API_KEY": "placeholder",
            "RAS_FLOW_HOME": str(folder / "home"),
        }

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/ready", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.2)
        raise AssertionError(f"aegra did not start:\n{self.log.read_text()[-5000:]}")

    def stop(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end; return the exit code."""
        assert self._process is not None
        os.killpg(self._process.pid, number)
        try:
            return self._process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None
