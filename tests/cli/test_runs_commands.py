"""From a wrong answer to the triple that caused it, on the command line, as a user goes."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
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
from tests.cli.command import Command, Done, ras_flow, ras_flow_main
from tests.cli.model import QUESTION, SECOND, Model, write_documents
from tests.graph.world import world
from tests.servers import Answer

BORN = triple_id("Mira Lund", "place of birth", "Narvik")
DESIGNER = triple_id("Aurora Bridge", "designer", "Mira Lund")
SUBQUERY = SECOND.removeprefix("[SUBQ] ")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, Model]]:
    """The home folder of a finished run, its id, and its model; tests work on copies."""
    folder = tmp_path_factory.mktemp("asked")
    with Model() as model:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAS_FLOW_HOME", str(folder / "home"))
            patch.setenv("RAS_FLOW_CACHE", str(folder / "cache"))
            docs = write_documents(folder / "docs")
            arguments = ["ask", QUESTION, "--docs", str(docs), "--top-k", "1", "--json"]
            done = ras_flow(*arguments, *model.options)
        assert done.code == 0, done.err
        yield folder / "home", json.loads(done.out)["run"], model


@pytest.fixture
def run(asked: tuple[Path, str, Model], own_home: Path) -> str:
    home, run, _ = asked
    own_home.mkdir()
    for file in home.glob("*.sqlite*"):
        (own_home / file.name).write_bytes(file.read_bytes())
    return run


@pytest.fixture
def world_model(asked: tuple[Path, str, Model]) -> Iterator[Model]:
    """The model that the run's settings name."""
    model = asked[2]
    model.asked.clear()
    yield model
    model.answers = lambda role, text: None


def document(run: str) -> dict[str, Any]:
    done = ras_flow("runs", "show", run, "--json")
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def branch(run: str, number: int) -> dict[str, Any]:
    return dict(document(run)["branches"][number - 1])


async def ask_to_wait(run: str, home: Path, point: str) -> None:
    """Start the run "waits" with the settings of another, and a pause."""
    context = Context.from_mapping({**document(run)["branches"][0]["settings"], point: True})
    async with open_runs(home) as runs:
        [_ async for _ in runs.start({"question": QUESTION}, context, run_id="waits")]


def ok(*arguments: str) -> str:
    done = ras_flow("runs", *arguments)
    assert (done.code, done.err) == (0, ""), done.err
    return " ".join(done.out.split())


def refused(*arguments: str) -> str:
    """Run a command that fails, and return its one line."""
    done: Done = ras_flow("runs", *arguments)
    [line] = done.err.splitlines()
    assert done.code in (1, 2) and line.startswith("ras-flow: "), done
    return line


def test_show_numbers_the_steps_that_fork_takes(run: str) -> None:
    shown = ok("show", run)
    for part in [
        "0 question",
        "2 plan:0",
        f"+ {BORN} Mira Lund | place of birth | Narvik [Mira Lund]",
        f"[SUBQ] {SUBQUERY}",
        "Answer Narvik sufficient",
        "6 model calls",
    ]:
        assert part in shown
    found = document(run)
    assert (found["run"], found["question"], found["current"]) == (run, QUESTION, 1)
    assert ok("show", f"{run}/1") == shown


def test_the_graph_grows_hop_by_hop(run: str) -> None:
    first, last = (
        json.loads(ras_flow("runs", "graph", run, *more, "--json").out)
        for more in (["--hop", "0"], [])
    )
    assert BORN not in first["triples"]
    assert set(first["triples"]) <= set(last["triples"])
    assert set(first["new"]) == set(first["triples"]) and last["new"] == []
    assert {BORN, DESIGNER} <= set(last["cited"])
    shown = ok("graph", run)
    assert f"* place of birth → Narvik {BORN}" in shown
    assert "no graph of hop 7" in refused("graph", run, "--hop", "7")


