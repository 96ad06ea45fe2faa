"""Vectors in shards, and the approximate indexes over them."""

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
from typer.testing import CliRunner

from ras_flow.cli.index import app
from ras_flow.documents import SourceDocument
from ras_flow.errors import ConfigurationError, CorpusIndexError, IndexCorruptError, InputError
from ras_flow.indexes import CorpusIndex, IndexProgress, open_retriever, vector_writer
from ras_flow.indexes.ann import build_ann, choose
from ras_flow.indexes.manifest import DenseRecord, read_manifest
from ras_flow.indexes.passages import PassageFile, write_passages
from ras_flow.indexes.vectors import Shard, VectorIndex, load_vectors
from ras_flow.state.schema import Passage
from tests.indexes.helpers import DOCUMENTS, WordEncoder, edit_manifest
from tests.indexes.test_index import files

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


async def test_more_shards_than_passages_and_no_passages(tmp_path: Path) -> None:
    index = await CorpusIndex.build(tmp_path / "few", DOCUMENTS, encoder=small(), shards=8)
    assert len((await index.retriever("dense").retrieve(["mills"], 9))[0]) == len(DOCUMENTS)
    index = await index.update(remove=[document.source for document in DOCUMENTS])
    assert await index.retriever("dense").retrieve(["mills"], 9) == [[]]


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


