"""Indexes of growing size: build time, size, query time, recall@5 and resident memory.

    python benchmarks/index_scale.py --data DIR --work DIR --sizes 10000 100000

Needs ``2wiki_corpus.jsonl.gz`` (lines with title, text) and ``2wiki_evidence.jsonl.gz`` (lines with
question) in the data folder, and room in the work folder: 10 GB for a million passages.

The texts are real, repeated under numbered titles. Their vectors are real for as many passages as
``--real`` says; the others are made of these: a mixture of two of them, with noise. Queries are
real questions with real vectors. What is measured is ours and FAISS's work with vectors and
passages; embedding is measured apart, on the real ones.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from math import sqrt
from pathlib import Path
from statistics import mean, median, quantiles

import numpy as np
from made_vectors import Asked, Made, spread

from ras_flow.documents import SourceDocument, split_text
from ras_flow.indexes import CorpusIndex, IndexProgress
from ras_flow.indexes.ann import EFFORTS
from ras_flow.indexes.dense import DenseRetriever
from ras_flow.indexes.manifest import DenseRecord
from ras_flow.indexes.vector_writer import build_shards, tune
from ras_flow.indexes.vectors import load_vectors
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import Retriever

K, QUESTIONS, WIKIPEDIA = 5, 256, 21_015_324


def lines(path: Path) -> list[dict]:
    """Read gzipped JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def pieces(data: Path, work: Path) -> list[tuple[str, str]]:
    """Return titles and texts of passages that stay whole when they are split again."""
    kept = work / "pieces.json"
    if not kept.exists():
        found = [
            (item["title"], text)
            for item in lines(data / "2wiki_corpus.jsonl.gz")
            for text in split_text(item["text"])
        ]
        whole = [pair for pair in found if len(split_text(pair[1])) == 1]
        kept.write_text(json.dumps(whole))
    return [(title, text) for title, text in json.loads(kept.read_text())]


def documents(real: Sequence[tuple[str, str]], size: int) -> Iterator[SourceDocument]:
    """Yield documents of one passage each; the first have the real titles."""
    for at, (title, text) in enumerate(islice(cycle(real), size)):
        number = at // len(real)
        yield SourceDocument(f"{at:08}", f"{title} {number}" if number else title, text)


def embed(data: Path, work: Path, real: int) -> None:
    """Embed real passages and questions, and keep their vectors and the rate."""
    encoder = LocalSentenceEncoder(cache_size=0)
    encoder.encode_sync(["load the model first"])
    texts = [f"{title}\n{text}" for title, text in pieces(data, work)[:real]]
    start, used = time.perf_counter(), time.process_time()
    vectors = encoder.encode_sync(texts)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    questions = [item["question"] for item in lines(data / "2wiki_evidence.jsonl.gz")[:QUESTIONS]]
    np.save(work / "real.npy", vectors)
    np.save(work / "questions.npy", encoder.encode_sync(questions))
    print(json.dumps({"passages": len(texts), "seconds": seconds, "cpu": used}))


def made(data: Path, work: Path) -> Made:
    """Return the stand-in for the encoder."""
    base = np.load(work / "real.npy")
    encoder = Made(base)
    keys = [f"{title}\n{text}" for title, text in pieces(data, work)[: len(base)]]
    encoder.known = dict(zip(keys, base, strict=True))
    return encoder


async def build_index(data: Path, work: Path, size: int) -> None:
    """Build a flat index and print the seconds of each stage and the memory."""
    encoder, real, ends = made(data, work), pieces(data, work), {}

    def note(progress: IndexProgress) -> None:
        ends[progress.stage] = time.perf_counter()

    start = time.perf_counter()
    index = await CorpusIndex.build(
        work / "flat", documents(real, size), encoder=encoder, progress=note, vectors="flat"
    )
    end = time.perf_counter()
    sizes = {name: record.size for name, record in index.manifest.files.items()}
    vectors = sizes["vectors.npy"]
    bm25 = sum(value for name, value in sizes.items() if name.startswith("bm25/"))
    values = {
        "passages": len(index),
        "read": ends["read"] - start,
        "vectors": ends["embed"] - ends["read"],
        "rest": end - ends["embed"],
        "vector_bytes": vectors,
        "bm25_bytes": bm25,
        "passage_bytes": sum(sizes.values()) - vectors - bm25,
        "peak_mib": memory()["VmHWM"],
    }
    print(json.dumps(values))


def kind_folder(work: Path, kind: str) -> tuple[Path, DenseRecord]:
    """Return where a kind's vectors are; ``ivfpq:5`` means five shards."""
    name, _, shards = kind.partition(":")
    record = DenseRecord(name, name, int(shards or 1), EFFORTS[name][0])
    [generation] = (work / "flat").glob("gen-*")
    return (generation if kind == "flat" else work / kind.replace(":", "-")), record


