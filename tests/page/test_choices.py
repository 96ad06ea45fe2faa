"""What the page offers for a question: nothing that the server would refuse."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import pytest

from ras_flow.demo.index import demo_index
from ras_flow.documents import read_documents
from ras_flow.indexes import CorpusIndex
from ras_flow.kg.build import build_kg
from ras_flow.page.choices import Choices, local_choices, remote_choices, server_choices
from ras_flow.settings.context import Context
from tests.cli.model import write_documents


def names(choices: Choices, of: Literal["indexes", "graphs"] = "indexes") -> list[str]:
    return [source["name"] for source in choices[of]]


def test_a_servers_page_offers_its_own_and_what_callers_may_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert names(server_choices()) == ["the server's own", "the demo corpus"]
    assert names(remote_choices()) == names(server_choices()) and remote_choices()["free"]
    monkeypatch.setenv("RAS_FLOW_INDEXES", "/indexes/a, /indexes/b")
    monkeypatch.setenv("RAS_FLOW_MODELS", "openai:a")
    found = server_choices()
    assert names(found) == ["the server's own", "/indexes/a", "/indexes/b"]
    assert found["indexes"][1]["settings"] == {"index": "/indexes/a"}
    assert (found["models"], found["free"]) == (["openai:a"], False)
    for documents in found["indexes"]:
        for task in found["tasks"]:
            Context.from_mapping({**documents["settings"], "task": task})
    monkeypatch.setenv("RAS_FLOW_INDEXES", "")
    assert names(server_choices()) == ["the server's own"] and names(local_choices()) == []


async def test_a_page_on_this_machine_offers_the_indexes_that_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))
    documents = read_documents([write_documents(tmp_path / "bridges")])
    await CorpusIndex.build(tmp_path / "my-index", documents, encoder=None)
    await demo_index(None)
    (tmp_path / "facts.tsv").write_text("Fargo\tdirected by\tJoel Coen\n")
    await build_kg(tmp_path / "kgs/films", [tmp_path / "facts.tsv"])
    found = await asyncio.to_thread(local_choices)
    assert names(found) == ["bridges: 4 documents, BM25 only", "the demo corpus"]
    assert names(found, "graphs") == ["kgs/films", "the demo graph"]
    assert found["graphs"][0]["settings"] == {"kg": str(tmp_path / "kgs/films")}
    monkeypatch.setenv("RAS_FLOW_INDEXES", "my-index, kgs/films")
    assert [names(server_choices(), of)[1:] for of in ("indexes", "graphs")] == [
        ["my-index"],
        ["kgs/films"],
    ]
    settings = {"index": str(tmp_path / "my-index"), "retriever": "bm25"}
    assert found["indexes"][0]["settings"] == settings
    assert found["own"]["model"] == "local:default" and found["free"]
