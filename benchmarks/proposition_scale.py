"""A proposition index of a given size: build time, size, query time, passages found, and memory.

    python benchmarks/proposition_scale.py 1000000 --data DIR --work DIR

Data, passages and vectors are those of ``index_scale.py``; their triples are made up, seven each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np
from index_scale import K, child, documents, made, measured, megabytes, memory, pieces, table
from made_vectors import Asked

from ras_flow.indexes import CorpusIndex, IndexProgress
from ras_flow.indexes.propositions.index import PropositionIndex, proposition_indexes
from ras_flow.indexes.propositions.retriever import StoredTripleRetriever
from ras_flow.indexes.propositions.update import update_propositions
from ras_flow.parts import Extraction, TripleQuery

SEVEN = 7


class MadeTriples:
    """Stands for what an extractor made of passages: seven triples each."""

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return triples of these passages."""
        return {
            id: Extraction(
                [(f"Entity {id}", f"relation {at}", f"{id[at:]} {at}") for at in range(SEVEN)]
            )
            for id in passages
        }


async def build_propositions(data: Path, work: Path, size: int) -> None:
    """Index propositions and print the seconds of each stage, sizes and memory."""
    corpus = await CorpusIndex.build(
        work / "triples", documents(pieces(data, work), size // SEVEN), encoder=None
    )
    ends = {}

    def note(progress: IndexProgress) -> None:
        ends[progress.stage] = time.perf_counter()

    start = time.perf_counter()
    encoder = made(data, work)
    change = await update_propositions(corpus, "made", MadeTriples(), encoder, note)
    end = time.perf_counter()
    [index] = proposition_indexes(work / "triples")
    sizes = {name: record.size for name, record in index.manifest.files.items()}
    vectors, ann = sizes["vectors.npy"], sizes.get("vectors.faiss", 0)
    values = {
        "propositions": change.propositions,
        "passages": change.passages,
        "read": ends["read"] - start,
        "vectors": ends["embed"] - ends["read"],
        "link": end - ends["embed"],
        "lines_bytes": sum(sizes.values()) - vectors - ann,
        "vector_bytes": vectors,
        "ann_bytes": ann,
        "peak_mib": memory()["VmHWM"],
    }
    start = time.perf_counter()
    await update_propositions(corpus, "made", MadeTriples(), encoder)
    print(json.dumps(values | {"again": time.perf_counter() - start}))


async def find_propositions(data: Path, work: Path, kind: str) -> None:
    """Search propositions, three clues at a time, and print times, recall and memory."""
    del data
    questions = np.load(work / "questions.npy")
    encoder = Asked(questions)
    before, start = memory(), time.perf_counter()
    corpus = CorpusIndex.open(work / "triples")
    [folder] = (work / "triples" / "triples").glob("*")
    index = PropositionIndex.open(folder, encoder=encoder)
    exact = index.vectors.flat()
    found = {}
    if kind == "flat":
        index.vectors = exact
    retriever = StoredTripleRetriever(index, corpus, encoder)
    opened, times = time.perf_counter() - start, []
    for at in range(0, len(questions) - 2, 3):
        asked = [TripleQuery(str(one)) for one in range(at, at + 3)]
        start = time.perf_counter()
        found[at] = await retriever.find(asked, K)
        times.append(time.perf_counter() - start)
    values = measured(opened, times[1:], before, memory()) | {"first": times[0]}
    index.vectors = exact
    retriever, shares = StoredTripleRetriever(index, corpus, encoder), []
    for at in list(found)[:20]:
        best = await retriever.find([TripleQuery(str(one)) for one in range(at, at + 3)], K)
        ours, theirs = ({one.passage["id"] for one in some.passages} for some in (found[at], best))
        shares.append(len(ours & theirs) / len(theirs))
    dense = index.manifest.dense
    stated = {"effort": dense.effort, "stated": dense.recall, "kind": dense.kind}
    print(json.dumps(values | stated | {"recall": mean(shares)}))


def propositions(data: Path, work: Path, size: int, real: int) -> None:
    """Print the tables of propositions."""
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "questions.npy").exists():
        child("embed", data, work, real)
    shutil.rmtree(work / "triples", ignore_errors=True)
    built = child("build", data, work, size, script=__file__)
    table("propositions|passages|read, refine, s|store vectors, s|link, files, checksums, s|"
          "lines, MB|vectors, MB|HNSW, MB|peak memory, MiB|nothing new, s",
          [(f"{built['propositions']:,}", f"{built['passages']:,}", f"{built['read']:.1f}",
            f"{built['vectors']:.1f}", f"{built['link']:.1f}", megabytes(built["lines_bytes"]),
            megabytes(built["vector_bytes"]), megabytes(built["ann_bytes"]),
            f"{built['peak_mib']:,.0f}", f"{built['again']:.1f}")])  # fmt: skip
    rows = []
    for kind in ("flat", "as built"):
        asked = child("find", data, work, kind, script=__file__)
        name = kind if kind == "flat" else asked["kind"]
        rows.append((name, f"{asked['recall']:.3f}", f"{1000 * asked['open']:.0f}",
                     f"{1000 * asked['first']:.1f}", f"{1000 * asked['median']:.1f}",
                     f"{1000 * asked['p95']:.1f}", f"{asked['anonymous']:,.0f}",
                     f"{asked['file']:,.0f}"))  # fmt: skip
    table("search|passages of the exact one|open, ms|first, ms|median, ms|p95, ms|anonymous, MiB|"
          "mapped, MiB", rows)  # fmt: skip


if __name__ == "__main__":
    if "--step" in sys.argv:
        step, data_folder, work_folder, given = sys.argv[2:]
        paths = Path(data_folder), Path(work_folder)
        asyncio.run(
            find_propositions(*paths, given)
            if step == "find"
            else build_propositions(*paths, int(given))
        )
    else:
        parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
        parser.add_argument("propositions", type=int)
        parser.add_argument("--data", type=Path, required=True, help="folder of the two data files")
        parser.add_argument("--work", type=Path, required=True, help="folder for the indexes")
        parser.add_argument("--real", type=int, default=2_000, help="passages to embed")
        given = parser.parse_args()
        propositions(given.data, given.work, given.propositions, given.real)
