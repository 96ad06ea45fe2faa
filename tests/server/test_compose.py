"""The compose file, as far as it can be checked where no docker runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from langgraph_cli.docker import DockerCapabilities, Version, compose_as_dict

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "compose.yaml"
OURS = re.compile(r"RAS_FLOW_\w+|VLLM_\w+")
INTERPOLATED = {"RAS_FLOW_IMAGE", "RAS_FLOW_INDEX_FOLDER", "VLLM_MODEL"}
"""Names that only the compose file itself has."""


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load(FILE.read_text())


@pytest.fixture(scope="module")
def servers_own() -> Any:
    """What the server's command line would write for the same services."""
    version = Version(25, 0, 0)
    capabilities = DockerCapabilities(version, version, healthcheck_start_interval=True)
    return compose_as_dict(capabilities, port=8123)["services"]


def test_the_server_finds_its_database_and_its_queue(compose: Any, servers_own: Any) -> None:
    api = compose["services"]["api"]
    own = servers_own["langgraph-api"]
    assert own["environment"].keys() <= api["environment"].keys()
    assert "@postgres:5432/ras" in api["environment"]["POSTGRES_URI"]
    assert api["environment"]["REDIS_URI"] == "redis://redis:6379"
    assert api["healthcheck"]["test"] == own["healthcheck"]["test"]
    assert api["ports"][0].rpartition(":")[2] == own["ports"][0].strip('"').rpartition(":")[2]
    image = compose["services"]["postgres"]
    assert image["image"] == servers_own["langgraph-postgres"]["image"]
    assert {image["environment"]["POSTGRES_DB"], image["environment"]["POSTGRES_USER"]} == {"ras"}


def test_a_stopped_server_has_time_to_end_its_runs(compose: Any) -> None:
    api = compose["services"]["api"]
    grace = int(api["environment"]["BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS"])
    assert int(api["stop_grace_period"].removesuffix("s")) > grace


def test_our_variables_are_those_that_the_code_reads(compose: Any) -> None:
    code = "".join(file.read_text() for file in (ROOT / "ras_flow").rglob("*.py"))
    named = set(OURS.findall(FILE.read_text())) - INTERPOLATED
    assert {"RAS_FLOW_MAX_QUESTION", "VLLM_BASE_URL"} <= named
    assert named <= set(OURS.findall(code))
    # The containers get the same `.env` as the file: a name may not mean two things.
    assert not INTERPOLATED & set(OURS.findall(code))


def test_no_secret_is_in_the_file_or_gets_into_the_image(compose: Any) -> None:
    assert compose["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${")
    assert compose["services"]["api"]["env_file"] == [{"path": ".env", "required": False}]
    for file in (".dockerignore", ".gitignore"):
        assert {".env", "**/.env"} & set((ROOT / file).read_text().split())
    assert "ports" not in compose["services"]["vllm"]
    assert compose["services"]["api"]["ports"][0].startswith("127.0.0.1:")
