"""Run as a program: starts to rebuild an index and waits to be killed at a given point."""

from __future__ import annotations

import asyncio
import sys
import time

from ras_flow.documents import SourceDocument
from ras_flow.indexes import CorpusIndex, writer
from tests.indexes.helpers import WordEncoder


def wait() -> None:
    print("now", flush=True)
    time.sleep(60)


class WaitingEncoder(WordEncoder):
    async def encode(self, texts):  # type: ignore[no-untyped-def]
        wait()


async def main(path: str, point: str) -> None:
    encoder: WordEncoder = WaitingEncoder() if point == "embedding" else WordEncoder()
    switch = writer.write_manifest
    if point == "before the switch":
        writer.write_manifest = lambda *_: wait()
    if point == "after the switch":
        writer.write_manifest = lambda *given: (switch(*given), wait())
    documents = [SourceDocument("new", "New", "Entirely new words.")]
    await CorpusIndex.build(path, documents, encoder=encoder)


asyncio.run(main(*sys.argv[1:]))
