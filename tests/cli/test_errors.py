"""What goes wrong is said in one line that tells what to do, before anything is paid for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ras_flow import __version__
from tests.cli.command import ras_flow
from tests.cli.model import QUESTION, Model
from tests.servers import Answer


def refused(*arguments: str, code: int = 1) -> str:
    """Run a command that must fail; return its one line."""
    done = ras_flow(*arguments)
    assert done.code == code, (done.code, done.out, done.err)
    assert done.out == ""
    [line] = done.err.splitlines()
    assert line.startswith("ras-flow: ")
    return line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "  ", "--docs", "docs"], ["question is empty"]),
        (["ask", "--docs", "docs"], ["Ask something", "ras-flow ask"]),
        (["ask", "Q?", "--docs", "nowhere"], ["nothing at nowhere"]),
        (["ask", "Q?", "--docs", "empty"], ["no document", ".txt"]),
        (["ask", "Q?", "--docs", "docs", "--index", "i"], ["--docs or --index"]),
        (["ask", "Q?", "--docs", "docs", "--retriever", "best"], ["'best'", "bm25", "dense"]),
        (["ask", "Q?", "--index", "nowhere"], ["no index at nowhere"]),
        (["ask", "Q?", "--static"], ["--given"]),
        (["ask", "Q?", "--docs", "docs", "--top-k", "0"], ["top_k"]),
        (["ask", "Q?", "--docs", "docs", "--instruction", "\udcff"], ["instruction"]),
        (["ask", "Q?", "--set", "max_seconds"], ["--set NAME=VALUE"]),
        (["ask", "Q?", "--set", "colour=red"], ["'colour'", "Known", "max_seconds"]),
        (["ask", "Q?", "--set", "unresolved=drop"], ["'unresolved'", "--system t2rag"]),
        (["ask", "Q?", "--system", "x"], ["'x'", "t2rag"]),
        (["ask", "Q?", "--kg", "demo", "--system", "reg", "--docs", "docs"], ["--docs"]),
        (["ask", "Q?", "--system", "reg"], ["--kg GRAPH"]),
        (["ask", "Q?", "--docs", "docs", "--model", "gpt"], ["'gpt'", "provider:model"]),
        (["ask", "Q?", "--docs", "docs", "--model", "openai:gpt-4.1"], ["OPENAI_API_KEY"]),
        (["ask", "Q?", "--docs", "docs", "--model", "local:./nope"], ["./nope"]),
        (["runs", "resume", "nope"], ["no run 'nope'", "ras-flow runs list"]),
        (["triples", "stats", "--database", "~nobody-has-this/x"], ["'~nobody-has-this/x'"]),
        (["index", "build", "--bm25-only", "i", "nowhere"], ["nowhere"]),
        (["index", "build", "--bm25-only", "docs", "docs"], ["docs", "choose a new"]),
        (["index", "add", "nowhere", "docs"], ["no index at nowhere"]),
    ],
    ids=lambda value: " ".join(value[:6]) if isinstance(value, list) else "",
)
def test_a_wrong_command_is_refused(
    arguments: list[str], said: list[str], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs.parent / "empty").mkdir()
    monkeypatch.chdir(docs.parent)
    line = refused(*arguments)
    for part in said:
        assert part in line
    assert not (docs.parent / "cache").exists() or not list((docs.parent / "cache").rglob("gen-*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "Q?", "--top-k", "1.5"], ["'--top-k'", "integer", "See: ras-flow ask --help"]),
        (["ask", "Q?", "--topk", "3"], ["No such option: --topk", "--top-k"]),
        (["ask", "Who", "is", "it?"], ["(is it?): put", "in quotes. See: ras-flow ask --help"]),
        (["runs", "lst"], ["Did you mean 'list'? See: ras-flow runs --help"]),
        (["index", "build", "i"], ["Missing argument 'DOCS'", "See: ras-flow index build --help"]),
        (["ask", "Q?", "--docs", ""], ["'--docs'", "the name is empty"]),
        (["runs", "list", "--limit", "0"], ["'--limit'", "greater than or equal to 1"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value[0].islower() else "",
)
def test_a_command_that_is_written_wrongly_is_one_line_too(
    arguments: list[str], said: list[str]
) -> None:
    line = refused(*arguments, code=2)
    for part in said:
        assert part in line


def test_a_cache_that_cannot_be_written_is_named(
    model: Model, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(next(docs.iterdir())))
    line = refused("ask", QUESTION, "--docs", str(docs), *model.options)
    assert "Cannot write" in line and "Set RAS_FLOW_CACHE to a folder" in line


def test_a_refused_key_is_said_without_the_key(
    model: Model, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123")
    model.answers = lambda role, text: Answer(status=401, error="wrong key sk-secret-0123")
    done = ras_flow("ask", QUESTION, "--docs", str(docs), *model.options)
    [line] = done.err.splitlines()
    assert done.code == 1
    assert "refused (401)" in line and "OPENAI_API_KEY" in line and "sk-secret" not in line
    assert len(model.asked) == 1, "a refused key is not tried again"


@pytest.mark.parametrize("silent", [True, False])
def test_a_server_that_does_not_answer_is_named(model: Model, docs: Path, silent: bool) -> None:
    model.hang = lambda role, text: True
    address = model.server.url
    if not silent:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    done = ras_flow(
        *("ask", QUESTION, "--docs", str(docs), "--retriever", "bm25", "--model", "openai:test"),
        *("--base-url", address, "--set", "max_retries=1", "--set", "model_timeout=0.3"),
    )
    [line] = done.err.splitlines()
    assert done.code == 1
    assert ("model_timeout" if silent else address.split("/")[2]) in line


def test_an_index_that_cannot_be_used_is_named_before_the_model_is_asked(
    model: Model, docs: Path
) -> None:
    index = docs.parent / "index"
    assert ras_flow("index", "build", str(index), str(docs), "--bm25-only").code == 0
    ask = ["ask", QUESTION, "--index", str(index), *model.options]
    assert "without an encoder" in refused(*ask, "--retriever", "dense")
    [passages] = index.glob("gen-*/passages.jsonl")
    passages.write_bytes(passages.read_bytes()[:-5])
    for arguments in (ask, ["index", "info", str(index)]):
        line = refused(*arguments)
        assert "passages.jsonl" in line and "build the index again" in line
    (index / "manifest.json").write_text("{")
    assert "manifest.json" in refused(*ask)
    assert model.asked == []


def test_a_run_database_that_is_damaged_is_named(
    model: Model, docs: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_home.mkdir()
    (own_home / "runs.sqlite").write_text("This is a text about databases. " * 99)
    for arguments in (["runs", "list"], ["ask", QUESTION, "--docs", str(docs), *model.options]):
        line = refused(*arguments)
        assert str(own_home) in line and "move its files away" in line
    assert model.asked == []
    monkeypatch.setenv("HOME", str(own_home))
    monkeypatch.setenv("RAS_FLOW_HOME", "~/runs.sqlite")
    line = refused("runs", "list")
    assert str(own_home / "runs.sqlite") in line and "RAS_FLOW_HOME" in line


NO_MODEL = ["--model", "openai:x", "--base-url", "http://127.0.0.1:1/v1"]
NO_HOME = """
import pwd

def nobody(*_):
    raise KeyError

pwd.getpwuid = nobody
from ras_flow.support.paths import home_folder
from ras_flow.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "variable"),
    [
        (["runs", "list"], "RAS_FLOW_HOME"),
        (["triples", "stats"], "RAS_FLOW_HOME"),
        (["ask", "Q?", "--docs", ".", "--retriever", "bm25", *NO_MODEL], "RAS_FLOW_CACHE"),
    ],
)
def test_a_user_without_a_home_is_told_what_to_set(arguments: list[str], variable: str) -> None:
    """As in a container whose user is a number alone."""
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", NO_HOME, *arguments], capture_output=True, text=True, env=bare
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert f"no home folder. Set {variable} to" in line


def test_the_version_is_told_by_the_command_and_the_package() -> None:
    done = ras_flow("--version")
    assert (done.code, done.out.strip()) == (0, f"ras-flow {__version__}")
    module = subprocess.run([sys.executable, "-m", "ras_flow", "--version"], capture_output=True)
    assert (module.returncode, module.stdout) == (0, f"ras-flow {__version__}\n".encode())
