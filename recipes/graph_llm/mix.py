"""Several data sets to one: train.jsonl, dev.jsonl and test.jsonl, with statistics and a card.

Each split has its own pool of passages, and runs are played on its questions. Where two sources
have the same input, the first one's record is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ras_flow.graph_llm.attributes import nearest_triples
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.state.schema import Hop, Triple
from ras_flow.training.data.records import Record
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import Progress, check_folder, own_set, write_set
from ras_flow.training.splits import Split
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import Inputs, read_inputs
from recipes.graph_llm.pool import Pool
from recipes.graph_llm.recorder import closed_book, no_retrieval
from recipes.graph_llm.rollout import Reading, roll_out

TEXTS_KEPT = 400_000
"""Vectors of triples that are kept while a mix is written; 600 MB at most."""


def write_mix(
    config: MixConfig,
    folder: Path,
    inputs: Inputs | None = None,
    *,
    encoder: SentenceEncoder | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Write the records of a mix. Not to be called from a running event loop."""
    check_folder(folder)
    inputs = inputs or read_inputs(config, progress)
    stats = Stats(inputs=inputs.counts, dropped=dict(inputs.dropped))
    with _reading(config.max_triples, encoder) as reading, own_set(folder):

        def records(split: Split) -> Iterator[Record]:
            return _records(config, inputs, split, reading, progress)

        return write_set(folder, records, stats, inputs=config.files, settings=config.as_record())


@contextmanager
def _reading(most: int | None, encoder: SentenceEncoder | None) -> Iterator[Reading | None]:
    """Give what planner and answerer read of a graph; None where they read all of it."""
    if most is None:
        yield None
        return
    near = encoder or LocalSentenceEncoder(cache_size=TEXTS_KEPT)
    with asyncio.Runner() as loop:

        def reading(triples: Mapping[str, Triple], hops: Sequence[Hop]) -> dict[str, Triple]:
            return loop.run(nearest_triples(triples, hops, near, most))

        yield reading


def _records(
    config: MixConfig,
    inputs: Inputs,
    split: Split,
    reading: Reading | None,
    progress: Progress | None,
) -> Iterator[Record]:
    play = partial(
        roll_out,
        pool=Pool(inputs.all_pages(split), inputs.facts(split)),
        noise=config.noise,
        seed=config.seed,
        split=split,
        as_text=config.as_text,
        reading=reading,
        answer_passages=config.answer_passages,
        give_up=config.give_up,
    )
    for source, cases in zip(config.sources, inputs.cases, strict=True):
        most = source.max_records
        limit = float("inf") if most is None else config.in_proportion(most, split)
        count = 0
        for number, case in enumerate(cases[split]):
            if progress:
                progress(f"{split}: {source.file.name}", number, len(cases[split]))
            if count >= limit:
                break
            for record in _of_case(case, split, source.runs(case, config.seed, split), play):
                yield record
                count += 1


def _of_case(
    case: Case, split: Split, runs: int, play: Callable[..., Iterator[Record]]
) -> Iterator[Record]:
    if case.known:
        yield no_retrieval(case, split)
    if case.known or (runs and not case.steps):
        yield closed_book(case, split)
        return
    for number in range(runs):
        yield from play(case, number=number)