@pytest.mark.parametrize("damage", ["truncated", "altered", "another"])
async def test_damage_to_any_shard_is_noticed_on_opening(
    hnsw: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However big a FAISS file is: FAISS would follow its links out of memory."""
    manifest = read_manifest(hnsw)
    names = [name for name in manifest.files if name.startswith("vectors")]
    assert len(names) == 4
    for name in names:
        file = hnsw / manifest.generation / name
        content = file.read_bytes()
        middle = len(content) // 2
        if damage == "truncated":
            file.write_bytes(content[:middle])
        elif damage == "altered":
            file.write_bytes(content[:middle] + b"\0\1\2\3" + content[middle + 4 :])
        else:
            other = name.replace("000", "x").replace("001", "000").replace("x", "001")
            file.write_bytes((hnsw / manifest.generation / other).read_bytes())
        try:
            with monkeypatch.context() as big:
                if name.endswith(".faiss"):
                    big.setattr("ras_flow.indexes.manifest.SMALL", 0)
                with pytest.raises(IndexCorruptError, match=name):
                    CorpusIndex.open(hnsw, encoder=small())
        finally:
            file.write_bytes(content)
    CorpusIndex.open(hnsw, encoder=small()).verify()


async def test_bm25_alone_is_served_without_faiss_and_its_files(hnsw: Path) -> None:
    file = hnsw / read_manifest(hnsw).generation / "vectors-001.faiss"
    content = file.read_bytes()
    file.unlink()
    program = (
        "import asyncio, sys; sys.modules['faiss'] = None;"
        "from ras_flow.indexes import open_retriever;"
        "print(asyncio.run(open_retriever(sys.argv[1], 'bm25').retrieve(['ba'], 1))[0][0].score)"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program, hnsw], capture_output=True, text=True)
        assert float(done.stdout) > 0, done.stderr
        with pytest.raises(IndexCorruptError, match=file.name):
            open_retriever(hnsw, "dense", small())
        with pytest.raises(IndexCorruptError, match=file.name):
            CorpusIndex.open(hnsw).verify()
    finally:
        file.write_bytes(content)


BIG = 2_400


@pytest.fixture(scope="module")
def hnsw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hnsw")
    asyncio.run(CorpusIndex.build(path, corpus(BIG), encoder=small(), vectors="hnsw", shards=2))
    return path


@pytest.fixture(scope="module")
def ivfpq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ivfpq")
    asyncio.run(CorpusIndex.build(path, corpus(BIG), encoder=small(), vectors="ivfpq"))
    return path


@pytest.mark.parametrize("name", ["hnsw", "ivfpq"])
async def test_the_stated_recall_is_what_a_user_gets(
    name: str, hnsw: Path, ivfpq: Path, tmp_path: Path
) -> None:
    index = CorpusIndex.open({"hnsw": hnsw, "ivfpq": ivfpq}[name], encoder=small())
    record = index.manifest.dense
    assert record is not None and record.kind == record.asked == name
    assert record.sample == 200 and 0.8 < record.recall <= 1
    flat = await CorpusIndex.build(tmp_path, corpus(BIG), encoder=small(), vectors="flat")
    queries = [document.text for document in corpus(BIG)[::12]]
    ours = await index.retriever("dense").retrieve(queries, 5)
    exact = await flat.retriever("dense").retrieve(queries, 5)
    share = np.mean(
        [
            len({p["id"] for p, _ in a} & {p["id"] for p, _ in b}) / 5
            for a, b in zip(ours, exact, strict=True)
        ]
    )
    assert share == pytest.approx(record.recall, abs=0.03)
    for a, b in zip(ours, exact, strict=True):
        cosines = {passage["id"]: score for passage, score in b}
        assert all(score == cosines.get(passage["id"], score) for passage, score in a)


@pytest.mark.parametrize(("enough", "effort"), [(0.5, 32), (1.1, 256)])
def test_a_search_looks_as_wide_as_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, enough: float, effort: int
) -> None:
    rng = np.random.default_rng(0)
    vectors, queries = (unit(rng.normal(size=(size, 32))) for size in (6_000, 40))
    np.save(tmp_path / "vectors.npy", vectors)
    build_ann(tmp_path / "vectors.faiss", vectors, "ivfpq")
    record = DenseRecord("ivfpq", "ivfpq", effort=32)
    index = load_vectors(tmp_path, record, searched=True)
    monkeypatch.setattr(vector_writer, "ENOUGH", enough)
    tuned = vector_writer.tune(index, record, queries)
    exact = np.argsort(-queries @ vectors.T, axis=1)[:, :5]
    found = [{row for _, row in hits} for hits in index.search(queries, 5)]
    recall = np.mean([len(set(a) & b) / 5 for a, b in zip(exact.tolist(), found, strict=True)])
    assert (tuned.effort, tuned.sample) == (effort, 40)
    assert tuned.recall == pytest.approx(recall)
    narrow = load_vectors(tmp_path, record, searched=True).search(queries, 5)
    assert (narrow == index.search(queries, 5)) == (effort == 32)


async def test_an_approximate_index_is_updated_and_keeps_its_kind(tmp_path: Path) -> None:
    encoder, documents = small(), corpus(1_100)
    seen: list[IndexProgress] = []
    index = await CorpusIndex.build(
        tmp_path / "a", documents, encoder=encoder, vectors="hnsw", progress=seen.append
    )
    assert [(one.done, one.total) for one in seen if one.stage == "link"] == [(1, 1)]
    encoder.encoded.clear()
    index = await index.update([SourceDocument("00500x", "Needle", "haystack needle")])
    assert encoder.encoded[0] == "Needle\nhaystack needle" and len(encoder.encoded) <= 201
    assert encoder.encoded[-1] in [document.text for document in documents[900:]]
    assert index.manifest.dense is not None and index.manifest.dense.kind == "hnsw"
    [[(passage, _)]] = await index.retriever("dense").retrieve(["haystack needle"], 1)
    assert passage["title"] == "Needle"
    final = [*documents, SourceDocument("00500x", "Needle", "haystack needle")]
    await CorpusIndex.build(tmp_path / "b", final, encoder=small(), vectors="hnsw")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    small_one = await index.update(remove=[f"{n:05}" for n in range(200)])
    assert small_one.manifest.dense is not None
    assert (small_one.manifest.dense.kind, small_one.manifest.dense.asked) == ("flat", "hnsw")


@pytest.mark.parametrize(
    ("choice", "passages", "shards", "kind"),
    [
        ("auto", 100_000, 1, "flat"),
        ("auto", 100_001, 1, "hnsw"),
        ("auto", 1_000_001, 1, "ivfpq"),
        ("ivfpq", 4_999, 5, "flat"),
    ],
)
def test_the_kind_of_index_depends_on_the_size(
    choice: Any, passages: int, shards: int, kind: str
) -> None:
    assert choose(choice, passages, shards) == kind


async def test_wrong_choices_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    def unread() -> Any:
        raise AssertionError("read")
        yield

    wrong: Sequence[dict[str, Any]] = [{"vectors": "lsh"}, {"shards": 0}, {"max_words": 0}]
    for options in wrong:
        with pytest.raises(InputError):
            await CorpusIndex.build(tmp_path, unread(), encoder=small(), **options)


async def test_an_older_index_whose_manifest_does_not_name_a_search_is_flat(tmp_path: Path) -> None:
    await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=small())
    edit_manifest(tmp_path, dense=None)
    index = CorpusIndex.open(tmp_path, encoder=small())
    [[(passage, _)]] = await index.retriever("dense").retrieve(["textile mills"], 1)
    assert passage["title"] == "Łódź"
    assert (await index.update(remove=["ada.txt"])).manifest.passages == 4


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
    with pytest.raises(CorpusIndexError, match=r"Cannot write an index.*[Nn]o space left"):
        await CorpusIndex.build(tmp_path, corpus(1_000), encoder=small(), vectors="hnsw")
    monkeypatch.undo()
    assert files(tmp_path) == before
    assert len(list(tmp_path.glob("gen-*"))) == 1


def test_the_command_line_builds_shards_and_states_the_recall(
    tmp_path: Path, hnsw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ras_flow.cluster.encoder.LocalSentenceEncoder", lambda *_: small())
    (tmp_path / "a.txt").write_text("Of mills.\n\nOf looms.")
    run = CliRunner().invoke
    built = run(app, ["build", f"{tmp_path}/i", f"{tmp_path}/a.txt", "--shards", "2"])
    assert built.output.endswith("1 documents, 1 passages\nvectors: flat, 2 shards\n")
    shown = run(app, ["info", str(hnsw)]).output
    recall = read_manifest(hnsw).dense.recall  # type: ignore[union-attr]
    assert f"hnsw, 2 shards, recall@5 {recall:.3f}" in shown


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
    write_passages(tmp_path / "p", tmp_path / "o.npy", passages)
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


class FakeGpu:
    """FAISS's functions for GPUs, on the processor: checks our side of them alone."""

    def __init__(self, room: int) -> None:
        import faiss

        self.room, self.searched, self._faiss = room, 0, faiss

    def index_cpu_to_all_gpus(self, index: Any) -> Any:
        outer = self

        class OnGpu:
            def add(self, vectors: Any) -> None:
                index.add(vectors)
                if index.ntotal > outer.room:
                    raise RuntimeError("out of memory")

            def search(self, queries: Any, k: int) -> Any:
                assert k <= 2048
                outer.searched += 1
                return index.search(queries, k)

        return OnGpu()


@pytest.mark.parametrize("name", ["flat", "ivfpq"])
async def test_a_gpu_is_used_where_faiss_sees_one(
    name: str, ivfpq: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import faiss

    if name == "flat":
        await CorpusIndex.build(tmp_path, corpus(2_400), encoder=small(), shards=2)
    index = CorpusIndex.open({"flat": tmp_path, "ivfpq": ivfpq}[name], encoder=small())
    here = await index.retriever("dense").retrieve(["ba de fik", "gu"], 5)
    gpu = FakeGpu(room=1_200)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", gpu.index_cpu_to_all_gpus, raising=False)
    assert await index.retriever("dense").retrieve(["ba de fik", "gu"], 5) == here
    assert gpu.searched
    if name == "flat":
        gpu.room = 1_000
        with pytest.raises(ConfigurationError, match=r"out of memory.*CUDA_VISIBLE_DEVICES"):
            index.retriever("dense")
