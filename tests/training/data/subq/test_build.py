from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import (
    ConfigurationError,
    InputError,
    RunError,
)
from ras_flow.training.data.labels import check_labels
from ras_flow.training.data.records import Record
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.subq.build import build_hotpotqa_subq
from ras_flow.training.data.subq.builder import BuildConfig
from ras_flow.training.data.writer import own_set
from ras_flow.training.graph_llm.data import read_split
from ras_flow.training.splits import SPLITS
from tests.servers import Answer, OpenAIServer
from tests.servers.quick import quick_retries
from tests.servers.scripted import last_message
from tests.training.data.examples import write_list
from tests.training.data.subq.samples import models, reply, town, write_questions


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    quick_retries(monkeypatch)


def read_all(folder: Path) -> list[Record]:
    return [record for split in SPLITS for record in read_split([folder], split)]


async def build(
    folder: Path,
    questions: int | list[dict[str, Any]] = 2,
    script: Callable[[dict[str, Any]], Answer] = reply,
    **settings: Any,
) -> tuple[Stats, list[Record], OpenAIServer]:
    """Build a set from so many questions, or these, with a model that answers by a script."""
    path = folder / "hotpot.json"
    if isinstance(questions, int):
        write_questions(path, questions)
    else:
        write_list(path, *questions)
    out = folder / "out"
    with OpenAIServer(script) as server:
        stats = await build_hotpotqa_subq(path, out, models(server.url), BuildConfig(**settings))
    return stats, read_all(out), server


def asked(server: OpenAIServer) -> Counter[str]:
    return Counter(json.dumps(request["body"]["messages"]) for request in server.requests)


async def test_a_set_as_algorithm_1_makes_it(tmp_path: Path) -> None:
    _, records, _ = await build(tmp_path, 12)
    of = [record for record in records if record["id"].split("/")[1] == "town3"]
    question = town(3)["question"]
    assert [record["target"] for record in of] == [
        {"label": "SUBQ", "subquery": question},
        {"label": "SUBQ", "subquery": "Which river flows through Town3?"},
        {"label": "SUFFICIENT"},
        {"answer": "River3"},
    ]
    # The first search is the question itself; every hop has the needed document and four others.
    chain = of[-1]["chain"]
    assert [link["subquery"] for link in chain] == [question, "Which river flows through Town3?"]
    assert ["Person3 Novak", "was born in", "Town3"] in chain[0]["triples"]
    assert ["Town3", "lies on", "River3"] in chain[1]["triples"]
    assert [len(link["triples"]) for link in chain] == [5, 5]
    # What the base model knows has no other record.
    known = [record for record in records if "/known/" in record["id"]]
    assert [record["target"] for record in known] == [{"label": "NO_RETRIEVAL"}, {"answer": "7"}]
    assert all(not record["chain"] for record in known)
    assert check_labels(records) == len(records)
    saved = json.loads((tmp_path / "out/stats.json").read_text())
    assert saved["labels"] == {"NO_RETRIEVAL": 1, "SUBQ": 24, "SUFFICIENT": 12, "answer": 13}
    assert saved["usage"]["extract"] == {
        "calls": 120,
        "reused": 0,
        "input_tokens": 1320,
        "output_tokens": 840,
    }
    assert "| [SUFFICIENT] | 12 | – |" in (tmp_path / "out/README.md").read_text()


async def test_graphs_are_refined_as_in_a_run(tmp_path: Path) -> None:
    def loose(body: dict[str, Any]) -> Answer:
        if not str(body["messages"][0]["content"]).startswith("Turn the text"):
            return reply(body)
        if "Novak" not in last_message(body):
            return Answer("(S> Town1| P> lies on| O> River1), (S> Town1| P> is| O> the Town1)")
        return Answer("(S> She| P> was born in| O> Town1)")

    said = ["Person1 Novak is a singer.", " She was born in Town1."]
    context = [["Town1", ["Town1 lies on River1."]], ["Person1 Novak", said]]
    _, records, _ = await build(tmp_path, [town(1) | {"context": context}], loose, distractors=0)
    chain = records[-1]["chain"]
    assert [link["triples"] for link in chain] == [
        [["Person1 Novak", "was born in", "Town1"]],
        [["Town1", "lies on", "River1"]],
    ]


