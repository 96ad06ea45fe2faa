"""`ras-flow eval` with a model behind a server, as a user runs it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import ras_flow
from tests.cli.conftest import plain_environment as plain_environment
from tests.cli.model import ROLES, usual
from tests.evaluation.running.small import write_settings
from tests.servers import Answer, OpenAIServer
from tests.servers.scripted import last_message


def reply(body: dict[str, Any]) -> Answer:
    role = ROLES.get(body["messages"][0]["content"], "reader")
    text = last_message(body)
    if role == "reader":
        return Answer("Leo Fahr" if "designed by Leo Fahr" in text else "Oslo")
    if role == "planner" and "Harbour" in text:
        return Answer("[SUFFICIENT]" if "[SUBQ]" in text else "[SUBQ] x")
    return Answer(usual(role, text))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    return write_settings(tmp_path, server.url)


def test_an_evaluation_is_run_reported_compared_and_its_runs_are_shown(
    settings: Path, server: OpenAIServer
) -> None:
    out = settings.parent / "out"
    done = ras_flow("eval", str(settings), "--out", str(out))
    assert done.code == 0, done.err
    assert "2/2" in done.out and str(out / "report.md") in done.out
    assert "### Scores" in (out / "report.md").read_text()
    asked = len(server.requests)

    again = ras_flow("eval", "--out", str(out), str(settings), "--json")
    assert again.code == 0, again.err
    records = json.loads(again.out)
    assert [(one["system"], one["done"], one["score"]) for one in records] == [
        ("ras", 2, 0.5),
        ("single", 2, 0.5),
    ]
    assert len(server.requests) == asked

    flips = ras_flow("eval", "compare", f"{out}:ras", f"{out}:single")
    assert "only A has 1 right, only B 1." in flips.out
    assert "gold 'Narvik'" in flips.out, flips.out
    assert "why retrieval missed: Not found: Mira Lund." in flips.out, flips.out
    run = next(line for line in flips.out.splitlines() if "'Narvik' (run" in line)
    shown = ras_flow("runs", "show", run.split()[-1].rstrip(")"), "--database", str(out))
    assert shown.code == 0 and "Where was Mira Lund born?" in shown.out

    kept = settings.parent / "rows.jsonl.gz"
    table = ras_flow("eval", "table", str(out), "--rows", str(kept))
    assert table.code == 0 and "| single | 2 | 50.0 |" in table.out, table.err
    assert ras_flow("eval", "table", str(kept)).out == table.out
    rows = gzip.decompress(kept.read_bytes()).decode()
    assert "Mira Lund" not in rows
    # A system's exported rows stand beside a folder's.
    single = [line for line in rows.splitlines() if '"system": "single"' in line]
    kept.write_bytes(gzip.compress("\n".join(single).replace('"single"', '"old"').encode()))
    both = ras_flow("eval", "table", str(out), str(kept)).out
    assert "| single | 2 | 50.0 |" in both and "| old | 2 | 50.0 |" in both

    (out / "report.md").unlink()
    assert ras_flow("eval", "report", str(out)).code == 0
    assert (out / "report.md").exists()


def test_a_ceiling_ends_with_a_code_of_its_own(settings: Path) -> None:
    settings.write_text(settings.read_text() + "[limits]\ntokens = 1\nat_once = 1\n")
    out = settings.parent / "out"
    done = ras_flow("eval", str(settings), "--out", str(out))
    assert done.code == 75
    assert "The ceiling of 1 tokens was reached" in done.err and "1/2" in done.out
    assert "Not finished" in (out / "report.md").read_text()
    assert ras_flow("eval", "report", str(out)).code == 0
    assert "Not finished" in (out / "report.md").read_text()


def test_what_is_wrong_is_said_in_a_line(settings: Path, tmp_path: Path) -> None:
    assert "Missing option" in ras_flow("eval", str(settings)).err
    missing = ras_flow("eval", str(tmp_path / "none.toml"), "--out", str(tmp_path / "o"))
    assert (missing.code, "none.toml" in missing.err) == (1, True)
    nothing = ras_flow("eval", "compare", str(tmp_path), str(tmp_path))
    assert (nothing.code, "holds no evaluation" in nothing.err) == (1, True)
    names = ras_flow("eval", "names")
    assert "ircot" in names.out and "hotpotqa" in names.out
    helped = ras_flow("eval", "--help")
    assert helped.code == 0 and "compare" in helped.out
