"""``ras-flow data play``: real runs on training questions, with a teacher as planner and answerer.

The passages are those of the mix's own questions: what a training question is searched in holds
no passage of a question of ``dev`` or ``test``; those are searched in all passages together, as
small sets of passages would make them easier than real ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.store.base import BaseStore

from ras_flow.components import Extractor, Retriever
from ras_flow.context import Context
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.graph import build_graph
from ras_flow.retrieval.source import SourceDocument
from ras_flow.retrieval.sync import sync_index
from ras_flow.state.schema import Usage
from ras_flow.training.data.calls import StepUsage
from ras_flow.training.data.case import Case
from ras_flow.training.data.config import MixConfig
from ras_flow.training.data.in_order import in_order
from ras_flow.training.data.mix import Inputs, Progress, read_inputs, write_set
from ras_flow.training.data.records import SPLITS, Record, Split
from ras_flow.training.data.splits import fraction
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.teacher import Teacher
from ras_flow.training.data.writer import check_folder

AT_ONCE = 8
"""Questions under way at once, so that their passages are extracted together."""

Made = tuple[list[Record], list[Usage]] | None
"""Records of a run and what it used; None where a passage could not be extracted."""


async def play_mix(
    config: MixConfig,
    folder: Path,
    extractor: Extractor,
    store: BaseStore,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Play a run on each question whose passages and short facts are known.

    Args:
        config: The mix. Its ``noise`` says how many passages a hop has and how many hops a run;
            what is a probability there is not used, nor are weights and limits of sources.
        folder: Where to; its files of an earlier build are replaced.
        extractor: Makes the triples.
        store: Keeps them: what was extracted before is not extracted again.
        limit: Training questions at most, by chance; of the other splits in proportion.
        progress: Told how far the work is.

    Returns:
        The statistics, as saved.

    Raises:
        ConfigurationError: ``limit`` is below 1.
        InputError: A file is wrong, no question can be played, or the folder cannot be written
            to or holds something else.
        AuthenticationError: The extractor's key was refused.
    """
    if limit is not None and limit < 1:
        raise ConfigurationError(f"limit = {limit}: play at least 1 question.")
    check_folder(folder)
    inputs = await asyncio.to_thread(read_inputs, config, progress)
    chosen = {split: _chosen(config, inputs, split, limit) for split in SPLITS}
    if not any(chosen.values()):
        raise InputError(
            "The mix has no question to play: that takes files with documents and short gold "
            "facts, as those of 2WikiMultihopQA and MuSiQue."
        )
    records: dict[Split, list[Record]] = {split: [] for split in SPLITS}
    extraction, failed = StepUsage(), 0
    defaults = Context(top_k=config.noise.passages, max_hops=config.noise.max_hops)
    for splits, searched in ((SPLITS[:1], SPLITS[:1]), (SPLITS[1:], SPLITS)):
        cases = [(case, split) for split in splits for case in chosen[split]]
        if not cases:
            continue
        with TemporaryDirectory(prefix="ras-flow-play-") as index:
            documents = _documents(inputs, searched)
            retriever = (await sync_index(Path(index), documents, None)).retriever("bm25")
            parts = _Parts(retriever, extractor, store, defaults)
            done = 0
            async for made in in_order((_run(*case, parts) for case in cases), AT_ONCE):
                done += 1
                if progress:
                    progress(f"playing {' and '.join(splits)}", done, len(cases))
                if made is None:
                    failed += 1
                    continue
                for record in made[0]:
                    records[record["split"]].append(record)
                for used in made[1]:
                    extraction.calls += used["calls"]
                    extraction.input_tokens += used["input_tokens"]
                    extraction.output_tokens += used["output_tokens"]
    stats = Stats(inputs=inputs.counts, usage={"extract": asdict(extraction)})
    stats.settings["extractor"] = extractor.identity
    if failed:
        stats.dropped["questions whose passages could not be extracted"] = failed
    return await asyncio.to_thread(write_set, config, folder, records.__getitem__, stats)


@dataclass(frozen=True)
class _Parts:
    retriever: Retriever
    extractor: Extractor
    store: BaseStore
    settings: Context


async def _run(case: Case, split: Split, parts: _Parts) -> Made:
    teacher = Teacher(case, split)
    graph = build_graph(
        planner=teacher,
        retriever=parts.retriever,
        extractor=parts.extractor,
        answerer=teacher,
        defaults=parts.settings,
    ).compile(store=parts.store)
    state = await graph.ainvoke({"question": case.question})
    if state["warnings"]:
        return None
    used = [one for one in state["usage"].values() if one["role"] == "extractor"]
    return teacher.records, used


def _chosen(config: MixConfig, inputs: Inputs, split: Split, limit: int | None) -> list[Case]:
    cases = [case for source in inputs.cases for case in source[split] if _playable(case)]
    cases.sort(key=lambda case: fraction(config.seed, "played", case.source, case.name))
    return cases if limit is None else cases[: config.in_proportion(limit, split)]


def _playable(case: Case) -> bool:
    return (
        bool(case.steps)
        and not case.static
        and all(step.missing or (step.short and step.page.text) for step in case.steps)
    )


def _documents(inputs: Inputs, splits: Sequence[Split]) -> list[SourceDocument]:
    texts = dict.fromkeys(
        (page.title, page.text)
        for cases in inputs.cases
        for split in splits
        for case in cases[split]
        for page in (*(step.page for step in case.steps), *case.context)
        if page.title and page.text
    )
    return [
        SourceDocument(f"{number:06d}", title, text) for number, (title, text) in enumerate(texts)
    ]