async def build_kind(data: Path, work: Path, kind: str) -> None:
    """Build what searches the flat index's vectors, and print seconds, bytes and memory."""
    folder, record = kind_folder(work, kind)
    [generation] = (work / "flat").glob("gen-*")
    start = time.perf_counter()
    if kind != "flat":
        folder.mkdir()
        vectors = np.load(generation / "vectors.npy", mmap_mode="r")
        if record.shards == 1:
            (folder / "vectors.npy").symlink_to(generation / "vectors.npy")
        else:
            for at, piece in enumerate(np.array_split(vectors, record.shards)):
                np.save(folder / f"vectors-{at:03}.npy", piece)
        start = time.perf_counter()
        if record.kind != "flat":
            await build_shards(folder, record, None)
    seconds = time.perf_counter() - start
    if record.kind != "flat":
        encoder = made(data, work)
        sample = [f"{text}?" for _, text in pieces(data, work)[: 200 * 7 : 7]]
        index = load_vectors(folder, record, searched=True)
        record = tune(index, record, await encoder.encode(sample))
    size = sum(file.stat().st_size for file in folder.glob("*.faiss"))
    values = {"effort": record.effort, "stated": record.recall, "shards": record.shards}
    values |= {"seconds": seconds, "bytes": size, "peak_mib": memory()["VmHWM"]}
    print(json.dumps(values))


async def query(data: Path, work: Path, kind: str, effort: int) -> None:
    """Open an index, search it, and print times, recall and memory."""
    del data
    folder, record = kind_folder(work, kind)
    questions = np.load(work / "questions.npy")
    encoder = Asked(questions)
    before = memory()
    start = time.perf_counter()
    index = await asyncio.to_thread(CorpusIndex.open, work / "flat")
    record = DenseRecord(record.kind, record.asked, record.shards, effort)
    vectors = load_vectors(folder, record, searched=True)
    opened = time.perf_counter() - start
    retriever = DenseRetriever(index.passages, vectors, encoder, identity=kind)
    [first] = await timed(retriever, ["0"])
    times = await timed(retriever, [str(at) for at in range(len(questions))])
    start = time.perf_counter()
    found = await retriever.retrieve([str(at) for at in range(len(questions))], K)
    batch = (time.perf_counter() - start) / len(questions)
    after = memory()
    flat = load_vectors(*kind_folder(work, "flat"), searched=True)
    exact = flat.search(questions, K)
    share = mean(
        len({p["id"] for p, _ in ours} & {index.passages[row]["id"] for _, row in best}) / K
        for ours, best in zip(found, exact, strict=True)
    )
    values = {"first": first, "batch": batch, "recall": share}
    print(json.dumps(values | measured(opened, times, before, after)))


async def timed(retriever: Retriever, questions: Sequence[str]) -> list[float]:
    """Ask questions one by one and return the seconds of each."""
    times = []
    for question in questions:
        start = time.perf_counter()
        await retriever.retrieve([question], K)
        times.append(time.perf_counter() - start)
    return times


def measured(opened: float, times: list[float], before: dict, after: dict) -> dict[str, float]:
    """Return what is measured of every search."""
    return {
        "open": opened,
        "median": median(times),
        "p95": quantiles(times, n=20)[-1],
        "anonymous": after["RssAnon"] - before["RssAnon"],
        "file": after["RssFile"] - before["RssFile"],
    }


async def bm25(data: Path, work: Path) -> None:
    """Search by BM25 and print times and memory."""
    questions = [item["question"] for item in lines(data / "2wiki_evidence.jsonl.gz")[:QUESTIONS]]
    before, start = memory(), time.perf_counter()
    retriever = CorpusIndex.open(work / "flat").retriever("bm25")
    opened = time.perf_counter() - start
    times = await timed(retriever, questions)
    print(json.dumps(measured(opened, times, before, memory())))


def memory() -> dict[str, float]:
    """Return this process's memory in MiB, by the names that Linux gives."""
    wanted = ("VmHWM", "RssAnon", "RssFile")
    pairs = (line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(value.split()[0]) / 1024 for name, value in pairs if name in wanted}


