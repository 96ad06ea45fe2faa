"""Triples made before anyone asks, from the command line: real processes, real store."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ras_flow.cli.triples import export
from ras_flow.errors import RunError
from ras_flow.parts import Extraction
from ras_flow.runs import open_store
from ras_flow.triples.cache import TripleCache
from tests.cli.command import Command, ras_flow
from tests.cli.model import QUESTION, Model
from tests.servers import Answer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAS_FLOW_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def index(docs: Path) -> Path:
    path = docs.parent / "index"
    assert ras_flow("index", "build", str(path), str(docs), "--bm25-only").code == 0
    return path


def command(model: Model, index: Path) -> list[str]:
    settings = ["--extractor", "openai:test", "--base-url", model.server.url]
    return ["triples", "precompute", str(index), *settings, "--set", "max_retries=0"] + [
        "--set",
        "loop=paper",
    ]


def test_a_question_after_precompute_makes_no_extractor_call(model: Model, index: Path) -> None:
    done = ras_flow(*command(model, index))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{index}: 4 passages, 0 known, 4 extracted (6 triples), 0 failed;")
    assert "tokens read" in done.out and " 0 written" not in done.out
    assert model.count("extractor") == 4
    asked = ras_flow("ask", QUESTION, "--index", str(index), "--json", *model.options)
    assert json.loads(asked.out)["answer"] == "Narvik"
    assert model.count("extractor") == 4 and model.count("planner") > 1
    again = ras_flow(*command(model, index), "--json")
    assert json.loads(again.out)["known"] == 4 and model.count("extractor") == 4


def test_an_index_of_triples_is_made_and_verified(model: Model, index: Path) -> None:
    made = [*command(model, index), "--json"]
    made[1] = "index"
    first = json.loads(ras_flow(*made).out)
    assert first["indexed"] | {"gone": 0} == first["indexed"] and first["indexed"]["new"] == 6
    info = ras_flow("index", "info", str(index), "--json")
    [held] = json.loads(info.out)["propositions"]
    assert (held["passages"], held["propositions"]) == (4, 6) and "test" in held["extractor"]
    [vectors] = index.glob("triples/*/gen-*/vectors.npy")
    vectors.write_bytes(vectors.read_bytes()[:-1] + b"?")
    assert "altered" in ras_flow("index", "info", str(index), "--verify").err


def test_stats_export_and_clear(model: Model, index: Path, tmp_path: Path) -> None:
    assert ras_flow("triples", "stats").out == "No triples are kept yet.\n"
    ras_flow(*command(model, index))
    ras_flow(*command(model, index), "--extractor", "openai:other")
    stats = json.loads(ras_flow("triples", "stats", "--json").out)
    assert [(one["passages"], one["triples"]) for one in stats] == [(4, 6), (4, 6)]
    assert {one["extractor"].split("@")[0] for one in stats} == {
        "openai-chat:test", "openai-chat:other"
    }  # fmt: skip
    file = tmp_path / "kept.jsonl"
    assert ras_flow("triples", "export", "--extractor", "other", "-o", str(file)).code == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 4 and all("other" in line["extractor"] for line in lines)
    assert ["Narvik", "country", "Norway"] in [t for line in lines for t in line["triples"]]
    assert len(ras_flow("triples", "export").out.splitlines()) == 8
    refused = ras_flow("triples", "clear")
    assert refused.code == 1 and "--yes" in refused.err
    assert ras_flow("triples", "clear", "--extractor", "other", "--yes").out == (
        "Deleted the triples of 4 passages.\n"
    )
    assert len(json.loads(ras_flow("triples", "stats", "--json").out)) == 1
    ras_flow("triples", "clear", "--yes")
    assert ras_flow("triples", "clear").out == "No triples to delete.\n"


def test_an_export_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text("old\n")
    with pytest.raises(RunError, match="cannot be reached"):
        export(output=file, database="ftp://x")
    assert file.read_text() == "old\n"


async def keep(folder: Path, triple: tuple[str, str, str]) -> None:
    async with open_store(str(folder), new=True) as store:
        await TripleCache(store, "x").put({"p1": Extraction([triple])})


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "said"),
    [
        ("triples stats --json", ">&-", 0, ""),
        ("triples export", "<&- >&- 2>&-", 0, ""),
        ("triples clear", "<&-", 1, "ras-flow: Nothing was deleted: pass --yes to delete "),
    ],
)
def test_a_command_may_be_started_without_streams(
    arguments: str, closed: str, code: int, said: str, home: Path
) -> None:
    asyncio.run(keep(home, ("a", "is", "b")))
    program = "from ras_flow.cli import main; main()"
    command = ["sh", "-c", f'"$0" -c "$1" {arguments} {closed}', sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(said) and len(done.stderr.splitlines()) == bool(said)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_precompute_goes_on_where_it_was(
    model: Model, index: Path, number: signal.Signals
) -> None:
    model.hang = lambda role, text: "Narvik is a town" in text
    going = Command(*command(model, index), "--workers", "1")
    going.until(model.hanging.is_set)
    before = len(model.answered)
    going.send(number)
    done = going.wait()
    if number == signal.SIGINT:
        assert (done.code, "Traceback" in done.err) == (130, False)
        assert "go on with the same command" in done.err
    model.release()
    again = json.loads(ras_flow(*command(model, index), "--json").out)
    assert (again["known"], again["extracted"]) == (before, 4 - before)
    assert len(set(model.answered)) == len(model.answered) == 4, "none was asked for twice"


def test_two_at_once_do_not_pay_for_the_same_passages(model: Model, index: Path) -> None:
    model.hang = lambda role, text: "Narvik is a town" in text
    first = Command(*command(model, index), "--workers", "1")
    first.until(model.hanging.is_set)
    asked = model.count("extractor")
    second = ras_flow(*command(model, index))
    assert second.code == 1 and "Another process makes the same triples" in second.err
    assert model.count("extractor") == asked
    model.hang = lambda role, text: False
    other = ras_flow(*command(model, index), "--extractor", "openai:other")
    assert "4 extracted" in other.out, other.err
    model.release()
    first.wait()
    assert ras_flow(*command(model, index)).code == 0


@pytest.mark.parametrize(
    "answer",
    [Answer(status=400, error="not this one"), Answer("I'm sorry, not this one.")],
    ids=["refused by the server", "refused by the model"],
)
def test_passages_that_fail_are_told_and_the_others_kept(
    model: Model, index: Path, answer: Answer
) -> None:
    model.answers = lambda role, text: answer if "Leo Fahr" in text else None
    done = ras_flow(*command(model, index))
    assert done.code == 1 and "3 extracted" in done.out
    assert "1 passage could not be extracted" in done.err and "not this one" in done.err
    model.answers = lambda role, text: None
    assert "3 known, 1 extracted" in ras_flow(*command(model, index)).out


def test_a_server_that_is_away_stops_the_work(model: Model, index: Path) -> None:
    model.answers = lambda role, text: Answer(status=503, error="busy")
    done = ras_flow(*command(model, index))
    assert done.code == 1
    assert " busy. Finished work is kept; go on with the same command." in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["precompute", "nowhere"], "no index"),
        (["precompute", "demo", "--extractor", "none"], "makes no triples"),
        (["precompute", "demo", "--extractor", "x"], "provider:model"),
        (["precompute", "demo", "--extractor-output", "xml"], "extractor_output"),
        (["stats", "--database", "http://localhost:1"], "postgresql"),
    ],
)
def test_what_is_written_wrongly_is_told(arguments: list[str], said: str) -> None:
    done = ras_flow("triples", *arguments)
    assert done.code == 1 and said in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("command", [["stats"], ["export"], ["clear", "--yes"]])
def test_a_folder_without_triples_is_told_and_not_made(command: list[str], tmp_path: Path) -> None:
    done = ras_flow("triples", *command, "--database", str(tmp_path / "typo"))
    assert done.code == 1 and "no triples" in done.err and "typo" in done.err
    assert not (tmp_path / "typo").exists()


def test_a_run_without_triples_can_be_looked_into(model: Model, index: Path) -> None:
    model.answers = lambda role, _: Answer("Narvik") if role == "answerer" else None
    asked = ["ask", QUESTION, "--index", str(index), "--top-k", "2", "--extractor", "none"]
    result = json.loads(ras_flow(*asked, "--json", *model.options).out)
    assert model.count("extractor") == 0 and result["triples"] == {}
    commands = (["show"], ["graph"], ["why"], ["export", "--format", "jsonld"])
    looked = [ras_flow("runs", name, result["run"], *more) for name, *more in commands]
    show, _, why, _ = looked
    assert [done.code for done in looked] == [0] * 4, looked
    assert "cites She was born in Narvik. [Mira Lund]" in " ".join(show.out.split())
    assert "Mira Lund" in why.out and "model alone" not in why.out
