"""Lists of runs: filters, prune, exports, databases, servers."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest

from ras_flow import Context, build_graph, open_runs
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.state.kg import triple_id
from tests.cli.command import document, ok, ras_flow, refused
from tests.cli.model import QUESTION, Model
from tests.graph.world import world

BORN = triple_id("Mira Lund", "place of birth", "Narvik")


def test_a_run_is_exported_to_a_file_or_to_the_screen(run: str, tmp_path: Path) -> None:
    file = tmp_path / "run.graphml"
    done = ras_flow("runs", "export", run, "--format", "graphml", "--output", str(file))
    assert (done.code, done.out) == (0, "") and str(file) in done.err
    assert ElementTree.parse(file).getroot().tag.endswith("graphml")
    assert json.loads(ras_flow("runs", "export", run).out) == document(run)
    assert '"Narvik"' in ras_flow("runs", "export", run, "--format", "turtle").out
    graph = json.loads(ras_flow("runs", "export", run, "--format", "jsonld").out)
    assert graph["@graph"]
    page = ras_flow("runs", "export", run, "--format", "html").out
    assert page.startswith("<!") and "Narvik" in page


def test_what_programs_read_is_whole_where_the_locale_has_few_letters(
    run: str, world_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("fork", run, "--from", "merge_graph:1", "--add-triple", "Zoë 🐧 | born in | Bodø")
    command = [Path(sys.executable).with_name("ras-flow"), "runs"]
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    def printed(*arguments: str) -> str:
        done = subprocess.run([*command, *arguments], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    shown, exported = printed("show", run, "--json"), printed("export", run)
    assert shown.isascii() and "Bodø" in exported
    assert json.loads(shown) == json.loads(exported)


async def test_a_list_of_runs_with_ids_of_a_server_has_each_question_on_one_line(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(UUID(int=7))
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        [_ async for _ in runs.start({"question": QUESTION}, run_id=run)]
    monkeypatch.setenv("COLUMNS", "80")
    listed = ras_flow("runs", "list").out.splitlines()
    assert sum(QUESTION in line for line in listed) == 1
    assert sum(run in line and "sufficient" in line for line in listed) == 1
    assert "Narvik" in listed[-1] and max(map(len, listed)) <= 80


def test_runs_are_filtered(run: str) -> None:
    def listed(*arguments: str) -> list[str]:
        return [
            item["run"] for item in json.loads(ras_flow("runs", "list", "--json", *arguments).out)
        ]

    assert listed() == listed("--since", "1h") == listed("--since", "2020-01-01") == [run]
    assert listed("--text", "aurora BRIDGE") == listed("--stop", "sufficient") == [run]
    assert listed("--text", "narvik bridge") == [run], "words of question and answer"
    assert listed("--text", "aurora zebra") == listed("--stop", "budget") == []
    assert listed("--since", "2199-01-01") == []
    assert "No runs match." in ok("list", "--text", "zebra")


def test_prune_asks_first_and_deletes_what_it_said(run: str) -> None:
    assert "--yes" in refused("prune", run)
    assert "No runs to delete" in ok("prune", "--older-than", "1d", "--yes")
    assert "No runs to delete" in ok("prune", "--keep", "1", "--yes")
    assert document(run)["run"] == run
    told = ok("prune", "--older-than", "2199-01-01", "--keep", "0", "--yes")
    assert run in told and "Deleted 1 run." in told
    assert "no run" in refused("show", run)
    assert "No runs yet" in ok("list")


async def test_runs_in_a_database_are_read_and_pruned(run: str, postgres: str) -> None:
    settings = Context.from_mapping(document(run)["branches"][0]["settings"])
    async with open_runs_at(postgres) as runs:
        given: Any = {"question": QUESTION}
        [_ async for _ in runs.start(given, settings, run_id="shared")]
    database = ("--database", postgres)
    assert "Answer Narvik" in ok("show", "shared", *database)
    forked = ok("fork", "shared", "--from", "merge_graph:1", "--drop-triple", BORN, *database)
    assert "Answer elsewhere" in forked
    assert BORN in ok("diff", "shared/1", "shared/2", *database)
    assert "no run 'shared'" in refused("show", "shared")
    line = refused("resume", "shared", *database)
    assert line.endswith("ras-flow runs show shared --database ADDRESS")
    assert "Deleted 1 run." in ok("prune", "shared", "--yes", *database)
    assert "no run 'shared'" in refused("show", "shared", *database)


def test_a_server_that_is_not_there_is_named_without_its_secrets() -> None:
    line = refused("list", "--database", "http://me:secret@127.0.0.1:1")
    assert "server" in line and "secret" not in line


@pytest.mark.parametrize(
    ("status", "body", "command"),
    [
        (200, "<html>Log in</html>", ["list"]),
        (200, '{"detail": "Hello"}', ["show", str(UUID(int=7))]),
        (200, "[1]", ["list"]),
        (302, "", ["show", str(UUID(int=7))]),
        (405, '{"detail": "Method Not Allowed"}', ["show", str(UUID(int=7))]),
        (404, '{"detail": "Not Found"}', ["list"]),
    ],
)
def test_an_address_that_is_no_langgraph_server_is_told(
    status: int, body: str, command: list[str]
) -> None:
    assert "does not answer as a LangGraph server" in answered(status, body, command)


def answered(status: int, body: str, command: list[str]) -> str:
    """Return what a command is told where a server answers everything alike."""
    with site(status, body) as url:
        return refused(*command, "--database", url)


@contextmanager
def site(status: int, body: str) -> Iterator[str]:
    """A server that answers everything alike."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (b"n\n", "Nothing was deleted."),
        (b"\x03", "Nothing was deleted."),
        (b"y\n", "Deleted 1 run."),
    ],
    ids=["no", "ctrl-c", "yes"],
)
def test_prune_on_a_terminal_waits_for_a_yes(typed: bytes, said: str, run: str) -> None:
    child, terminal = pty.fork()
    if not child:
        program = "from ras_flow.cli import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", program, "runs", "prune", run])
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, typed)
    more = typed
    with suppress(OSError):  # What Linux says at the end.
        while more:
            while not select.select([terminal], [], [], 5)[0]:
                os.write(terminal, typed)  # A Ctrl-C just before Python waits is lost on it.
            more = os.read(terminal, 4096)
            shown += more
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run in shown.decode() and said in shown.decode()
    left = json.loads(ras_flow("runs", "list", "--json").out)
    assert len(left) == (0 if typed == b"y\n" else 1)


@pytest.mark.parametrize("where", ["a full disk", "a closed pipe"])
@pytest.mark.parametrize(
    "arguments",
    [["show"], ["export", "--format", "html"]],
    ids=" ".join,
)
def test_an_output_that_takes_nothing_ends_a_command_without_a_traceback(
    where: str, arguments: list[str], run: str
) -> None:
    if where == "a full disk":
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, output = os.pipe()
        os.close(reading)
    program = "from ras_flow.cli import main; main()"
    command = [sys.executable, "-c", program, "runs", arguments[0], run, *arguments[1:]]
    done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True)
    os.close(output)
    assert done.returncode == 1
    if where == "a full disk":
        [line] = done.stderr.splitlines()
        assert line == "ras-flow: Cannot write the output: No space left on device."
    else:  # Whoever closes a pipe has seen enough.
        assert done.stderr == ""