def child(step: str, *given: object, script: str = __file__) -> dict:
    """Run a step in a process of its own, so that its memory is its own."""
    command = [sys.executable, script, "--step", step, *map(str, given)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    values = json.loads(done.stdout.splitlines()[-1])
    print(step, *given[2:], values, file=sys.stderr, flush=True)  # kept if a later step fails
    return values


def table(head: str, rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    names = head.split("|")
    print("\n|", " | ".join(names), "|\n|", " | ".join(["---"] + ["---:"] * (len(names) - 1)), "|")
    for row in rows:
        print("|", " | ".join(map(str, row)), "|", flush=True)


def megabytes(size: float) -> str:
    """Return bytes as MB (10^6)."""
    return f"{size / 1e6:,.1f}"


def main(data: Path, work: Path, sizes: list[int], kinds: list[str], real: int) -> None:
    """Print the tables."""
    work.mkdir(parents=True, exist_ok=True)
    rate = child("embed", data, work, real)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.")
    print(f"Embedded {rate['passages']} real passages in {rate['seconds']:.0f} s "
          f"({rate['cpu']:.0f} s of one core).")  # fmt: skip
    near = spread(work)
    print(f"Mean cosine of the nearest other vector: real {near[0]:.3f}, made {near[1]:.3f}.")
    builds, searches, words, last = [], [], [], {}
    for size in sizes:
        for old in (work / "flat", *(work / kind.replace(":", "-") for kind in kinds)):
            shutil.rmtree(old, ignore_errors=True)
        built = child("index", data, work, size)
        last = {"index": built, "kinds": {}, "rate": rate}
        n = built["passages"]
        builds.append((f"{n:,}", f"{built['read']:.1f}", f"{built['vectors']:.1f}",
                       f"{built['rest']:.1f}", megabytes(built["passage_bytes"]),
                       megabytes(built["bm25_bytes"]), megabytes(built["vector_bytes"]),
                       f"{built['peak_mib']:,.0f}"))  # fmt: skip
        for kind in kinds:
            made_of = child("kind", data, work, kind)
            asked = child("query", data, work, kind, made_of["effort"])
            last["kinds"][kind] = {**made_of, **asked}
            searches.append((f"{n:,}", kind, f"{made_of['seconds']:.1f}",
                             megabytes(made_of["bytes"]), made_of["effort"],
                             f"{made_of['stated']:.3f}", f"{asked['recall']:.3f}",
                             f"{1000 * asked['open']:.0f}", f"{1000 * asked['first']:.1f}",
                             f"{1000 * asked['median']:.2f}", f"{1000 * asked['p95']:.2f}",
                             f"{1000 * asked['batch']:.2f}", f"{asked['anonymous']:,.0f}",
                             f"{asked['file']:,.0f}"))  # fmt: skip
        asked = child("bm25", data, work)
        words.append((f"{n:,}", f"{1000 * asked['open']:.0f}", f"{1000 * asked['median']:.2f}",
                      f"{1000 * asked['p95']:.2f}", f"{asked['anonymous']:,.0f}",
                      f"{asked['file']:,.0f}"))  # fmt: skip
        print(f"{n:,} passages measured; load {os.getloadavg()[0]:.1f}.", flush=True)
    table("passages|read and split, s|store vectors, s|BM25, files, checksums, s|passages, MB|"
          "BM25, MB|vectors, MB|peak memory, MiB", builds)  # fmt: skip
    table("passages|index|build, s|size, MB|effort|stated recall@5|recall@5 of questions|open, ms|"
          "first query, ms|median, ms|p95, ms|in a batch, ms|anonymous, MiB|mapped, MiB",
          searches)  # fmt: skip
    table("passages|BM25: open, ms|median, ms|p95, ms|anonymous, MiB|mapped, MiB", words)
    extrapolate(last)


def extrapolate(last: dict) -> None:
    """Print what 21 million passages would take, from the largest size measured."""
    index, rate, n = last["index"], last["rate"], last["index"]["passages"]
    times, each = WIKIPEDIA / n, rate["cpu"] / rate["passages"]
    print(f"\nFrom {n:,} to {WIKIPEDIA:,} passages: {times:.1f} times as many.\n")
    print(f"- Embedding: {each * WIKIPEDIA / 3600:,.0f} hours of one core.")
    for what in ("passage_bytes", "bm25_bytes", "vector_bytes"):
        print(f"- {what.split('_')[0]} on disk: {index[what] * times / 1e9:,.1f} GB.")
    print(f"- Read and split: {index['read'] * times / 3600:.1f} h; BM25, files and checksums: "
          f"{index['rest'] * times / 3600:.1f} h.")  # fmt: skip
    print(f"- Peak memory of a build in one process: {index['peak_mib'] * times / 1024:,.0f} GiB.")
    for kind, values in last["kinds"].items():
        # Each vector is compared with the lists of IVF, which grow with the root.
        grown = times * sqrt(times) if kind.startswith("ivfpq") else times
        print(f"- {kind}: build {values['seconds'] * grown / 3600:.1f} h; on disk "
              f"{values['bytes'] * times / 1e9:.1f} GB.")  # fmt: skip
        if kind == "flat":
            print(f"- flat query, with all vectors in memory: {values['median'] * times:.1f} s.")


if __name__ == "__main__":
    if "--step" in sys.argv:
        step, data_folder, work_folder, *more = sys.argv[2:]
        paths = Path(data_folder), Path(work_folder)
        if step == "embed":
            embed(*paths, int(more[0]))
        else:
            steps = {
                "index": build_index,
                "kind": build_kind,
                "query": query,
                "bm25": bm25,
            }
            asyncio.run(steps[step](*paths, *(int(one) if one.isdigit() else one for one in more)))
    else:
        parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
        parser.add_argument("--data", type=Path, required=True, help="folder of the two data files")
        parser.add_argument("--work", type=Path, required=True, help="folder for the indexes")
        parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
        parser.add_argument(
            "--kinds", nargs="+", default=["flat", "flat:5", "hnsw", "hnsw:5", "ivfpq", "ivfpq:5"]
        )
        parser.add_argument("--real", type=int, default=2_000, help="passages to embed")
        given = parser.parse_args()
        main(given.data, given.work, given.sizes, given.kinds, given.real)
