"""What models of a loop learn from is what they are asked, down to the last message."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.datasets.reading import read_rows
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.systems import Ingredients, find_system
from ras_flow.formats.hop_view import LAST
from ras_flow.llms import load_language_model
from ras_flow.parts.chosen import Parts
from ras_flow.testing import ListRetriever, ScriptedModel
from ras_flow.training.texts.config import RowTraining
from ras_flow.training.texts.rows import train_rows
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.config import load_config
from recipes.hops import HopTeacher
from recipes.lessons import Played, play_texts
from recipes.t2rag.convert import TextRow
from tests.cli.command import recipe
from tests.llms.tiny import save_tiny_model
from tests.recipes.graph_llm.test_playing import COUNT, film, write_mix

TASKS = {"read": "Answer it.", "reason": "Go on.", "hop": "Note and ask."}


def settings(home: Path) -> RowTraining:
    return RowTraining(
        data={"files": ["rows.jsonl"], "watch": 2},
        tasks=TASKS,
        model={"name": str(save_tiny_model(home / "base", window=6000))},
        lora={"rank": 2},
        lengths={"source": 2000},
        optimizer={"steps": 1, "batch_size": 2, "accumulation": 1},
    )


async def played(home: Path, kind: Played, student: ScriptedModel | None = None) -> list[TextRow]:
    model = settings(home).model.name
    mix = load_config(write_mix(home))
    return await play_texts(mix, kind, base=model, tasks=TASKS, top_k=1, student=student)


async def test_a_reasoning_states_what_leads_on_and_ends_once_all_is_shown(tmp_path: Path) -> None:
    rows = await played(tmp_path, "ircot")
    whole = 0
    for number in range(COUNT):
        own = sorted(
            (row for row in rows if row["id"].startswith(f"2wiki/f{number}/")),
            key=lambda row: row["id"],
        )
        said = [row["output"] for row in own]
        if own and own[-1]["task"] == "reason":
            whole += 1
            assert said == [
                f"Who directed Salt{number} Road{number}: Aino{number} Laine{number}.",
                f"When was Aino{number} Laine{number} born?",
                f"So the answer is: {number} May 1921",
            ]
            assert " ".join(said[:2]) in own[2]["input"] and "was Finnish" in own[2]["input"]
    assert whole > COUNT // 2
    assert {row["task"] for row in rows} == {"reason", "read"}, "some runs end early, and read"


async def test_a_hop_becomes_notes_and_the_next_step(tmp_path: Path) -> None:
    rows = await played(tmp_path, "one_call")
    whole = 0
    for number in range(COUNT):
        own = [row for row in rows if row["id"].startswith(f"2wiki/f{number}/")]
        name, person = f"Salt{number} Road{number}", f"Aino{number} Laine{number}"
        noted, born = f"{name} | director | {person} [1]", f"{number} May 1921"
        if len(own) == 2:
            whole += 1
            assert [row["output"] for row in own] == [
                f"{noted}\n[SUBQ] When was {person} born?",
                f"{person} | date of birth | {born} [2]\n[ANSWER] {born} [1, 2]",
            ]
            assert noted in own[1]["input"]
    assert whole > COUNT // 2


def test_a_teacher_says_where_nothing_tells_and_no_search_is_left() -> None:
    facts = (("Salt Road", "director", "Aino Laine"), ("Aino Laine", "date of birth", "1921"))
    steps = [
        Step((f"What is the {p} of {s}?",), ((s, p, o),), Page(s, ()), short=((s, p, o),))
        for s, p, o in facts
    ]
    case = Case("own", "1", "When was the director of Salt Road born?", "1921", tuple(steps))
    film = "1 [Salt Road] Salt Road is a film\n  by Aino Laine."
    noted = "Salt Road | director | Aino Laine [1]"
    replies = [
        HopTeacher(case).reply(f"Question: {case.question}\n{shown}")
        for shown in (film, f"{film}\n{LAST}", f"{noted}\n2 [Laine] Aino Laine (born 1921).")
    ]
    assert replies == [
        f"{noted}\n[SUBQ] What is the date of birth of Aino Laine?",
        f"{noted}\n[NOT FOUND] 1921",
        "Aino Laine | date of birth | 1921 [2]\n[ANSWER] 1921 [1, 2]",
    ]


async def test_a_students_searches_are_followed_and_its_early_answers_are_not(
    tmp_path: Path,
) -> None:
    alone = await played(tmp_path, "one_call")
    later = [row for row in alone if not row["id"].endswith("/0")]
    assert await played(tmp_path, "one_call", ScriptedModel("[ANSWER] nobody")) == later
    wrong = "What is nowhere to be found?"
    wandered = await played(tmp_path, "one_call", ScriptedModel(f"[SUBQ] {wrong}"))
    whole = 0
    for number in range(COUNT):
        own = [row for row in wandered if row["id"] == f"2wiki/f{number}/1"]
        if own and LAST not in own[0]["input"]:
            whole += 1
            assert f"Search: {wrong}" in own[0]["input"]
            assert own[0]["output"].endswith(f"[SUBQ] When was Aino{number} Laine{number} born?")
    assert whole > COUNT // 2
    with pytest.raises(ConfigurationError, match="one_call"):
        await played(tmp_path, "single", ScriptedModel("Aino"))


def test_an_adapter_is_asked_as_it_was_trained(tmp_path: Path, monkeypatch: Any) -> None:
    config = settings(tmp_path)
    toml = f'data.files = ["r"]\ntasks.read = "Answer it."\nmodel.name = "{config.model.name}"'
    (tmp_path / "training.toml").write_text(toml)
    paths = [str(write_mix(tmp_path)), str(tmp_path / "training.toml")]
    out = ["--top-k", "1", "--out", str(tmp_path / "rows.jsonl")]
    done = recipe("play-texts", *paths, *out)
    assert done.code == 0 and "train read 2wiki: " in done.out, done.err
    wrong = recipe("play-texts", *paths, *out, "--system", "ircot")
    assert wrong.code == 1 and "reason" in wrong.err
    assert train_rows(config, tmp_path / "adapter", data=tmp_path).finished
    asked: list[Any] = []
    model: Any = load_language_model(f"local:{tmp_path / 'adapter'}")
    generate = model.generate

    async def noted(prompts: Any, **more: Any) -> Any:
        asked.extend(prompts)
        return await generate(prompts, **{**more, "max_new_tokens": 2})

    monkeypatch.setattr(model, "generate", noted)
    rows = {row.text("input") for row in read_rows(tmp_path / "rows.jsonl")}
    for number in range(COUNT):
        title, sentences = film(number)["context"][0]
        documents = [{"title": title, "text": " ".join(sentences)}]
        parts = Parts(retriever=ListRetriever(documents), defaults=Context(top_k=1))
        graph = find_system("single").build(Ingredients(parts=parts, reader=model)).compile()
        asyncio.run(graph.ainvoke({"question": film(number)["question"]}))
    assert {prompt[0]["content"] for prompt in asked} == {"Answer it."}
    assert sum(prompt[1]["content"] in rows for prompt in asked) > COUNT // 2
    assert {len(prompt) for prompt in asked} == {2}, "without examples"
