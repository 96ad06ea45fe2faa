"""A real `vllm serve` on the CPU, from the environment that the Makefile builds."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError

from tests.server.dev import free_port

ROOT = Path(__file__).parents[2]
VLLM = Path(os.environ.get("RAS_FLOW_TEST_VLLM", ROOT / ".venv-vllm" / "bin" / "vllm"))

SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_PLUGINS": "",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@contextmanager
def serve(model: Path | str, *arguments: str, log: Path, key: str = "") -> Iterator[str]:
    """Serve a model; yield the server's address."""
    port = free_port()
    command = [VLLM, "serve", model, "--host", "127.0.0.1", "--port", port, *arguments]
    command += ["--dtype", "float32", "--enforce-eager", "--max-num-seqs", "16"]
    environment = os.environ | SETTINGS | {"VLLM_API_KEY": key}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            # The server's engine is a process of its own.
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float = 420) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"vLLM did not start in {seconds} s: {log.read_text()[-3000:]}")
