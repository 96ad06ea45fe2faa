"""From a wrong answer to the triple that caused it, on the command line, as a user goes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from ras_flow import Context, build_graph, open_runs
from ras_flow.state.kg import triple_id
from tests.cli.command import document, ok, ras_flow, refused
from tests.cli.model import QUESTION, SECOND, Model
from tests.graph.world import world
from tests.servers import Answer

BORN = triple_id("Mira Lund", "place of birth", "Narvik")
DESIGNER = triple_id("Aurora Bridge", "designer", "Mira Lund")


SUBQUERY = SECOND.removeprefix("[SUBQ] ")


def branch(run: str, number: int) -> dict[str, Any]:
    return dict(document(run)["branches"][number - 1])


async def ask_to_wait(run: str, home: Path, point: str) -> None:
    """Start the run "waits" with the settings of another, and a pause."""
    context = Context.from_mapping({**document(run)["branches"][0]["settings"], point: True})
    async with open_runs(home) as runs:
        [_ async for _ in runs.start({"question": QUESTION}, context, run_id="waits")]


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
        (["list", "--database", ""], ["--database", "address is empty"]),
        (["show", "RUN/2"], ["no branch 2", "only branch 1"]),
        (["fork", "RUN", "--from", "plan:1"], ["No edit given", "replay RUN --from"]),
        (["fork", "RUN", "--drop-triple", "x"], ["--from"]),
        (["fork", "RUN", "--from", "plan:1", "--drop-triple", "zz"], ["no triple 'zz'"]),
        (["fork", "RUN", "--from", "plan:1", "--add-triple", "a|b"], ["SUBJECT | PREDICATE"]),
        (["fork", "RUN", "--from", "plan:1", "--model", "cook=openai:x"], ["cook", "planner"]),
        (["resume", "RUN"], ["is finished"]),
        (["resume", "RUN", "--approve", "--plan", "[SUFFICIENT]"], ["not both"]),
        (["list", "--stop", "boredom"], ["'boredom'", "sufficient"]),
        (["export", "RUN", "--format", "pdf"], ["pdf", "graphml"]),
        (["export", "RUN", "--output", "/nowhere/x.json"], ["/nowhere/x.json", "No such"]),
        (["prune"], ["--older-than", "--keep"]),
        (["prune", "RUN", "--keep", "1"], ["not both"]),
        (["prune", "RUN/1", "--yes"], ["whole runs"]),
        (["prune", "RUN", "nope", "--yes"], ["no run 'nope'", "Nothing was deleted"]),
        (["view", "RUN/99", "--no-browser"], ["no branch 99", "only branch 1"]),
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
