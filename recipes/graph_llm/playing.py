"""``python -m recipes play``: real runs on training questions, with a teacher as their planner.

With a ``planner`` its plans are followed, and the teacher says what would have been right.

The passages are those of the mix's own questions: what a training question is searched in holds
no passage that questions of ``dev`` or ``test`` alone have; those are searched in all passages
together, as small sets of passages would make them easier than real ones.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from langgraph.store.base import BaseStore

from ras_flow.documents.source import SourceDocument
from ras_flow.errors import ConfigurationError, InputError, ModelUnavailableError
from ras_flow.formats.plan import is_askable
from ras_flow.graph import build_graph
from ras_flow.indexes.sync import sync_index
from ras_flow.parts.protocols import Extractor, Planner, Retriever, SentenceEncoder
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasOutput
from ras_flow.support.concurrency import in_order, to_its_end
from ras_flow.training.data.calls import StepUsage
from ras_flow.training.data.records import Record
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import Progress, check_folder, own_set, write_set
from ras_flow.training.splits import SPLITS, Split, fraction
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import Inputs, read_inputs
from recipes.graph_llm.student import Student
from recipes.graph_llm.teacher import Teacher
from recipes.graph_llm.threads import in_thread

AT_ONCE = 8
"""Questions under way at once, so that their passages are extracted together."""


@dataclass
class _Played:
    """What came of the runs so far."""

    records: dict[Split, list[Record]] = field(
        default_factory=lambda: {split: [] for split in SPLITS}
    )
    usage: dict[str, StepUsage] = field(default_factory=lambda: defaultdict(StepUsage))
    failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    problem: str = ""

    def add(self, teacher: Teacher, state: RasOutput) -> None:
        """Take a run's records, unless a passage could not be extracted or the planner failed."""
        for used in state["usage"].values():
            usage = self.usage[used["role"]]
            usage.calls += used["calls"]
            usage.input_tokens += used["input_tokens"]
            usage.output_tokens += used["output_tokens"]
        if state["warnings"]:
            planner = state["stop_reason"] == "error"
            reason = "planner failed" if planner else "passages could not be extracted"
            self.failed[f"questions whose {reason}"] += 1
            self.problem = state["warnings"][-1]
            return
        for record in teacher.records:
            self.records[record["split"]].append(record)


async def play_mix(
    config: MixConfig,
    folder: Path,
    extractor: Extractor,
    store: BaseStore,
    *,
    planner: Planner | None = None,
    limit: int | None = None,
    encoder: SentenceEncoder | None = None,
    progress: Progress | None = None,
) -> Stats:
    """Play a run on each question whose passages and short facts are known."""
    if limit is not None and limit < 1:
        raise ConfigurationError(f"limit = {limit}: play at least 1 question.")
    check_folder(folder)
    # Not only while the set is written: who plays for hours is not to be refused at the end.
    with own_set(folder):
        stats, played = await _play(config, extractor, store, planner, limit, encoder, progress)
        return await to_its_end(
            asyncio.to_thread(
                write_set,
                folder,
                played.records.__getitem__,
                stats,
                inputs=config.files,
                settings=config.as_record(),
            )
        )


async def _play(
    config: MixConfig,
    extractor: Extractor,
    store: BaseStore,
    planner: Planner | None,
    limit: int | None,
    encoder: SentenceEncoder | None,
    progress: Progress | None,
) -> tuple[Stats, _Played]:
    inputs = await in_thread(read_inputs, config, progress=progress)
    chosen = {split: _chosen(config, inputs, split, limit) for split in SPLITS}
    if not any(chosen.values()):
        raise InputError(
            "The mix has no question to play: that takes files with documents and short gold "
            "facts, as those of 2WikiMultihopQA and MuSiQue."
        )
    settings = Context(
        top_k=config.noise.passages,
        max_hops=config.noise.max_hops,
        max_triples=config.max_triples,
        answer_passages=config.answer_passages,
    )
    played = _Played()
    for splits, searched in ((SPLITS[:1], SPLITS[:1]), (SPLITS[1:], SPLITS)):
        cases = [(case, split) for split in splits for case in chosen[split]]
        if not cases:
            continue
        with TemporaryDirectory(prefix="ras-flow-play-") as folder_of_index:
            documents = _documents(inputs, searched)
            index = await sync_index(Path(folder_of_index), documents, None)
            run = _runs(index.retriever("bm25"), extractor, encoder, store, settings, planner)
            done = 0
            async with aclosing(in_order(run, cases, AT_ONCE)) as ended:
                async for _, (teacher, state) in ended:
                    played.add(teacher, state)
                    done += 1
                    if progress:
                        progress(f"playing {' and '.join(splits)}", done, len(cases))
    if not any(played.records.values()):
        raise ModelUnavailableError(
            "Of no question all passages could be extracted and all plans made. The last problem: "
            f"{played.problem}"
        )
    # What the teacher says costs nothing.
    steps = {"extractor": "extract"} | ({"planner": "plan"} if planner else {})
    usage = {step: asdict(played.usage[role]) for role, step in steps.items()}
    stats = Stats(inputs=inputs.counts, dropped=dict(inputs.dropped), usage=usage)
    stats.settings["extractor"] = extractor.identity
    if planner is not None:
        stats.settings["planner"] = planner.identity
    stats.dropped |= played.failed
    return stats, played


def _runs(
    retriever: Retriever,
    extractor: Extractor,
    encoder: SentenceEncoder | None,
    store: BaseStore,
    settings: Context,
    planner: Planner | None,
) -> Callable[[tuple[Case, Split]], Awaitable[tuple[Teacher, RasOutput]]]:
    """Return what plays one run."""

    async def run(of: tuple[Case, Split]) -> tuple[Teacher, RasOutput]:
        case, split = of
        teacher = Teacher(case, split, f"played-by-{planner.identity}" if planner else "played")
        builder = build_graph(
            planner=Student(planner, teacher) if planner else teacher,
            retriever=retriever,
            extractor=extractor,
            encoder=encoder,
            answerer=teacher,
            defaults=settings,
        )
        state = await builder.compile(store=store).ainvoke({"question": case.question})
        return teacher, cast(RasOutput, state)

    return run


def _chosen(config: MixConfig, inputs: Inputs, split: Split, limit: int | None) -> list[Case]:
    cases = [case for source in inputs.cases for case in source[split] if _playable(case)]
    cases.sort(key=lambda case: fraction(config.seed, "played", case.source, case.name))
    return cases if limit is None else cases[: config.in_proportion(limit, split)]


def _playable(case: Case) -> bool:
    return (
        bool(case.steps)
        and is_askable(case.question)
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