def kept_calls(folder: Path) -> int:
    if not (folder / "store.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "store.sqlite")) as database, suppress(sqlite3.Error):
        [[count]] = database.execute("SELECT COUNT(*) FROM store WHERE prefix LIKE '%generations'")
        return int(count)
    return 0


async def test_a_killed_build_goes_on_where_it_was(tmp_path: Path) -> None:
    path = write_questions(tmp_path / "hotpot.json", 20)
    with OpenAIServer(reply) as server:
        await build_hotpotqa_subq(path, tmp_path / "whole", models(server.url))
        expected = asked(server)

    def slow(body: dict[str, Any]) -> Answer:
        answer = reply(body)
        answer.delay = 0.01
        return answer

    with OpenAIServer(slow) as server:
        folder = tmp_path / "killed"
        module = "tests.training.data.subq.killed"
        build = subprocess.Popen([sys.executable, "-m", module, path, folder, server.url])
        deadline = time.monotonic() + 60
        while kept_calls(folder) < 60:
            assert build.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        build.kill()
        build.wait()
        assert not (folder / "stats.json").exists()
        answered = kept_calls(folder)
        at_kill = sum(asked(server).values())
        await build_hotpotqa_subq(path, folder, models(server.url))
        assert asked(server).keys() == expected.keys()
        again = sum(asked(server).values()) - at_kill
    # Only what was under way when the build died is asked again.
    assert again == sum(expected.values()) - answered
    assert at_kill - answered <= 4 * 10
    for split in SPLITS:
        name = f"{split}.jsonl"
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def spoiled(part: str, *texts: str) -> Callable[[dict[str, Any]], Answer]:
    """Answer one step with these texts first, for each question."""
    tries: Counter[str] = Counter()

    def answer(body: dict[str, Any]) -> Answer:
        system = str(body["messages"][0]["content"])
        if not system.startswith(part):
            return reply(body)
        prompts = [m["content"] for m in body["messages"] if m["role"] == "user"]
        first = next(p for p in reversed(prompts) if not p.startswith("That cannot be used"))
        tries[first] += 1
        number = tries[first] - 1
        if number < len(texts):
            return Answer(texts[number])
        return reply({**body, "messages": [body["messages"][0], {"content": first}]})

    return answer


FILTER = "You are given a question and numbered"
WRITER = "You are given a question that takes several"
ATTEMPT = "You answer a question"


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        (FILTER, ("Both texts help.", "1, 2, 3")),
        (WRITER, ("", "?!")),
        (WRITER, ("x" * 500, "[SUFFICIENT]")),
    ],
)
async def test_replies_that_cannot_be_used_are_asked_again(
    tmp_path: Path, part: str, texts: tuple[str, ...]
) -> None:
    stats, _, server = await build(tmp_path, script=spoiled(part, *texts))
    second = [last_message(request["body"]) for request in server.requests]
    assert stats.dropped == {}
    assert stats.by(2)["SUFFICIENT"] == 2
    assert any(text.startswith("That cannot be used: ") for text in second)


def rejecting(part: str, about: str = "") -> Callable[[dict[str, Any]], Answer]:
    """Reject the requests of a step, or those about something."""

    def answer(body: dict[str, Any]) -> Answer:
        ours = str(body["messages"][0]["content"]).startswith(part) and about in last_message(body)
        return Answer(status=400, error="no such model") if ours else reply(body)

    return answer


@pytest.mark.parametrize(
    ("script", "dropped"),
    [
        (spoiled(FILTER, *["I cannot tell."] * 9), {"filter: no usable reply": 2}),
        (spoiled(FILTER, "none"), {"filter: no document is needed": 2}),
        (spoiled(WRITER, *[""] * 9), {"subqueries: no usable reply": 2}),
        (spoiled("Turn the text", *["No facts."] * 9), {"a document without triples": 2}),
        (rejecting(ATTEMPT, "Person1"), {"attempt: the request was rejected": 1}),
        (rejecting(FILTER, "Person1"), {"filter: no usable reply": 1}),
        (rejecting(WRITER, "Person1"), {"subqueries: no usable reply": 1}),
    ],
)
async def test_questions_without_usable_replies_are_left_out_and_counted(
    tmp_path: Path, script: Callable[[dict[str, Any]], Answer], dropped: dict[str, int]
) -> None:
    stats, _, _ = await build(tmp_path, script=script)
    assert stats.dropped == dropped
    assert stats.by(2).get("SUFFICIENT", 0) == 2 - sum(dropped.values())


async def test_wrong_files_logs_and_settings_are_told(tmp_path: Path) -> None:
    with OpenAIServer(reply) as server:
        made = models(server.url)
        bad = tmp_path / "bad.json"
        bad.write_text(json.dumps([town(1), town(2) | {"answer": None}]))
        with pytest.raises(InputError, match=r"bad\.json:item 2:answer"):
            await build_hotpotqa_subq(bad, tmp_path / "a", made)
        empty = write_list(tmp_path / "empty.json")
        with pytest.raises(InputError, match=r"empty\.json has no questions"):
            await build_hotpotqa_subq(empty, tmp_path / "a", made)
        path = write_questions(tmp_path / "hotpot.json", 1)
        with own_set(tmp_path / "a"):
            with pytest.raises(ConfigurationError, match="Another build writes to"):
                await build_hotpotqa_subq(path, tmp_path / "a", made)
        (tmp_path / "a/store.sqlite").write_text("not a database, but long enough" * 99)
        with pytest.raises(RunError, match="cannot be used"):
            await build_hotpotqa_subq(path, tmp_path / "a", made)
