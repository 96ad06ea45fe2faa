"""Asking: what is shown, what is printed as JSON, and what a second question costs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ras_flow.demo import default_question
from tests.cli.command import Command, ras_flow
from tests.cli.model import QUESTION, Model
from tests.servers import Answer


def ask(model: Model, docs: Path, *more: str, question: str = QUESTION) -> Any:
    """Ask in JSON."""
    done = ras_flow("ask", question, "--docs", str(docs), "--json", *model.options, *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_plan_passages_triples_and_a_cited_answer_are_shown(model: Model, docs: Path) -> None:
    done = ras_flow("ask", QUESTION, "--docs", str(docs), "--top-k", "1", *model.options)
    assert (done.code, done.err) == (0, "")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    for expected in [
        f"Question {QUESTION}",
        f"Plan [SUBQ] {QUESTION}",
        "1. Aurora Bridge",
        "Triples 2 from 1 passage",
        "+ Aurora Bridge | designer | Mira Lund",
        "Plan [SUBQ] Where was Mira Lund born?",
        "Hop 1 Where was Mira Lund born?",
        "Plan [SUFFICIENT]",
        "Cost 6 model calls, 66 tokens read, 42 written, ",
        "Answer Narvik",
        "cites Aurora Bridge | designer | Mira Lund [Aurora Bridge]",
        "cites Mira Lund | place of birth | Narvik [Mira Lund]",
    ]:
        place = next((at for at, line in enumerate(shown) if expected in line), None)
        assert place is not None, f"{expected!r} is not shown, or too early, in:\n{done.out}"
        shown = shown[place + 1 :]
    assert shown == [] and done.out.count("designer | Mira Lund") == 2, "the graph as it grows"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Berlin", ["Answer Berlin", "not supported by the documents: No fact", '"Berlin"']),
        ("It is unknown.", ["Answer The documents do not say. The run found no answer."]),
    ],
)
def test_an_unsupported_answer_never_looks_like_a_supported_one(
    model: Model, docs: Path, written: str, shown: list[str]
) -> None:
    model.answers = lambda role, _: Answer(written) if role == "answerer" else None
    done = ras_flow("ask", QUESTION, "--docs", str(docs), "--top-k", "1", *model.options)
    run = done.out.split()[1]
    for said in (done.out, ras_flow("runs", "show", run).out, ras_flow("runs", "why", run).out):
        text = " ".join(said.split())
        assert all(part in text for part in shown) and "cites" not in text
    [listed] = [line for line in ras_flow("runs", "list").out.splitlines() if "→" in line]
    assert listed.split("→ ")[1] in ("(not supported) Berlin", "The documents do not say.")


def test_what_is_known_is_shown_while_the_rest_is_awaited(model: Model, docs: Path) -> None:
    model.hang = lambda role, text: role == "answerer"
    asking = Command("ask", QUESTION, "--docs", str(docs), *model.options)
    asking.until(model.hanging.is_set)
    shown = asking.out.read_text()
    assert "Hop 1" in shown and "place of birth" in shown and "Answer" not in shown
    asking.process.kill()
    asking.process.join()


def test_json_is_one_object_and_nothing_else(model: Model, docs: Path) -> None:
    arguments = ["ask", QUESTION, "--docs", str(docs), "--top-k", "1", "--json", *model.options]
    done = ras_flow(*arguments)
    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out)
    assert result["question"] == QUESTION
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")
    assert [hop["subquery"] for hop in result["hops"]] == [QUESTION, "Where was Mira Lund born?"]
    assert [plan["label"] for plan in result["plans"]] == ["SUBQ", "SUBQ", "SUFFICIENT"]
    cited = [result["triples"][citation["triple"]]["object"] for citation in result["citations"]]
    assert cited == ["Mira Lund", "Narvik"]
    for citation in result["citations"]:
        assert set(citation["passages"]) <= set(result["passages"])
    assert sum(use["calls"] for use in result["usage"].values()) == len(model.asked)
    assert ras_flow("runs", "show", result["run"]).code == 0


def test_a_second_question_embeds_and_extracts_nothing_again(model: Model, docs: Path) -> None:
    ask(model, docs)
    [index] = (docs.parent / "cache" / "indexes").iterdir()
    manifest = (index / "manifest.json").stat()
    extractions = model.count("extractor")
    ask(model, docs)
    assert model.count("extractor") == extractions == 4
    assert (index / "manifest.json").stat().st_mtime_ns == manifest.st_mtime_ns
    assert [path.name for path in index.parent.iterdir()] == [index.name]


@pytest.mark.slow
def test_vectors_are_kept_and_an_index_brings_its_own_encoder(model: Model, docs: Path) -> None:
    hybrid = ["--retriever", "hybrid", "--top-k", "2"]
    assert ask(model, docs, *hybrid)["answer"] == "Narvik"
    [index] = (docs.parent / "cache" / "indexes").iterdir()
    info = json.loads(ras_flow("index", "info", str(index), "--json").out)
    assert info["encoder"].startswith("sentence-transformers/all-MiniLM-L6-v2@")
    by_default = [option for option in model.options if option not in ("--retriever", "bm25")]
    done = ras_flow("ask", QUESTION, "--index", str(index), "--top-k=2", "--json", *by_default)
    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out)
    assert result["answer"] == "Narvik" and "retriever" not in result["settings"]


def test_changed_added_and_removed_files_are_seen(model: Model, docs: Path) -> None:
    def found() -> set[str]:
        return {passage["title"] for passage in ask(model, docs)["passages"].values()}

    before = found()
    (docs / "Aurora Bridge.txt").write_text("The Aurora Bridge was designed by Mira Lund in 1962.")
    (docs / "Narvik.txt").unlink()
    (docs / "Mira Lund").mkdir()
    (docs / "Mira Lund" / "Narvik Bridge.md").write_text("# Rombak Bridge\n\nIt is in Narvik.")
    model.answers = lambda role, text: Answer("") if "Rombak" in text.partition("\n")[0] else None
    extractions = model.count("extractor")
    after = found()
    assert before - after == {"Narvik"} and after - before == {"Rombak Bridge"}
    assert model.count("extractor") == extractions + 2
    assert any("1962" in json.dumps(body) for _, body in model.asked[-5:])


def test_a_damaged_index_in_the_cache_is_made_again(model: Model, docs: Path) -> None:
    ask(model, docs)
    [passages] = (docs.parent / "cache" / "indexes").glob("*/gen-*/passages.jsonl")
    passages.write_text("")
    assert ask(model, docs)["answer"] == "Narvik"


def test_given_documents_alone_can_be_answered_from(model: Model, tmp_path: Path) -> None:
    given = tmp_path / "given.jsonl"
    line = {"title": "Mira Lund", "text": "Mira Lund was an engineer. She was born in Narvik."}
    given.write_text(json.dumps(line))
    done = ras_flow("ask", QUESTION, "--given", str(given), "--static", "--json", *model.options)
    result = json.loads(done.out)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "static")
    assert [role for role, _ in model.asked] == ["extractor", "answerer"]
    [passage] = result["passages"].values()
    assert passage["source"] == f"{given}#1"


def test_the_demo_is_asked_only_by_name(model: Model, docs: Path) -> None:
    for given in [], ["--given", str(docs)]:
        refused = ras_flow("ask", QUESTION, *given, *model.options)
        assert refused.code == 1 and "--docs" in refused.err and "--index demo" in refused.err
        assert ("--static" in refused.err) == bool(given)
    assert not model.asked and json.loads(ras_flow("runs", "list", "--json").out) == []
    model.answers = lambda role, text: Answer("[SUBQ] x" if role == "planner" else "")
    done = ras_flow("ask", "--index", "demo", "--max-hops", "1", "--json", *model.options)
    result = json.loads(done.out)
    assert result["question"] == default_question() and result["passages"], done.err


@pytest.mark.parametrize("option", [["--docs"], ["--static", "--given"]])
def test_a_document_that_cannot_be_read_is_named_or_skipped(
    model: Model, docs: Path, option: list[str]
) -> None:
    (docs / "scan.pdf").write_bytes(b"%PDF-1.4 nothing")
    arguments = ["ask", QUESTION, *option, str(docs), *model.options]
    refused = ras_flow(*arguments)
    assert refused.code == 1 and "scan.pdf" in refused.err and "--skip" in refused.err
    done = ras_flow(*arguments, "--skip")
    assert done.code == 0 and "Narvik" in done.out
    assert "left out" in done.err and "scan.pdf" in done.err


def test_where_no_document_is_given_no_other_is_searched(model: Model, tmp_path: Path) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text("")
    done = ras_flow("ask", QUESTION, "--given", str(given), *model.options)
    assert done.code == 1 and "name others" in done.err
    assert not model.asked


QUESTION_JA = "ラーメン博物館はどの都市にありますか？"


def test_questions_and_documents_in_any_language(model: Model, tmp_path: Path) -> None:
    docs = tmp_path / "文書"
    docs.mkdir()
    (docs / "ラーメン博物館.txt").write_text("ラーメン博物館は横浜市にあります。")
    scripts = {
        "planner": ["[SUBQ] x", "[SUFFICIENT]"],
        "extractor": ["(S> ラーメン博物館| P> 所在地| O> 横浜市)"],
        "answerer": ["横浜市"],
    }
    model.answers = lambda role, text: Answer(scripts[role].pop(0))
    shown = ras_flow("ask", QUESTION_JA, "--docs", str(docs), *model.options)
    assert shown.code == 0, shown.err
    assert "Answer 横浜市" in " ".join(shown.out.split()) and "所在地 | 横浜市" in shown.out
    [run] = json.loads(ras_flow("runs", "list", "--json").out)
    text = ras_flow("runs", "show", run["run"], "--json").out
    assert "横浜市" in text and "\\u" not in text
    assert json.loads(text)["question"] == QUESTION_JA


def test_names_of_folders_and_files_need_not_be_utf8(model: Model, docs: Path) -> None:
    odd = docs.rename(docs.with_name(os.fsdecode(b"caf\xe9")))
    (odd / "Narvik.txt").rename(odd / os.fsdecode(b"N\xe4rvik.txt"))
    result = ask(model, odd)
    assert result["answer"] == "Narvik"
    assert {passage["title"] for passage in result["passages"].values()} >= {"Mira Lund"}
    assert ras_flow("runs", "show", result["run"]).code == 0


@pytest.mark.parametrize(
    ("question", "asked"),
    [("-40 °C in °F?", "-40 °C in °F?"), (os.fsdecode(b"Who is J\xf6rg?"), "Who is J\ufffdrg?")],
)
def test_a_question_may_begin_with_a_dash_and_need_not_be_utf8(
    question: str, asked: str, model: Model, docs: Path
) -> None:
    done = ras_flow("ask", "--docs", str(docs), "--json", *model.options, "--", question)
    assert json.loads(done.out)["question"] == asked


def test_task_and_instruction_reach_the_answerer(model: Model, docs: Path) -> None:
    encoder = str(docs)
    asked = ask(model, docs, "--task", "fact_check", "--max-hops", "1", "--encoder", encoder)
    assert asked["settings"]["encoder"] == encoder
    assert "true or false" in json.dumps(model.asked[-1][1])
    ask(model, docs, "--instruction", "Answer in Norwegian.", "--max-hops", "0")
    assert "Answer in Norwegian." in json.dumps(model.asked[-1][1])


def test_a_roles_own_model_goes_before_the_model_of_all(model: Model, docs: Path) -> None:
    ask(model, docs, "--planner", "openai:my", "--extractor", "openai:own")
    named = {role: body["model"] for role, body in model.asked}
    assert named == {"planner": "my", "extractor": "own", "answerer": "test"}


def test_a_question_can_wait_for_a_person(model: Model, docs: Path) -> None:
    arguments = ["--docs", str(docs), "--top-k", "1", *model.options]
    done = ras_flow("ask", QUESTION, *arguments, "--pause", "before_retrieval")
    assert (done.code, done.err) == (0, "")
    assert f"Subquery {QUESTION}" in done.out and model.count("extractor") == 0
    run = done.out.split()[1]
    edited = ras_flow("runs", "resume", run, "--subquery", "Where was Mira Lund born?")
    assert "Hop 0    Where was Mira Lund born?" in edited.out, edited.err
    paused = ask(model, docs, "--pause", "before_answer", "--pause", "after_merge")
    assert (paused["status"], paused["review"]["point"]) == ("paused", "after_merge")
    assert ras_flow("runs", "list").out.count("waits") == 2
    wrong = ras_flow("ask", QUESTION, "--pause", "at_lunch")
    assert wrong.code == 2 and "before_retrieval" in wrong.err


@pytest.mark.parametrize("kind", ["postgres", "environment"])
def test_a_run_is_kept_where_the_commands_on_runs_look(
    kind: str,
    model: Model,
    docs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    address = str(tmp_path / "new" / "runs")
    if kind == "postgres":
        address = request.getfixturevalue("postgres")
    database = ["--database", address]
    if kind == "environment":
        monkeypatch.setenv("RAS_FLOW_DATABASE", address)
        database = []
    run = ask(model, docs, "--top-k", "1", *database)["run"]
    shown = ras_flow("runs", "show", run, *database)
    assert (shown.code, "Answer   Narvik" in shown.out) == (0, True), shown.err
    monkeypatch.delenv("RAS_FLOW_DATABASE", raising=False)
    assert f"no run '{run}'" in ras_flow("runs", "show", run).err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--database", "https://127.0.0.1:1", "--docs", "DOCS"], "reads no folder"),
        (["--database", "http://127.0.0.1:1"], "server does not answer"),
        (
            ["--database", "postgresql://me:s3cret@127.0.0.1:1/x", "--index=demo"],
            "Check its address",
        ),
        (
            ["--database", "mysql://me:s3cret@127.0.0.1:1/x", "--index=demo"],
            "Runs cannot be opened at mysql://",
        ),
        (["--database", "DOCS/Narvik.txt", "--docs", "DOCS"], "cannot be made"),
    ],
)
def test_a_place_that_cannot_keep_a_run_is_told(
    more: list[str], said: str, model: Model, docs: Path
) -> None:
    arguments = [argument.replace("DOCS", str(docs)) for argument in more]
    done = ras_flow("ask", QUESTION, *model.options, *arguments)
    [line] = done.err.splitlines()
    assert done.code == 1 and said in line and "s3cret" not in line
    assert model.asked == []
