"""What goes wrong is said in one line that tells what to do, before anything is paid for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ras_flow import __version__
from ras_flow.support.paths import home_folder
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
        (["ask", "  ", "--docs", "docs"], ["The question is empty", "ras-flow ask"]),
        (["ask", "--docs", "docs"], ["Ask something", "ras-flow ask"]),
        (["ask", "Q?", "--docs", "nowhere"], ["nothing at nowhere"]),
        (["ask", "Q?", "--docs", "empty"], ["no document", ".txt"]),
        (["ask", "Q?", "--docs", "long" * 999], ["nothing at longlong"]),
        (["ask", "Q?", "--docs", "loop"], ["nothing at loop"]),
        (["ask", "Q?", "--given", "long" * 999], ["no file or folder longlong"]),
        (["ask", "Q?", "--docs", "docs", "--index", "i"], ["--docs or --index, not both"]),
        (["ask", "Q?", "--docs", "docs", "--retriever", "best"], ["'best'", "hybrid, bm25, dense"]),
        (["ask", "Q?", "--docs", "docs", "--task", "poem"], ["'poem'", "short_qa"]),
        (["ask", "Q?", "--index", "nowhere"], ["no index at nowhere", "build one"]),
        (["ask", "Q?", "--index", "loop"], ["loop", "build the index again"]),
        (["ask", "Q?", "--static"], ["--given"]),
        (["ask", "Q?", "--given", "nowhere.jsonl"], ["nowhere.jsonl"]),
        (["ask", "Q?", "--docs", "docs", "--top-k", "0"], ["top_k", "at least 1", "0"]),
        (["ask", "Q?", "--docs", "docs", "--max-hops", "-1"], ["max_hops", "at least 0"]),
        (["ask", "Q?", "--docs", "docs", "--max-tokens", "0"], ["max_tokens", "at least 1"]),
        (["ask", "Q?", "--docs", "docs", "--max-seconds", "nan"], ["max_seconds"]),
        (["ask", "Q?", "--docs", "docs", "--max-concurrency", "0"], ["max_concurrency"]),
        (["ask", "Q?", "--docs", "docs", "--extractor-output", "xml"], ["extractor_output"]),
        (["ask", "Q?", "--docs", "docs", "--max-seconds", "inf"], ["max_seconds", "finite"]),
        (["ask", "Q?", "--docs", "docs", "--max-hops", "9" * 30], ["max_hops", "at most"]),
        (["ask", "Q?", "--docs", "docs", "--instruction", "\udcff"], ["instruction", "UTF-8"]),
        (["ask", "Q?", "--docs", "docs", "--model-timeout", "0"], ["model_timeout"]),
        (["ask", "Q?", "--docs", "docs", "--max-retries", "-1"], ["max_retries"]),
        (["ask", "Q?", "--docs", "docs", "--model", "gpt"], ["'gpt'", "provider:model"]),
        (["ask", "Q?", "--docs", "docs", "--model", "nope:gpt"], ["'nope:gpt'"]),
        (["ask", "Q?", "--docs", "docs", "--model", "openai:gpt-4.1"], ["OPENAI_API_KEY"]),
        (
            ["ask", "Q?", "--docs", "docs", "--model", "anthropic:claude-sonnet-4-5"],
            ["ANTHROPIC_API_KEY"],
        ),
        (["ask", "Q?", "--docs", "docs", "--model", "local:./nope"], ["./nope"]),
        (["runs", "show", "nope"], ["no run 'nope'", "ras-flow runs list"]),
        (["runs", "resume", "nope"], ["no run 'nope'", "ras-flow runs list"]),
        (["runs", "list", "--database", "long" * 999], ["There are no runs in long"]),
        (["triples", "stats", "--database", "long" * 999], ["There are no triples in long"]),
        (["runs", "list", "--database", "~nobody-has-this/x"], ["'~nobody-has-this/x'"]),
        (["triples", "stats", "--database", "~nobody-has-this/x"], ["'~nobody-has-this/x'"]),
        (["eval", "report", "long" * 999], ["There is no evaluation in long"]),
        (["eval", "compare", "long" * 999, "docs"], ["There is no evaluation in long"]),
        (["index", "info", "nowhere"], ["no index at nowhere"]),
        (["index", "build", "--bm25-only", "i", "nowhere"], ["nowhere"]),
        (["index", "build", "--bm25-only", "i", "long" * 999], ["no file or folder longlong"]),
        (
            ["index", "build", "--bm25-only", "long" * 999, "docs"],
            ["Cannot write an index at long"],
        ),
        (["index", "build", "--bm25-only", "docs", "docs"], ["docs", "no index"]),
        (["index", "add", "nowhere", "docs"], ["no index at nowhere"]),
    ],
    ids=lambda value: " ".join(value[:6]) if isinstance(value, list) else "",
)
def test_a_wrong_command_is_refused(
    arguments: list[str], said: list[str], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs.parent / "empty").mkdir()
    (docs.parent / "loop").symlink_to("loop")
    monkeypatch.chdir(docs.parent)
    line = refused(*arguments)
    for part in said:
        assert part in line
    assert not (docs.parent / "cache").exists() or not list((docs.parent / "cache").rglob("gen-*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "Q?", "--top-k", "many"], ["'--top-k'", "integer", "See: ras-flow ask --help"]),
        (["ask", "Q?", "--top-k", "1.5"], ["'--top-k'", "integer"]),
        (["ask", "Q?", "--top-k", ""], ["'--top-k'", "integer"]),
        (["ask", "Q?", "--top-k"], ["'--top-k' requires an argument"]),
        (["ask", "Q?", "--topk", "3"], ["No such option: --topk", "--top-k"]),
        (["ask", "Who", "is", "it?"], ["unexpected extra argument", "See: ras-flow ask --help"]),
        (["runs", "lst"], ["Did you mean 'list'? See: ras-flow runs --help"]),
        (["answer"], ["No such command 'answer'", "See: ras-flow --help"]),
        (["index", "build", "i"], ["Missing argument 'DOCS'", "See: ras-flow index build --help"]),
        (["ask", "Q?", "--docs", ""], ["'--docs'", "the name is empty"]),
        (["ask", "Q?", "--index", ""], ["'--index'", "the name is empty"]),
        (["ask", "Q?", "--given", ""], ["'--given'", "the name is empty"]),
        (["index", "build", "i", ""], ["DOCS", "the name is empty"]),
        (["index", "info", ""], ["INDEX", "the name is empty"]),
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


@pytest.mark.parametrize("arguments", [[], ["index"], ["runs"]], ids=" ".join)
def test_a_group_without_a_command_shows_what_there_is(arguments: list[str]) -> None:
    done = ras_flow(*arguments)
    assert (done.code, done.err) == (2, "")
    assert "Commands" in done.out and "--help" in done.out


def test_a_cache_that_cannot_be_written_is_named(
    model: Model, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(next(docs.iterdir())))
    line = refused("ask", QUESTION, "--docs", str(docs), *model.options)
    assert "Cannot write an index at" in line and "Set RAS_FLOW_CACHE to a folder" in line


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


def test_a_server_that_is_not_there_is_named(docs: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    done = ras_flow(
        *("ask", QUESTION, "--docs", str(docs), "--retriever", "bm25", "--model", "openai:test"),
        *("--base-url", f"http://{address}/v1", "--max-retries", "1"),
    )
    [line] = done.err.splitlines()
    assert done.code == 1
    assert address in line and "in 2 attempts" in line and "Check that the server runs" in line


def test_a_server_that_never_answers_is_given_up(model: Model, docs: Path) -> None:
    model.hang = lambda role, text: True
    options = ["--model-timeout", "0.3", "--max-retries", "0", *model.options]
    done = ras_flow("ask", QUESTION, "--docs", str(docs), *options)
    assert done.code == 1 and "in 1 attempt." in done.err and "Timeout" in done.err


def test_a_damaged_index_is_named_before_the_model_is_asked(model: Model, docs: Path) -> None:
    index = docs.parent / "index"
    assert ras_flow("index", "build", str(index), str(docs), "--bm25-only").code == 0
    [passages] = index.glob("gen-*/passages.jsonl")
    passages.write_bytes(passages.read_bytes()[:-5])
    for arguments in (["ask", QUESTION, "--index", str(index), *model.options], ["index", "info"]):
        line = refused(*arguments, *[str(index)] * (arguments[0] == "index"))
        assert "passages.jsonl" in line and "build the index again" in line
    (index / "manifest.json").write_text("{")
    assert "manifest.json" in refused("ask", QUESTION, "--index", str(index), *model.options)
    assert model.asked == []


def test_vectors_that_an_index_lacks_are_told_before_the_model_is_asked(
    model: Model, docs: Path
) -> None:
    index = str(docs.parent / "index")
    ras_flow("index", "build", index, str(docs), "--bm25-only")
    line = refused("ask", QUESTION, "--index", index, *model.options[:-1], "dense")
    assert "built without an encoder" in line
    assert model.asked == []


def test_a_run_database_that_is_none_is_named(model: Model, docs: Path, own_home: Path) -> None:
    own_home.mkdir()
    (own_home / "runs.sqlite").write_text("This is a text about databases. " * 99)
    for arguments in (
        ["runs", "list"],
        ["runs", "show", "x"],
        ["ask", QUESTION, "--docs", str(docs), *model.options],
    ):
        line = refused(*arguments)
        assert str(own_home) in line and "move its files away" in line
    assert model.asked == []


def test_a_home_under_the_users_own_is_found_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAS_FLOW_HOME", "~/runs")
    assert home_folder() == tmp_path / "runs"


def test_a_home_that_is_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "file"
    home.write_text("")
    monkeypatch.setenv("RAS_FLOW_HOME", str(home))
    line = refused("runs", "list")
    assert str(home) in line and "RAS_FLOW_HOME" in line


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


EARLY = """
import sys

class CtrlC:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from ras_flow.cli import main
main()
"""


def test_ctrl_c_while_the_commands_are_loaded_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "ras-flow: interrupted.\n"


def test_the_version_is_told() -> None:
    done = ras_flow("--version")
    assert (done.code, done.out.strip()) == (0, f"ras-flow {__version__}")


def test_the_package_is_the_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "ras_flow", "--version"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, f"ras-flow {__version__}\n".encode())
