"""HotpotQA-SUBQ: training data from HotpotQA with language models (appendix C, algorithm 1).

For each question: a base model tries to answer it alone; if it can, that is its only record
([NO_RETRIEVAL], with the ``continue`` that one published version of the algorithm lacks). Else a
model keeps the supporting documents that are needed, another writes one subquery for each, f_t2t
makes triples, and :mod:`.hops` labels them.

Where this differs from the appendix, it is to show training what inference sees:

* the first subquery is the question itself (q_0 = Q), and there is a first plan, [SUBQ] Q;
* triples go through the rules for what enters the graph (:mod:`ras_flow.formats.quality`);
* each hop has ``distractors`` other documents of the question beside the needed one;
* documents are read in the order in which the filter says they have to be found;
* splits are by question, and one input has one label.

Every model call is kept in the folder's ``store.sqlite``: a build that was killed goes on where it
was, and asks nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from ras_flow.datasets.reading import read_rows
from ras_flow.errors import InputError
from ras_flow.support.concurrency import in_order, to_its_end
from ras_flow.training.data.calls import open_log
from ras_flow.training.data.records import Record
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.subq.builder import BuildConfig, Builder, Models
from ras_flow.training.data.writer import Progress, check_folder, own_set, write_set
from ras_flow.training.splits import Split


async def build_hotpotqa_subq(
    path: Path,
    folder: Path,
    models: Models,
    config: BuildConfig | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Build the data set."""
    config = config or BuildConfig()
    check_folder(folder)
    rows = await asyncio.to_thread(lambda: list(islice(read_rows(path), config.limit)))
    if not rows:
        raise InputError(f"{path} has no questions: name a file of HotpotQA's.")
    stats = Stats()
    with own_set(folder):
        collected: list[Record] = []
        done = 0
        async with open_log(folder) as log:
            builder = Builder(log, models, config, stats.dropped)
            async with aclosing(in_order(builder.records, rows, config.concurrency)) as built:
                async for _, records in built:
                    collected += records
                    done += 1
                    if progress:
                        progress("building", done, len(rows))
        if builder.rejected and not collected:
            raise builder.rejected
        stats.usage = {step: asdict(usage) for step, usage in sorted(log.usage.items())}

        def of(split: Split) -> Iterator[Record]:
            return (record for record in collected if record["split"] == split)

        stats.inputs = {path.name: {"all": len(rows)}}
        return await to_its_end(
            asyncio.to_thread(
                write_set, folder, of, stats, inputs=[path], settings=config.model_dump()
            )
        )