def test_a_fork_without_the_triple_changes_the_answer_and_keeps_the_run(run: str) -> None:
    before = document(run)
    forked = ok("fork", run, "--from", "merge_graph:1", "--drop-triple", BORN[:6])
    assert "Answer elsewhere" in forked
    assert f"Compare with: ras-flow runs diff {run}/1 {run}/2" in forked
    after = document(run)
    assert [way["answer"] for way in after["branches"]] == ["Narvik", "elsewhere"]
    assert after["branches"][0] == before["branches"][0]
    assert after["current"] == 2
    shown = ok("show", run)
    assert "branch 2 of 2" in shown and f"- {BORN}" in shown
    assert "Answer Narvik" in ok("show", f"{run}/1")

    found = json.loads(ras_flow("runs", "diff", f"{run}/1", f"{run}/2", "--json").out)
    assert {"triple": BORN, "cited_by": "a"} in found["deciding"]
    assert BORN in found["triples"]["only_a"]
    told = ok("diff", f"{run}/1", f"{run}/2")
    assert f"- {BORN} Mira Lund | place of birth | Narvik" in told
    assert "made the difference" in told


def test_a_replay_is_a_branch_of_its_own(run: str, world_model: Model) -> None:
    done = ras_flow("runs", "replay", run, "--from", "plan:1", "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert (result["run"], result["branch"], result["status"]) == (run, 2, "finished")
    assert result["answer"] == "Narvik"
    assert world_model.count("planner") == 1, "a plan before the step was asked for again"
    assert "Answer the same" in ok("diff", f"{run}/1", run)


def test_every_kind_of_edit_can_be_made(run: str, world_model: Model) -> None:
    added = ok(
        "fork", run, "--from", "merge_graph:0", "--add-triple", "Ada | place of birth | Bodø",
        "--plan", "[SUFFICIENT]", "--model", "answerer=openai:other",
    )  # fmt: skip
    assert "Answer" in added
    way = branch(run, 2)
    assert way["settings"]["answerer"] == "openai:other"
    assert way["stop_reason"] == "sufficient" and len(way["hops"]) == 1
    assert [role for role, _ in world_model.asked] == ["answerer"]
    assert world_model.asked[0][1]["model"] == "other"
    assert "Bodø" in json.dumps(world_model.asked[0][1], ensure_ascii=False)

    ok("fork", f"{run}/1", "--from", "plan:1", "--subquery", "Who is Leo Fahr?")
    assert branch(run, 3)["hops"][1]["subquery"] == "Who is Leo Fahr?"

    passage = document(run)["triples"][BORN]["passages"][0]
    ok("fork", f"{run}/1", "--from", "merge_graph:1", "--drop-passage", passage)
    way = branch(run, 4)
    assert BORN not in sum(way["hop_triples"], []) and way["answer"] == "elsewhere"

    ok("fork", f"{run}/1", "--from", "to_triples:1", "--drop-triple", BORN[:8])
    way = branch(run, 5)
    assert BORN not in sum(way["hop_triples"], []) and way["answer"] == "elsewhere"

    ok("fork", f"{run}/1", "--from", "plan:0", "--model", "extractor=none")
    way = branch(run, 6)
    assert way["settings"]["extractor"] == "none"
    assert len(way["hops"]) == 2 and way["hop_triples"] == [[], []]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "nope"], ["no run 'nope'", "ras-flow runs list"]),
        (["show", "\udcff"], ["no run", "ras-flow runs list"]),
        (["list", "--database", ""], ["--database", "address is empty"]),
        (["show", "RUN/2"], ["no branch 2", "only branch 1"]),
        (["fork", "RUN", "--from", "plan:1"], ["No edit given", "replay RUN --from"]),
        (["fork", "RUN", "--from", "99", "--plan", "[SUFFICIENT]"], ["no step '99'", "plan:1"]),
        (["fork", "RUN", "--drop-triple", "x"], ["--from"]),
        (["fork", "RUN", "--from", "plan:1", "--drop-triple", "zz"], ["no triple 'zz'"]),
        (["fork", "RUN", "--from", "plan:1", "--add-triple", "a|b"], ["subject | predicate"]),
        (["fork", "RUN", "--from", "plan:1", "--model", "cook=openai:x"], ["cook", "planner"]),
        (["replay", "RUN", "--from", "nowhere"], ["no step 'nowhere'"]),
        (["resume", "RUN"], ["is finished"]),
        (["resume", "RUN", "--approve"], ["not waiting"]),
        (["resume", "RUN", "--approve", "--plan", "[SUFFICIENT]"], ["not both"]),
        (["diff", "RUN", "nope"], ["no run 'nope'"]),
        (["list", "--since", "soon"], ["'soon'", "2h"]),
        (["list", "--stop", "boredom"], ["'boredom'", "sufficient"]),
        (["export", "RUN", "--format", "pdf"], ["pdf", "graphml"]),
        (["export", "RUN", "--output", "/nowhere/x.json"], ["/nowhere/x.json", "No such"]),
        (["prune"], ["--older-than", "--keep"]),
        (["prune", "RUN", "--keep", "1"], ["not both"]),
        (["prune", "RUN/1", "--yes"], ["whole runs"]),
        (["prune", "RUN", "nope", "--yes"], ["no run 'nope'", "Nothing was deleted"]),
        (["prune", "\udcff", "--yes"], ["no run", "ras-flow runs list"]),
        (["show", "RUN/" + "9" * 5000], ["no run 'RUN/999"]),
        (["replay", "RUN", "--from", "9" * 5000], ["no step '999", "0 to 11"]),
        (["view", "RUN/99", "--no-browser"], ["no branch 99", "only branch 1"]),
        (
            ["fork", "RUN", "--from", "plan:1", "--subquery", "Who?", "--plan", "[SUFFICIENT]"],
            ["--subquery or --plan, not both"],
        ),
        (
            ["fork", "RUN", "--from", "plan:1", "--model", "answerer=nope:x"],
            ["'nope:x' cannot be used"],
        ),
        (
            ["fork", "RUN", "--from", "plan:1", "--model", "answerer=local:/nowhere/x"],
            ["model folder '/nowhere/x'"],
        ),
        (["show", "RUN", "--database", "mysql://me:secret@host/x"], ["mysql://", "postgresql://"]),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told_in_one_line(
    arguments: list[str], words: list[str], run: str
) -> None:
    line = refused(*(argument.replace("RUN", run) for argument in arguments))
    for word in words:
        assert word.replace("RUN", run) in line
    assert "secret" not in line
    assert len(document(run)["branches"]) == 1, "something was changed"


