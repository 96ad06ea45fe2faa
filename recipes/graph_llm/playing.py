"""``python -m recipes play``: real runs on training questions, with a teacher as their planner.

With a ``planner`` its plans are followed, and the teacher says what would have been right.

The passages are those of the mix's own questions: what a training question is searched in holds
no passage that questions of ``dev`` or ``test`` alone have; those are searched in all passages
together, as small sets of passages would make them easier than real ones. A question is played as
often as its source weighs; a run with a dead end finds no passage of one step's page.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import cast

from langgraph.store.base import BaseStore

from ras_flow.errors import ConfigurationError, InputError, ModelUnavailableError
from ras_flow.formats.plan import is_askable
from ras_flow.graph import build_graph
from ras_flow.indexes.sync import sync_index
from ras_flow.parts.protocols import Extractor, Planner, Retriever, SentenceEncoder
from ras_flow.parts.records import ScoredPassage
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
from recipes.graph_llm.inputs import Inputs, documents_of, read_inputs
from recipes.graph_llm.noise import Noise
from recipes.graph_llm.odd_case import odd_case
from recipes.graph_llm.student import Student
from recipes.graph_llm.teacher import Teacher
from recipes.graph_llm.threads import in_thread

AT_ONCE = 8
"""Questions under way at once, so that their passages are extracted together."""


@dataclass(frozen=True)
class _Run:
    """What to play: a case, and the page that its searches do not find."""

    case: Case
    split: Split
    number: int = 0
    lost: str = ""


class _Without:
    """A retriever that does not find one page; a page has so many passages at most."""

    PASSAGES = 8

    def __init__(self, retriever: Retriever, title: str) -> None:
        self._retriever, self._title = retriever, title
        self.identity = retriever.identity

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        found = await self._retriever.retrieve(queries, k + self.PASSAGES)
        return [
            [one for one in ranked if one.passage["title"] != self._title][:k] for ranked in found
        ]


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
    """Play runs on each question whose passages and short facts are known."""
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
    chosen = {split: list(_chosen(config, inputs, split, limit)) for split in SPLITS}
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
        runs = [one for split in splits for one in chosen[split]]
        if not runs:
            continue
        with TemporaryDirectory(prefix="ras-flow-play-") as folder_of_index:
            documents = documents_of(inputs.all_cases(searched))
            index = await sync_index(Path(folder_of_index), documents, None)
            retriever = index.retriever("bm25")
            run = _runs(retriever, extractor, encoder, store, settings, planner, config.give_up)
            done = 0
            async with aclosing(in_order(run, runs, AT_ONCE)) as ended:
                async for _, (teacher, state) in ended:
                    played.add(teacher, state)
                    done += 1
                    if progress:
                        progress(f"playing {' and '.join(splits)}", done, len(runs))
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
    give_up: int | None,
) -> Callable[[_Run], Awaitable[tuple[Teacher, RasOutput]]]:
    """Return what plays one run."""
    by = f"played-by-{planner.identity}" if planner else "played"

    async def run(of: _Run) -> tuple[Teacher, RasOutput]:
        teacher = Teacher(of.case, of.split, f"{by}-{of.number}", give_up)
        builder = build_graph(
            planner=Student(planner, teacher) if planner else teacher,
            retriever=_Without(retriever, of.lost) if of.lost else retriever,
            extractor=extractor,
            encoder=encoder,
            answerer=teacher,
            defaults=settings,
        )
        state = await builder.compile(store=store).ainvoke({"question": of.case.question})
        return teacher, cast(RasOutput, state)

    return run


def _chosen(config: MixConfig, inputs: Inputs, split: Split, limit: int | None) -> Iterator[_Run]:
    cases = [
        (case, source.runs(case, config.seed, split))
        for source, of in zip(config.sources, inputs.cases, strict=True)
        for case in of[split]
        if _playable(case)
    ]
    cases.sort(key=lambda one: fraction(config.seed, "played", one[0].source, one[0].name))
    most = None if limit is None else config.in_proportion(limit, split)
    for case, runs in cases[:most]:
        for number in range(runs):
            rng = Random(f"{config.seed}\0played\0{case.source}\0{case.name}\0{number}")
            yield _run(case, split, number, config.noise, rng)


def _run(case: Case, split: Split, number: int, noise: Noise, rng: Random) -> _Run:
    lost = rng.choice(case.steps).page.title if rng.random() < noise.dead_end else ""
    return _Run(odd_case(case, noise.odd_case, rng), split, number, lost)


def _playable(case: Case) -> bool:
    return (
        bool(case.steps)
        and not case.known
        and is_askable(case.question)
        and all(step.missing or (step.short and step.page.text) for step in case.steps)
    )
