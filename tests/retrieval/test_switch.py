"""Cancelling a build while threads write."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from ras_flow.retrieval import writer
from ras_flow.retrieval.index import CorpusIndex
from ras_flow.retrieval.source import SourceDocument


@pytest.mark.parametrize("disk_full", [False, True])
async def test_a_build_cancelled_at_the_switch_leaves_one_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk_full: bool
) -> None:
    old = [SourceDocument("a", "Old", "Of old mills.")]
    await CorpusIndex.build(tmp_path, old, encoder=None)
    real = writer.write_manifest
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*given: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(10)
        if disk_full:
            raise OSError("no space left")
        real(*given)

    monkeypatch.setattr(writer, "write_manifest", slow)
    new = [SourceDocument("b", "New", "Of new mills.")]
    build = asyncio.create_task(CorpusIndex.build(tmp_path, new, encoder=None))
    await begun.wait()
    build.cancel()
    loop.call_later(0.1, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await build
    index = CorpusIndex.open(tmp_path)
    index.verify()
    assert [passage["title"] for passage in index.passages] == ["Old" if disk_full else "New"]
    monkeypatch.undo()
    await CorpusIndex.build(tmp_path, old, encoder=None)
    assert len(list(tmp_path.glob("gen-*"))) == 1


async def test_a_build_cancelled_while_it_writes_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [SourceDocument("a", "Mills", "Of mills.")]
    real = writer.build_bm25
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*given: Any) -> Any:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(10)
        return real(*given)

    monkeypatch.setattr(writer, "build_bm25", slow)
    build = asyncio.create_task(CorpusIndex.build(tmp_path, documents, encoder=None))
    await begun.wait()
    build.cancel()
    loop.call_later(0.1, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await build
    await loop.shutdown_default_executor()
    assert list(tmp_path.glob("gen-*")) == []
