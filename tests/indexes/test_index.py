"""Builds: what they make, and that they leave one whole index whatever happens."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ras_flow.documents import SourceDocument
from ras_flow.errors import ConfigurationError, CorpusIndexError, DocumentError, IndexMismatchError
from ras_flow.indexes import CorpusIndex, IndexProgress, open_retriever
from ras_flow.indexes.manifest import read_manifest
from tests.indexes.helpers import DOCUMENTS, WordEncoder, files, titles

ROOT = Path(__file__).parents[2]


async def test_open_retriever_serves_each_kind_and_nothing_is_pickled(path: Path) -> None:
    for kind in ("bm25", "dense", "hybrid"):
        retriever = open_retriever(path, kind, WordEncoder())  # type: ignore[arg-type]
        assert (await titles(retriever, "textile mills"))[0] == "Łódź"
    assert {Path(name).suffix for name in files(path)} == {".json", ".jsonl", ".npy"}
    assert read_manifest(path).files.keys() == files(path).keys()


async def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    documents = [SourceDocument(f"{n}", "", f"Document {n}.") for n in range(700)]
    seen: list[IndexProgress] = []
    await CorpusIndex.build(tmp_path, documents, encoder=WordEncoder(), progress=seen.append)
    assert [p.done for p in seen if p.stage == "embed"] == [0, 512, 700]
    assert max(p.done for p in seen if p.stage == "read") == 700
    assert seen[-1].stage == "write" and seen[-1].done == seen[-1].total


async def test_another_encoder_is_refused_and_a_moved_one_is_the_same(tmp_path: Path) -> None:
    await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=WordEncoder("./model@0123456789ab"))
    moved = open_retriever(tmp_path, "dense", WordEncoder("/models/words@0123456789ab"))
    assert (await titles(moved, "textile mills"))[0] == "Łódź"
    # Other weights, and another encoder around the same weights.
    for other in ("./model@0123456789ac", "query: ./model@0123456789ab"):
        with pytest.raises(IndexMismatchError, match=f"not with '{other}'"):
            open_retriever(tmp_path, "dense", WordEncoder(other))
        assert await titles(open_retriever(tmp_path, "bm25", WordEncoder(other)), "mills")


async def test_retrieval_without_vectors_or_encoder_says_what_to_do(
    path: Path, tmp_path: Path
) -> None:
    plain = await CorpusIndex.build(tmp_path / "plain", DOCUMENTS, encoder=None)
    with pytest.raises(ConfigurationError, match="built without an encoder"):
        plain.retriever("hybrid")
    with pytest.raises(ConfigurationError, match="opened without an encoder"):
        CorpusIndex.open(path).retriever("dense")
    with pytest.raises(ConfigurationError, match="'best'"):
        CorpusIndex.open(path).retriever("best")  # type: ignore[arg-type]


async def test_a_failing_build_leaves_the_old_index(path: Path) -> None:
    class Failing(WordEncoder):
        async def encode(self, texts):  # type: ignore[no-untyped-def]
            raise ConfigurationError("no model today")

    before = files(path)
    with pytest.raises(ConfigurationError, match="no model today"):
        await CorpusIndex.build(path, DOCUMENTS, encoder=Failing())

    def broken() -> Iterator[SourceDocument]:
        yield DOCUMENTS[0]
        raise DocumentError("bad file")

    with pytest.raises(DocumentError, match="bad file"):
        await CorpusIndex.build(path, broken(), encoder=WordEncoder())
    assert files(path) == before
    assert len(list(path.glob("gen-*"))) == 1


@pytest.mark.parametrize("point", ["embedding", "before the switch", "after the switch"])
async def test_a_killed_build_leaves_one_whole_index(path: Path, point: str) -> None:
    before = files(path)
    program = [sys.executable, "-m", "tests.indexes.killed_build", path, point]
    process = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"now\n"
    with pytest.raises(CorpusIndexError, match="Another process or task is writing"):
        await CorpusIndex.build(path, DOCUMENTS, encoder=None)
    process.kill()
    process.wait()
    process.stdout.close()

    index = CorpusIndex.open(path, encoder=WordEncoder())
    index.verify()
    if point == "after the switch":
        assert await titles(index.retriever("bm25"), "entirely new mills") == ["New"]
    else:
        assert files(path) == before
        assert await titles(index.retriever("bm25"), "entirely new mills") == ["Łódź"]
    await index.update([SourceDocument("x", "X", "Next.")])
    assert len(list(path.glob("gen-*"))) == 1


async def test_two_writers_in_one_process_do_not_meet(path: Path) -> None:
    results = await asyncio.gather(
        *(CorpusIndex.build(path, DOCUMENTS, encoder=None) for _ in range(2)),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == [
        "CorpusIndex",
        "CorpusIndexError",
    ]


async def test_a_reader_never_sees_a_half_written_index(path: Path) -> None:
    async def write() -> None:
        for n in range(15):
            index = CorpusIndex.open(path, encoder=WordEncoder())
            await index.update([SourceDocument("n", "N", f"Version {n}.")])

    writer = asyncio.create_task(write())
    opened = 0
    while not writer.done():
        index = await asyncio.to_thread(CorpusIndex.open, path)
        assert len(index) in (5, 6)
        opened += 1
    await writer
    assert opened > 5


async def test_text_that_utf8_cannot_hold_is_stored_with_a_replacement(tmp_path: Path) -> None:
    document = SourceDocument("a\udc80", "T\ud800", "Lone \udfff surrogate\0.")
    index = await CorpusIndex.build(tmp_path, [document], encoder=None)
    [[(passage, _)]] = await index.retriever("bm25").retrieve(["surrogate \ud800"], 1)
    assert passage["text"] == "Lone \ufffd surrogate\ufffd."
