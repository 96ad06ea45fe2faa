"""Approximate search of vectors: its files, its recall, and GPUs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ras_flow.cli.index import app
from ras_flow.documents import SourceDocument
from ras_flow.errors import ConfigurationError, IndexCorruptError
from ras_flow.indexes import CorpusIndex, IndexProgress, open_retriever
from ras_flow.indexes.ann import choose
from ras_flow.indexes.manifest import read_manifest
from tests.indexes.helpers import files
from tests.indexes.test_vectors import corpus, small

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


async def test_an_approximate_index_is_updated_and_keeps_its_kind(tmp_path: Path) -> None:
    encoder, documents = small(), corpus(1_100)
    seen: list[IndexProgress] = []
    index = await CorpusIndex.build(
        tmp_path / "a", documents, encoder=encoder, vectors="hnsw", progress=seen.append
    )
    assert [(one.done, one.total) for one in seen if one.stage == "link"] == [(0, 1), (1, 1)]
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


def test_the_command_line_builds_shards_and_states_the_recall(
    tmp_path: Path, hnsw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ras_flow.cluster.parts.LocalSentenceEncoder", lambda *_: small())
    (tmp_path / "a.txt").write_text("Of mills.\n\nOf looms.")
    run = CliRunner().invoke
    built = run(app, ["build", f"{tmp_path}/i", f"{tmp_path}/a.txt", "--shards", "2"])
    assert built.output.endswith("1 document, 1 passage\nvectors: flat, 2 shards\n")
    shown = run(app, ["info", str(hnsw)]).output
    recall = read_manifest(hnsw).dense.recall  # type: ignore[union-attr]
    assert f"hnsw, 2 shards, recall@5 {recall:.3f}" in shown


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
