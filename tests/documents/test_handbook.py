"""A small company's handbook, 13 files of all formats: what a reader is shown of it, and says."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ras_flow import Context, build_graph
from ras_flow.documents.reading import read_documents
from ras_flow.indexes import CorpusIndex
from ras_flow.indexes.sync import sync_index
from ras_flow.testing import ScriptedModel

DATA = Path(__file__).parents[1] / "data"
QUESTIONS = [
    json.loads(line) for line in (DATA / "handbook_questions.jsonl").read_text().splitlines()
]
PASSAGE = re.compile(r"^(\d+) \[([^\]]*)\] (.*(?:\n  .*)*)", re.MULTILINE)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("handbook") / "index"
    asyncio.run(sync_index(folder, read_documents(DATA / "handbook"), None))
    return CorpusIndex.open(folder).retriever("bm25")


def reader(row: dict[str, Any]) -> Any:
    """Reply as a capable model does: the answer where a passage of its section holds it."""

    def reply(prompt: str) -> str:
        for number, title, text in PASSAGE.findall(prompt):
            gold = next((answer for answer in row["answers"] if answer in text), None)
            if gold and title == row["support"][-1]:
                return f"[ANSWER] {gold} [{number}]"
        bridges = len(row.get("support", ())) > 1 and "Search: In which" not in prompt
        return "[SUBQ] In which city is Lindqvist Motors?" if bridges else "[NOT FOUND]"

    return ScriptedModel(reply)


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: str(row["id"]))
async def test_a_capable_model_answers_what_the_files_say(row: Any, retriever: Any) -> None:
    roles = dict.fromkeys(("planner", "extractor", "answerer"), reader(row))
    graph = build_graph(**roles, retriever=retriever, defaults=Context()).compile()
    result = await graph.ainvoke({"question": row["question"]})
    if row["answers"]:
        assert result["answer"] in row["answers"]
        assert result["supported"], result["support"]
        titles = [cited["title"] for cited in result["citations"]]
        assert row["support"][-1] in titles
        cited = result["citations"][titles.index(row["support"][-1])]
        assert Path(cited["source"].partition("#")[0]).parent.name == "handbook"
    else:
        assert result["stop_reason"] == "not_found"
        assert not result["supported"]
