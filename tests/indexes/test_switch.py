"""Cancelling a build while threads write."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ras_flow.documents.source import SourceDocument
from ras_flow.indexes import writer
from ras_flow.indexes.index import CorpusIndex


class Held:
    """Holds the threads that call a function, until it is told to let them go.

    Args:
        real: The function.
    """

    def __init__(self, real: Callable[..., Any]) -> None:
        self.begun, self._go_on = asyncio.Event(), threading.Event()
        self._real, self._loop = real, asyncio.get_running_loop()

    def __call__(self, *given: Any) -> Any:
        self._loop.call_soon_threadsafe(self.begun.set)
        self._go_on.wait(10)
        return self._real(*given)

    async def cancel(self, build: asyncio.Task[Any]) -> None:
        """Cancel a build once it has called the function, and let it go on a moment later."""
        await self.begun.wait()
        build.cancel()
        self._loop.call_later(0.1, self._go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await build


@pytest.mark.parametrize("disk_full", [False, True])
async def test_a_build_cancelled_at_the_switch_leaves_one_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk_full: bool
) -> None:
    old = [SourceDocument("a", "Old", "Of old mills.")]
    await CorpusIndex.build(tmp_path, old, encoder=None)
    real = writer.write_manifest

    def written(*given: Any) -> None:
        if disk_full:
            raise OSError("no space left")
        real(*given)

    held = Held(written)
    monkeypatch.setattr(writer, "write_manifest", held)
    new = [SourceDocument("b", "New", "Of new mills.")]
    build = asyncio.create_task(CorpusIndex.build(tmp_path, new, encoder=None))
    await held.cancel(build)
    index = CorpusIndex.open(tmp_path)
    index.verify()
    assert [passage["title"] for passage in index.passages] == ["Old" if disk_full else "New"]
    monkeypatch.undo()
    await CorpusIndex.build(tmp_path, old, encoder=None)
    assert len(list(tmp_path.glob("gen-*"))) == 1
