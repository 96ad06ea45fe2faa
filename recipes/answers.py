"""What the answerer of the default loop learns from: what it is shown at the end of runs.

A trained hop reader searches and notes facts as it does for users, or the replies of
:mod:`recipes.labels` do. What the answerer is shown then is recorded with the gold answer, unless
nothing in it tells that answer: guesses are not learnt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ras_flow.formats.normalize import has_name
from ras_flow.graph import wire
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.indexes.sync import sync_index
from ras_flow.llms.local.tokenized import TokenizedModel
from ras_flow.llms.local.tuned import HOP_READER, find_tuned
from ras_flow.parts.chosen import Parts
from ras_flow.parts.records import AnswerRequest, Generation, Message, Reading, Reply
from ras_flow.settings.context import DEFAULT_MODEL
from ras_flow.support.concurrency import in_order
from ras_flow.training.data.records import Link, Record, Target
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import Progress, check_folder, own_set, write_set
from ras_flow.training.splits import Split, fraction
from recipes.graph_llm.case import Case
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import documents_of, read_inputs
from recipes.graph_llm.recorder import Recorder
from recipes.graph_llm.teacher import as_link
from recipes.graph_llm.threads import in_thread
from recipes.labels import SEED, WATCHED
from recipes.lessons import Student, is_playable, most_hops, text_of
from recipes.worlds import UNANSWERED, read_worlds

AT_ONCE = 48
"""Questions under way at once, so that their hops are read together."""

UNNOTED = 0.3
"""Share of the hops whose noted facts are left out: on new questions they often miss what matters,
and then the passages have to be read."""


@dataclass
class _Run:
    """What the answerer of a run was shown, and whether each hop had a reply."""

    shown: list[AnswerRequest] = field(default_factory=list)
    replied: bool = True


_run: ContextVar[_Run] = ContextVar("run")
"""The run that asks: building a graph for each would take most of the time."""


class Followed(TokenizedModel):
    """Reads hops as a student does. A run to which it has no reply ends there."""

    batch_size = AT_ONCE

    def __init__(self, student: Student) -> None:
        shipped = find_tuned(str(HOP_READER))
        assert shipped is not None
        super().__init__(shipped.base)
        self.identity, self.trained_for = "followed", shipped.instructions
        self._student = student

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        """Reply to each prompt of the run that asks."""
        made = await self._student.generate(prompts, max_new_tokens=max_new_tokens, stop=stop)
        _run.get().replied &= all(one.text for one in made)
        return [one if one.text else Generation("[ANSWER] -") for one in made]


class Watching:
    """An answerer that keeps what it is shown: as much as the shipped one."""

    identity, takes_soft_tokens = "watching", True

    def __init__(self) -> None:
        shipped = find_graph_llm(DEFAULT_MODEL)
        assert shipped is not None
        self.reading: Reading = shipped.config.reading

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Keep the requests; what is said does not matter."""
        _run.get().shown.extend(requests)
        return [Reply("-", calls=0) for _ in requests]


async def play_answers(
    config: MixConfig,
    student: Student,
    worlds: Sequence[Path],
    folder: Path,
    progress: Progress | None = None,
) -> Stats:
    """Play a mix's training questions and those of invented worlds, and write the records."""
    check_folder(folder)
    with own_set(folder):
        inputs = await in_thread(read_inputs, config, progress=progress)
        records: dict[Split, list[Record]] = {"train": [], "dev": [], "test": []}
        for cases in (inputs.all_cases(["train"]), *(list(read_worlds(path)) for path in worlds)):
            for record in await _played(cases, student, config.seed, progress):
                records[record["split"]].append(record)
        return await asyncio.to_thread(
            write_set,
            folder,
            records.__getitem__,
            Stats(inputs=inputs.counts, dropped=dict(inputs.dropped)),
            inputs=[*config.files, *worlds],
            settings=config.as_record(),
        )


async def _played(
    cases: Sequence[Case], student: Student, seed: int, progress: Progress | None
) -> list[Record]:
    """Return the records of the cases, whose pages are searched together."""
    asked = [case for case in cases if is_playable(case) and case.answer != UNANSWERED]
    model, done = Followed(student), 0
    records: list[Record] = []
    with TemporaryDirectory(prefix="ras-flow-play-") as folder:
        index = await sync_index(Path(folder), documents_of(cases, text_of), None)
        parts = Parts.of(
            planner=model, extractor=model, answerer=model, retriever=index.retriever("bm25")
        )
        graph = wire(replace(parts, answerer=Watching())).compile()

        async def run(case: Case) -> _Run:
            _run.set(of := _Run())
            settings = {
                "instruction": case.instruction,
                "max_hops": most_hops(case, seed, "one_call"),
            }
            await graph.ainvoke({"question": case.question, "settings": settings})
            return of

        async with aclosing(in_order(run, asked, AT_ONCE)) as ended:
            async for case, of in ended:
                links = [as_link(link) for one in of.shown for link in one.chain]
                if of.replied and _is_told(case, links):
                    watched = fraction(SEED, "watched", case.question) < WATCHED
                    recorder = Recorder(case, "dev" if watched else "train", "one-call")
                    for at, link in enumerate(links):
                        if fraction(SEED, "unnoted", case.source, case.name, str(at)) < UNNOTED:
                            link["triples"] = []
                    target = Target(answer=case.answer)
                    records.append(recorder.record("answer", "answer", links, target))
                done += 1
                if progress:
                    progress("playing", done, len(asked))
    return records


def _is_told(case: Case, links: Sequence[Link]) -> bool:
    """Tell whether what is shown has the answer; for yes and no, whether it has all pages."""
    passages = [passage for link in links for passage in link.get("passages", ())]
    if case.answer.lower() in ("yes", "no"):
        read = {title for title, _ in passages}
        return all(step.page.title in read for step in case.steps)
    triples = [end for link in links for s, _, o in link["triples"] for end in (s, o)]
    return any(has_name(text, case.answer) for text in (*triples, *(text for _, text in passages)))
