"""Vectors in shards."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ras_flow.documents import SourceDocument
from ras_flow.errors import CorpusIndexError, InputError
from ras_flow.indexes import CorpusIndex, vector_writer
from ras_flow.indexes.manifest import DenseRecord
from ras_flow.indexes.passages import PassageFile, write_lines
from ras_flow.indexes.vectors import Shard, VectorIndex, load_vectors
from ras_flow.state.schema import Passage
from tests.indexes.helpers import DOCUMENTS, WordEncoder, files

WORDS = [f"{a}{b}" for a in "bdfglmnprst" for b in ("a", "e", "ik", "ol", "u")]


def corpus(size: int) -> list[SourceDocument]:
    rng = np.random.default_rng(0)
    return [
        SourceDocument(f"{n:05}", f"T{n}", " ".join(rng.choice(WORDS, 12))) for n in range(size)
    ]


def small() -> WordEncoder:
    return WordEncoder(dimension=64)


def unit(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def sharded(vectors: npt.NDArray[np.float32], shards: int) -> VectorIndex:
    ends = [len(vectors) * at // shards for at in range(shards + 1)]
    return VectorIndex([Shard(a, vectors[a:b]) for a, b in zip(ends, ends[1:], strict=False)])


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 7),
    st.integers(1, 40),
    st.sampled_from([1, 3, 40]),
    st.integers(1, 30),
)
def test_shards_give_what_all_vectors_give(
    seed: int, size: int, shards: int, k: int, queries: int, distinct: int
) -> None:
    """Few distinct vectors make many equal cosines, which the merge must order, too."""
    rng = np.random.default_rng(seed)
    pool = unit(rng.normal(size=(distinct, 16)))
    vectors = pool[rng.integers(0, distinct, size)]
    asked = unit(rng.normal(size=(queries, 16)))
    found = sharded(vectors, shards).search(asked, k)
    cosines = (vectors[None].astype(np.float64) * asked[:, None]).sum(axis=2)
    expected = [
        [
            (score, row)
            for score, row in sorted(
                zip(line, range(size), strict=True), key=lambda h: (-h[0], h[1])
            )
        ]
        for line in cosines.tolist()
    ]
    assert [[row for _, row in hits] for hits in found] == [
        [row for _, row in hits[:k]] for hits in expected
    ]
    assert [[score for score, _ in hits] for hits in found] == [
        pytest.approx([score for score, _ in hits[:k]]) for hits in expected
    ]
    assert found == sharded(vectors, 1).search(asked, k)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("shards", [1, 3])
def test_a_forked_process_searches_too(shards: int) -> None:
    """As a web server's worker, where its parent has searched before."""
    code = f"""
import os, signal, threading
import numpy as np
from tests.indexes.test_vectors import sharded, unit

vectors = unit(np.random.default_rng(0).normal(size=(300, 16)))
index = sharded(vectors, {shards})

def search():  # In a thread, as retrievers do.
    thread = threading.Thread(target=lambda: print(index.search(vectors[:30], 2)[:2], flush=True))
    thread.start()
    thread.join()

search()
child = os.fork()
if not child:
    signal.alarm(60)
    search()
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, ended = done.stdout.splitlines()
    assert first == second and ended == "0"


async def test_shards_answer_like_one_file_and_an_update_equals_a_build(tmp_path: Path) -> None:
    encoder, documents = small(), corpus(40)
    index = await CorpusIndex.build(tmp_path / "a", documents, encoder=encoder, shards=3)
    assert index.manifest.dense is not None and index.manifest.dense.shards == 3
    encoder.encoded.clear()
    new = [SourceDocument("00007x", "New", "ba de."), SourceDocument("zz", "Newer", "fik.")]
    index = await index.update(new, remove=["00001", "00030"])
    assert len(encoder.encoded) == 2, "only what is new"
    final = [d for d in documents if d.source not in ("00001", "00030")] + new
    await CorpusIndex.build(tmp_path / "b", final, encoder=small(), shards=3)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert {"vectors-000.npy", "vectors-001.npy", "vectors-002.npy"} < files(tmp_path / "a").keys()
    one = await CorpusIndex.build(tmp_path / "one", final, encoder=small())
    queries = [f"{a} {b}" for a, b in zip(WORDS, WORDS[7:], strict=False)]
    for kind in ("dense", "hybrid"):
        assert await index.retriever(kind).retrieve(queries, 5) == await one.retriever(
            kind
        ).retrieve(queries, 5)


async def test_a_cancelled_build_ends_with_the_shards_that_are_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    first, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(path: Path, *_: object) -> None:
        begun.append(path.name)
        loop.call_soon_threadsafe(first.set)
        assert go_on.wait(10), "the event loop is blocked"

    monkeypatch.setattr(vector_writer, "build_ann", slow)
    monkeypatch.setattr(vector_writer, "open_array", lambda path: None)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    record = DenseRecord("hnsw", "hnsw", 8, 64)
    build = asyncio.create_task(vector_writer.build_shards(tmp_path, record, None))
    await first.wait()
    build.cancel()
    loop.call_later(0.1, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await build
    assert len(begun) == 1 and go_on.is_set()


async def test_wrong_choices_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    def unread() -> Any:
        raise AssertionError("read")
        yield

    wrong: Sequence[dict[str, Any]] = [{"vectors": "lsh"}, {"shards": 0}, {"max_words": 0}]
    for options in wrong:
        with pytest.raises(InputError):
            await CorpusIndex.build(tmp_path, unread(), encoder=small(), **options)


@pytest.mark.parametrize("refused", ["vectors.npy", "vectors.faiss"])
async def test_a_full_disk_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """/dev/full refuses every byte, as a full disk does."""
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=small())
    before = files(tmp_path)
    make = Path.mkdir

    def mkdir(self: Path, *given: Any, **more: Any) -> None:
        make(self, *given, **more)
        if self.name.startswith("gen-"):
            (self / refused).symlink_to("/dev/full")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(CorpusIndexError, match=r"Cannot write.*[Nn]o space left"):
        await CorpusIndex.build(tmp_path, corpus(1_000), encoder=small(), vectors="hnsw")
    monkeypatch.undo()
    assert files(tmp_path) == before
    assert len(list(tmp_path.glob("gen-*"))) == 1


def resident() -> int:
    """Memory of this process that is not a map of a file, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("RssAnon:")[2].split()[0])


def test_passages_and_vectors_stay_on_disk(tmp_path: Path) -> None:
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc, which says how much memory is no map of a file")
    size = 40_000
    vectors = unit(np.random.default_rng(0).normal(size=(size, 128)))
    np.save(tmp_path / "vectors.npy", vectors)
    passages = (Passage(id=f"{n}", title="T", text=f"{n:0600}") for n in range(size))
    write_lines(tmp_path / "p", tmp_path / "o.npy", passages)
    query = vectors[:1].copy()
    sharded(vectors[:10], 1).search(query, 5)
    del vectors, passages
    before = resident()
    opened = PassageFile(tmp_path / "p", tmp_path / "o.npy")
    index = load_vectors(tmp_path, DenseRecord(), searched=True)
    [hits] = index.search(query, 5)
    assert opened[hits[0][1]]["id"] == "0"
    on_disk = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert on_disk > 40e6
    assert resident() - before < 4e6
