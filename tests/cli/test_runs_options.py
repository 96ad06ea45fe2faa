"""Names of runs, times, edits and addresses as the command line takes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.cli.runs.edits import read_edits
from ras_flow.errors import InputError, RunError
from ras_flow.runs.address import find_address
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.reading import (
    find_hop_step,
    find_step,
    get_branch,
    graph_after,
    unique_id,
)
from ras_flow.runs.systems import info_of
from ras_flow.runs.times import parse_time
from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION
from tests.runs.documents import ADA, DESIGNER, Writer, first_answer
from tests.runs.stories import TOP1, drop, events, runs_with

OPERATIONS = info_of("ras")["operations"]


async def test_an_id_that_ends_like_a_branch_is_first_of_all_an_id(saver: Any) -> None:
    runs = runs_with(saver)
    await events(runs.start({"question": QUESTION}, TOP1, run_id="team/7"))
    assert await find_address(runs, "team/7") == ("team/7", None)
    assert await find_address(runs, "team/7/1") == ("team/7", 1)
    assert await find_address(runs, "team/8") == ("team", 8)
    for whole in ("abc", "a/b", "/2", "abc/", "abc/-1"):
        assert await find_address(runs, whole) == (whole, None)


def test_a_time_is_an_age_or_a_date_and_nothing_else() -> None:
    for text, ago in {"30m": 1 / 48, "2h": 1 / 12, "7d": 7, "4w": 28}.items():
        off = datetime.now(UTC) - timedelta(days=ago) - parse_time(text, "--since")
        assert abs(off) < timedelta(seconds=5)
    noon = datetime(2026, 11, 1, 12, 30, tzinfo=UTC)
    assert parse_time("2026-11-01", "--since") == noon.replace(hour=0, minute=0)
    assert parse_time("2026-11-01T12:30:00Z", "--since") == noon
    assert parse_time("2026-11-01T14:30+02:00", "--since") == noon
    for wrong in ("", "h", "2", "-2h", "2y", "1.5h", "yesterday", "9" * 20 + "w", "²h"):
        with pytest.raises(InputError, match="--since .* write 2h"):
            parse_time(wrong, "--since")


def test_edits_take_the_one_form_that_edits_have() -> None:
    words = ["--drop-triple=ab", "--add-triple", "Mira Lund|born in | Narvik", "--subquery"]
    words += ["Where?", "--model", "planner=openai:gpt=x", "--drop-passage", "p1", "--edit", "[1]"]
    found = read_edits(words, OPERATIONS, triples=["abc", "xyz"], passages=["p1", "p12"])
    assert found == [
        {"op": "drop_triple", "triple": "abc"},
        {"op": "add_triple", "subject": "Mira Lund", "predicate": "born in", "object": "Narvik"},
        {"op": "subquery", "text": "Where?"},
        {"op": "model", "role": "planner", "name": "openai:gpt=x"},
        {"op": "drop_passage", "passage": "p1"},
        [1],
    ]


@pytest.mark.parametrize("text", ["", "a", "a | b", "a | | c", "a|b|c|d", "|||"])
def test_what_is_no_triple_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--add-triple"):
        read_edits(["--add-triple", text], OPERATIONS)


def test_an_id_may_be_cut_short_but_not_guessed() -> None:
    ids = ["abc1", "abd2", "abd"]
    assert unique_id("triple", "abc", ids) == "abc1"
    assert unique_id("triple", "abd", ids) == "abd"
    with pytest.raises(InputError, match=r"Several triples begin with 'ab' \(abc1, abd2, abd\)"):
        unique_id("triple", "ab", ids)
    for unknown in ("", "x"):
        with pytest.raises(InputError, match="no triple"):
            unique_id("triple", unknown, ids)


def test_a_step_is_named_by_number_or_by_its_node_and_hop() -> None:
    writer = Writer()
    first_answer(writer)
    document = writer.document()
    branch = get_branch(document)
    names = {"0": 0, "question": 0, "start": 1, "plan:0": 2, "plan:1": 6, "merge_graph:1": 9}
    names |= {"plan": 10, "answer": 11}  # the last of that node
    for name, index in names.items():
        assert find_step(document, branch, name) == index
    for unknown in ("12", "-1", "plan:7", "plans", "", "²", "9" * 5000):
        with pytest.raises(
            InputError, match=r"no step .*a number from 0 to 11, or one of .*plan:1"
        ):
            find_step(document, branch, unknown)


def test_the_last_of_several_steps_of_one_name_is_meant() -> None:
    writer = Writer()
    story = writer.ask().plan("er", label=None).plan("[SUBQ] x", subquery="x")
    story.hop("x", {"Aurora Bridge": [DESIGNER]}).edit(drop=DESIGNER).edit(add=ADA)
    story.plan("[SUFFICIENT]", label="SUFFICIENT")
    document = writer.document()
    branch = get_branch(document)
    assert find_step(document, branch, "plan:0") == 3
    # The graph of a hop is the one that the next hop starts from.
    assert find_hop_step(document, branch, 0) == find_step(document, branch, "edit") == 8
    with pytest.raises(InputError, match=r"no graph of hop 1: .* hops 0 to 0\."):
        find_hop_step(document, branch, 1)


async def test_a_hops_graph_is_what_its_review_left(saver: Any) -> None:
    runs = runs_with(saver)
    waits = Context(top_k=1, pause_after_merge=True)
    await events(runs.start({"question": QUESTION}, waits, run_id="a"))
    dropped = triple_id(*DESIGNER)
    await events(runs.resume("a", drop(dropped)))
    document = await runs.document("a")
    branch = get_branch(document)
    graph = graph_after(document, branch, find_hop_step(document, branch, 0))
    assert graph and dropped not in graph


async def refused(address: str) -> str:
    with pytest.raises(RunError) as error:
        async with open_runs_at(address):
            pass
    assert error.value.__cause__ is None, "a cause may show what the message hides"
    return str(error.value)


async def test_a_mistyped_folder_is_not_made(tmp_path: Path) -> None:
    assert "holds no runs" in await refused(str(tmp_path / "typo"))
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cr%20et@127.0.0.1:1/runs",
        "postgresql://me:s3cr et%zz@127.0.0.1:1/runs",
        "postgresql://me:s3@cret@127.0.0.1:1/runs",
        "postgresql://me:s3/cret@127.0.0.1:1/runs",
        "postgresql://me:s3\udce4cret@127.0.0.1:1/runs",
        "postgresql://me@127.0.0.1:1/runs?password=s3cr%20et",
        "postgres://me:s3cr%20et@[::1/runs",
        "postgresql://me:s3cr%20et@127.0.0.1:1/runs?nonsense=1",
    ],
)
async def test_no_password_is_shown_when_a_database_cannot_be_opened(address: str) -> None:
    message = await refused(address)
    assert "s3" not in message and "cret" not in message and address not in message
    assert "cannot be used" in message or "malformed" in message
