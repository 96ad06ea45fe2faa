"""Trained baselines: what they learn from is what they are asked, down to the last message."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ras_flow import Context
from ras_flow.datasets.reading import read_rows
from ras_flow.evaluation.systems import Ingredients, find_system
from ras_flow.llms import load_language_model
from ras_flow.parts.chosen import Parts
from ras_flow.testing import ListRetriever
from ras_flow.training.texts.config import RowTraining
from ras_flow.training.texts.rows import train_rows
from recipes.baselines import play_baseline
from recipes.graph_llm.config import load_config
from recipes.t2rag.convert import TextRow
from tests.cli.command import recipe
from tests.llms.tiny import save_tiny_model
from tests.recipes.graph_llm.test_playing import COUNT, film, write_mix

TASKS = {"read": "Answer it.", "reason": "Go on."}


def settings(home: Path) -> RowTraining:
    return RowTraining(
        data={"files": ["rows.jsonl"], "watch": 2},
        tasks=TASKS,
        model={"name": str(save_tiny_model(home / "base", window=6000))},
        lora={"rank": 2},
        lengths={"source": 2000},
        optimizer={"steps": 1, "batch_size": 2, "accumulation": 1},
    )


async def played(home: Path, kind: str) -> list[TextRow]:
    model = settings(home).model.name
    mix = load_config(write_mix(home))
    return await play_baseline(mix, kind, base=model, tasks=TASKS, top_k=1)


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
    assert {row["task"] for row in rows} == set(TASKS), "some runs end early, and read"


def test_an_adapter_is_asked_as_it_was_trained(tmp_path: Path, monkeypatch: Any) -> None:
    config = settings(tmp_path)
    toml = f'data.files = ["r"]\ntasks.read = "Answer it."\nmodel.name = "{config.model.name}"'
    (tmp_path / "training.toml").write_text(toml)
    paths = [str(write_mix(tmp_path)), str(tmp_path / "training.toml")]
    out = ["--top-k", "1", "--out", str(tmp_path / "rows.jsonl")]
    done = recipe("play-baselines", *paths, *out)
    assert done.code == 0 and "train read 2wiki: " in done.out, done.err
    wrong = recipe("play-baselines", *paths, *out, "--system", "ircot")
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
