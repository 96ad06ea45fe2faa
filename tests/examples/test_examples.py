"""The example programs from their first line to their last, over scripted parts."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from langchain.chat_models import init_chat_model
from langchain_core.language_models import GenericFakeChatModel

from examples import agent_tool, batch, parent_app, replay_and_fork, web_app
from ras_flow import build_graph
from ras_flow.errors import InputError
from ras_flow.testing import ScriptedAnswerer
from tests.graph.one_call import FIRST_REPLY, LAST_REPLY
from tests.graph.test_tool import calls
from tests.graph.world import QUESTION, SECOND, ScriptedPlanner, build, world
from tests.servers import Answer, OpenAIServer

Printed = pytest.CaptureFixture[str]


def with_parts(**parts: Any) -> Any:
    return partial(build_graph, **parts)


async def test_parent_app(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    parts = world(["[SUBQ] x", "[SUBQ] x", SECOND, SECOND])
    monkeypatch.setattr(parent_app, "build_graph", with_parts(**parts))
    await parent_app.main()
    heading, *findings = capsys.readouterr().out.splitlines()
    assert heading == "What we found"
    assert [line[:5] for line in findings] == ["- Who", "- Whe"]
    assert all(len(request.chain) < 2 for request in parts["planner"].requests), "max_hops is 2"


async def test_agent_tool(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr("ras_flow.graph.graph", build(world()))
    monkeypatch.setattr(agent_tool, "init_chat_model", lambda _: calls(QUESTION))
    await agent_tool.main("some:model")
    assert capsys.readouterr().out == "In Narvik.\n"


async def test_replay_and_fork(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr(replay_and_fork, "build_graph", with_parts(**world()))
    await replay_and_fork.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "answer: Narvik"
    assert lines[1].endswith("next: __start__") and lines[-3].endswith("next: nothing")
    assert lines[-2] == "replayed: Narvik"
    assert lines[-1].startswith("without ") and lines[-1].endswith("elsewhere")


async def test_batch_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [{"id": id, "question": QUESTION} for id in (1, 2, 3)]
    questions.write_text("\n".join(map(json.dumps, rows[:2])))
    parts = world(["[SUBQ] x", "[SUBQ] x", SECOND, SECOND])
    await batch.main(questions, tmp_path / "answers", **parts)
    assert answers_of(tmp_path) == {1: "Narvik", 2: "Narvik"}

    parts["planner"] = ScriptedPlanner(["[SUBQ] x", SECOND])
    questions.write_text("\n".join(map(json.dumps, rows)))
    cut_off = parts | {"answerer": ScriptedAnswerer(broken)}
    with pytest.raises(ZeroDivisionError):
        await batch.main(questions, tmp_path / "answers", **cut_off)

    asked = len(parts["planner"].requests)
    await batch.main(questions, tmp_path / "answers", **parts)
    assert answers_of(tmp_path) == {1: "Narvik", 2: "Narvik", 3: "Narvik"}
    assert len(parts["planner"].requests) == asked, "what was planned is not planned again"


async def test_batch_refuses_an_id_that_two_questions_have(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [{"id": id, "question": QUESTION} for id in (1, 2, "1")]
    questions.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match="several lines have the id '1'"):
        await batch.main(questions, tmp_path / "answers", **world())
    assert not (tmp_path / "answers").exists()


def test_web_app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    model = GenericFakeChatModel(messages=iter(["It is Narvik.", "It is Narvik."]))
    parts = world(["[SUBQ] x", SECOND, "[SUFFICIENT]", "[SUBQ] x", SECOND, "[SUFFICIENT]"])
    monkeypatch.setattr(web_app, "build_graph", with_parts(**parts | {"answerer": model}))
    with TestClient(web_app.app) as client:
        answer = client.get("/ask", params={"question": QUESTION}).json()
        assert answer["answer"] == "It is Narvik." and answer["stop_reason"] == "sufficient"
        lines = client.get("/stream", params={"question": QUESTION}).text.split("\n\n")[:-1]
        events = [json.loads(line.removeprefix("data: ")) for line in lines]
        kinds = [event["type"] for event in events]
        assert kinds[:3] == ["start", "plan", "passages"] and kinds[-2:] == ["word", "answer"]
        assert "".join(e["text"] for e in events if e["type"] == "word") == "It is Narvik."
        empty = client.get("/ask", params={"question": " "})
        assert empty.status_code == 422 and "empty" in empty.json()["error"]


def streamed(script: list[Answer], *, one_call: bool = False) -> list[dict[str, Any]]:
    """Ask the web app for a stream, and return the answer's words and what comes after them."""
    with OpenAIServer(script) as server, TestClient(web_app.app) as client:
        model = init_chat_model("openai:m", base_url=server.url, api_key="x", max_retries=0)
        parts = world(["[SUBQ] x", SECOND, "[SUFFICIENT]"], answerer=model)
        if one_call:
            roles = dict.fromkeys(("planner", "extractor", "answerer"), model)
            parts = {**roles, "retriever": parts["retriever"]}
        web_app.app.state.graph = build(parts)
        lines = client.get("/stream", params={"question": QUESTION}).text.split("\n\n")[:-1]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    return [event for event in events if event["type"] in ("word", "restart", "answer")]


def shown(events: list[dict[str, Any]]) -> str:
    """Return the words that a client shows before the last event."""
    last = max((at for at, event in enumerate(events) if event["type"] == "restart"), default=-1)
    return "".join(event["text"] for event in events[last + 1 : -1])


def test_web_app_begins_again_where_a_call_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "It is surely Narvik in Norway"
    events = streamed([Answer(text, broken="cut"), Answer(text)])
    assert shown(events) == text == events[-1]["answer"]
    assert [event["type"] for event in events].count("restart") == 1


@pytest.mark.parametrize(
    ("written", "restarts"),
    [
        ("<think>The user wants a town.</think>\n\nIt is Narvik.", 0),
        ("The user wants a town.</think> It is Narvik.", 1),
    ],
)
def test_web_app_sends_no_thoughts_as_words(
    written: str, restarts: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    events = streamed([Answer(written)])
    assert shown(events) == "It is Narvik." == events[-1]["answer"]
    assert [event["type"] for event in events].count("restart") == restarts


def test_web_app_sends_the_answer_alone_of_a_call_that_notes_facts_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    events = streamed([Answer(FIRST_REPLY), Answer(LAST_REPLY)], one_call=True)
    assert [event.get("text", event["type"]) for event in events] == ["Narvik", "answer"]


def broken(_: Any) -> str:
    raise ZeroDivisionError


def answers_of(folder: Path) -> dict[int, str]:
    lines = (folder / "answers" / "answers.jsonl").read_text().splitlines()
    return {row["id"]: row["answer"] for row in sorted(map(json.loads, lines), key=str)}