def test_why_without_names_the_triple_that_the_answer_hangs_on(
    run: str, world_model: Model
) -> None:
    told = ok("why", run, "--without")
    assert "whole graph: Narvik as in the run" in told
    assert f"without {BORN} Mira Lund | place of birth | Narvik: changes: elsewhere" in told
    assert f"without {DESIGNER} Aurora Bridge | designer | Mira Lund: stays: Narvik" in told
    found = json.loads(ras_flow("runs", "why", run, "--without", "--json").out)
    assert [item["triple"] for item in found["without"] if item["changed"]] == [BORN]
    assert {role for role, _ in world_model.asked} == {"answerer"}
    assert len(document(run)["branches"]) == 1, "a checkpoint was written"


def test_why_fails_in_one_line_when_the_model_does(run: str, world_model: Model) -> None:
    world_model.answers = lambda role, text: Answer(status=401)
    done = ras_flow("runs", "why", run, "--without")
    assert done.code == 1 and "was refused (401)" in done.err
    assert "Answer Narvik" in " ".join(done.out.split())


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
    assert "Zoë 🐧" in printed("export", run, "--format", "turtle")


@pytest.mark.parametrize("width", ["80", "160"])
async def test_a_list_of_runs_with_ids_of_a_server_has_each_question_on_one_line(
    width: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(UUID(int=7))
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        [_ async for _ in runs.start({"question": QUESTION}, run_id=run)]
    monkeypatch.setenv("COLUMNS", width)
    listed = ras_flow("runs", "list").out.splitlines()
    assert sum(QUESTION in line for line in listed) == 1
    assert sum(run in line and "sufficient" in line for line in listed) == 1
    assert "Narvik" in listed[-1] and max(map(len, listed)) <= int(width)


async def test_a_run_whose_id_has_a_slash_is_shown_compared_and_deleted(own_home: Path) -> None:
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        given: Any = {"question": QUESTION}
        [event async for event in runs.start(given, Context(top_k=1), run_id="team/7")]
    assert "run team/7," in ok("show", "team/7") and "run team/7," in ok("show", "team/7/1")
    assert json.loads(ok("diff", "team/7", "team/7/1", "--json"))["same_answer"]
    refused = ras_flow("runs", "prune", "team/7/1", "--yes")
    assert refused.code == 1 and "is one branch" in refused.err
    ok("prune", "team/7", "--yes")
    assert json.loads(ok("list", "--json")) == []


def test_runs_are_filtered(run: str) -> None:
    def listed(*arguments: str) -> list[str]:
        return [
            item["run"] for item in json.loads(ras_flow("runs", "list", "--json", *arguments).out)
        ]

    assert listed() == listed("--since", "1h") == listed("--since", "2020-01-01") == [run]
    assert listed("--text", "aurora BRIDGE") == listed("--stop", "sufficient") == [run]
    assert listed("--text", "zebra") == listed("--stop", "budget") == []
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


@pytest.mark.parametrize(
    ("point", "asks", "arguments", "answer"),
    [
        ("pause_before_retrieval", "right subquery", ["--approve"], "Narvik"),
        ("pause_before_retrieval", "right subquery", ["--plan", "[SUFFICIENT]"], "elsewhere"),
        ("pause_after_merge", BORN, ["--drop-triple", BORN], "elsewhere"),
        ("pause_before_answer", "before it answers", ["--approve"], "Narvik"),
    ],
)  # fmt: skip
async def test_a_run_that_waits_is_answered(
    point: str,
    asks: str,
    arguments: list[str],
    answer: str,
    run: str,
    own_home: Path,
    world_model: Model,
) -> None:
    await ask_to_wait(run, own_home, point)
    # The first stop of each kind that is not the one meant is approved.
    for _ in range(4):
        asked = ok("resume", "waits")
        assert "Waits" in asked and "--approve" in asked
        if asks in asked and (arguments != ["--plan", "[SUFFICIENT]"] or SUBQUERY in asked):
            break
        ok("resume", "waits", "--approve")
    told = ok("resume", "waits", *arguments)
    while branch("waits", 1)["status"] == "paused":
        told = ok("resume", "waits", "--approve")
    assert f"Answer {answer}" in told


def test_a_fork_that_fails_is_kept_and_any_branch_can_be_resumed(
    run: str, world_model: Model
) -> None:
    world_model.answers = lambda role, text: Answer(status=401)
    line = refused("fork", run, "--from", "merge_graph:1", "--drop-triple", BORN)
    assert "was refused (401)" in line and line.endswith(f"ras-flow runs resume {run}")
    world_model.answers = lambda role, text: None
    assert "Answer Narvik" in ok("replay", f"{run}/1", "--from", "plan:1")
    assert [way["status"] for way in document(run)["branches"]] == [
        "finished",
        "unfinished",
        "finished",
    ]
    shown = ok("show", f"{run}/2")
    assert f"Unfinished; next: plan. Go on with: ras-flow runs resume {run}/2" in shown
    assert refused("why", f"{run}/2").endswith(f"ras-flow runs resume {run}/2")
    assert "Answer elsewhere" in ok("resume", f"{run}/2")
    assert [way["answer"] for way in document(run)["branches"]] == ["Narvik", "elsewhere", "Narvik"]


def test_a_command_that_is_told_finds_the_run_where_it_is(
    run: str, own_home: Path, world_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my runs"
    own_home.rename(folder)
    database, there = ("--database", str(folder)), f" --database '{folder}'"
    assert refused("resume", run, *database).endswith(f"ras-flow runs show {run}{there}")
    for unknown in (["show", "x"], ["prune", run, "x", "--yes"]):
        assert refused(*unknown, *database).endswith(f"ras-flow runs list{there}")
    line = refused("resume", run, "--approve", *database)
    assert line.endswith(f"ras-flow runs fork {run} --from STEP{there}")
    told = ok("replay", run, "--from", "plan:2", *database)
    assert told.endswith(f"Compare with: ras-flow runs diff {run}/1 {run}/2{there}")
    world_model.answers = lambda role, text: Answer(status=401)
    line = refused("replay", run, "--from", "plan:1", *database)
    assert line.endswith(f"ras-flow runs resume {run}{there}")
    assert ok("show", f"{run}/3", *database).count(f"runs resume {run}{there}") == 1
    line = refused("why", f"{run}/3", *database)
    assert line.endswith(f"ras-flow runs resume {run}{there}")
    monkeypatch.setenv("RAS_FLOW_DATABASE", str(folder))
    assert refused("why", f"{run}/3").endswith(f"ras-flow runs resume {run}")


@pytest.mark.parametrize("id", ["Mira's v1.2", "--all of it"])
async def test_a_command_that_is_told_has_the_runs_id_as_a_shell_takes_it(
    own_home: Path, id: str
) -> None:
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        given: Any = {"question": QUESTION}
        [event async for event in runs.start(given, Context(top_k=1), run_id=id)]
    database = ["--database", str(own_home)]

    def told(*arguments: str) -> list[str]:
        return shlex.split(
            refused(*arguments).rpartition(" with: ")[2].removeprefix("ras-flow runs")
        )

    show = told("resume", *database, "--", id)
    assert show[0] == "show" and QUESTION in ok(*show)
    fork = told("resume", "--approve", *database, "--", id)
    replay = told(*fork)
    assert (fork[0], replay[0]) == ("fork", "replay")
    assert "no step 'STEP'" in refused(*replay)


async def test_what_a_run_asks_is_there_as_json(run: str, own_home: Path) -> None:
    await ask_to_wait(run, own_home, "pause_before_answer")
    done = ras_flow("runs", "resume", "waits", "--json")
    asked = json.loads(done.out)
    assert (asked["run"], asked["branch"], asked["status"]) == ("waits", 1, "paused")
    assert asked["review"]["point"] == "before_answer" and BORN in asked["review"]["triples"]
    assert "no triple 'zz'" in refused("resume", "waits", "--drop-triple", "zz")
    done = ras_flow("runs", "resume", "waits", "--drop-triple", BORN[:8], "--json")
    result = json.loads(done.out)
    assert (result["answer"], result["status"], result["review"]) == ("elsewhere", "finished", None)


async def test_a_refused_answer_is_told_of_the_branch_that_was_answered(
    run: str, own_home: Path, world_model: Model
) -> None:
    await ask_to_wait(run, own_home, "pause_before_answer")
    told = ok("replay", "waits", "--from", str(len(branch("waits", 1)["steps"]) - 1))
    assert "Waits" in told and "Compare with" not in told, "nothing but the same was done"
    ok("replay", "waits", "--from", "plan:1")
    assert "Answer Narvik" in ok("resume", "waits/1", "--approve")

    bad = ("runs", "resume", "waits/2", "--plan", "[SUFFICIENT]")
    done = ras_flow(*bad)
    assert done.code == 1 and "'plan' cannot be done here" in done.err and "waits" in done.err
    assert "Waits" in done.out and "Narvik\n         sufficient" not in done.out
    done = ras_flow(*bad, "--json")
    asked = json.loads(done.out)
    assert (done.code, asked["branch"], asked["status"]) == (1, 2, "paused")
    assert "answer" not in asked and "'plan'" in asked["review"]["problem"]
    assert "Answer elsewhere" in ok("resume", "waits/2", "--drop-triple", BORN)
    assert [way["answer"] for way in document("waits")["branches"]] == ["Narvik", "elsewhere"]


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


def killed_before_the_end(arguments: list[str]) -> None:
    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", die)
        ras_flow_main(arguments)


def test_an_export_is_written_whole_or_not_at_all(run: str, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    file.write_text("what was there")
    arguments = ("runs", "export", run, "--format", "html", "-o", str(file))
    died = Command(*arguments, main=killed_before_the_end).wait()
    assert died.code == -signal.SIGKILL and file.read_text() == "what was there"
    assert ras_flow(*arguments).code == 0
    assert file.read_text().rstrip().endswith("</html>")
    assert "cannot be written" in refused("export", run, "-o", str(tmp_path))
    assert "cannot be written" in refused("export", run, "-o", str(tmp_path / "no" / "x.json"))
    link = tmp_path / "link.html"
    link.symlink_to(file.name)
    assert ras_flow(*arguments[:-1], str(link)).code == 0 and link.is_symlink()
