"""What models of a loop learn from: the loop itself, run with a teacher as its model.

So a row's input is what the loop shows its model, and its output what the loop can read. The
questions are a mix's; the searches go through the passages of its training questions, or for
``dev`` through all. Where only the triples of a passage are known, they are its text. A question is
left out that has no answer, or whose passages are not all there.

RAS's own loop of one call a hop has a teacher of its own, :mod:`recipes.hops`. It is played on
questions whose facts the passages tell in so many words, first on those of several steps with
passages of real text. The baselines' teacher answers what it is asked to read with the gold answer,
whatever was found, as they are told to. As IRCoT it states the facts that lead further and that it
did not ask for, each as a question with its answer; asks for what nothing shown tells; and
concludes as soon as all is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.evaluation.systems import Ingredients, find_system
from ras_flow.evaluation.systems.replies import first_sentence
from ras_flow.formats.plan import is_askable
from ras_flow.graph import build_graph
from ras_flow.indexes.sync import sync_index
from ras_flow.llms.local.tokenized import TokenizedModel
from ras_flow.llms.local.tuned import HOP
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Retriever
from ras_flow.parts.records import Generation, Message
from ras_flow.settings.context import Context
from ras_flow.support.concurrency import in_order
from ras_flow.training.data.writer import Progress
from ras_flow.training.splits import SPLITS, Split, fraction
from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.config import MixConfig
from recipes.graph_llm.inputs import Inputs, documents_of, read_inputs
from recipes.graph_llm.passage_text import passage_text
from recipes.graph_llm.playing import AT_ONCE
from recipes.graph_llm.sources.texts import mentions
from recipes.graph_llm.threads import in_thread
from recipes.hops import HopTeacher, is_told
from recipes.t2rag.convert import TextRow
from recipes.worlds import SOURCE, read_worlds

Played = Literal["single", "ircot", "one_call"]

ASKED: dict[Played, set[str]] = {
    "single": {"read"},
    "ircot": {"read", "reason"},
    "one_call": {HOP},
}
"""The tasks of the systems that can be played: baselines, and RAS with one call a hop."""

ONE_CALL_HOPS = 4
"""Searches at most with one call a hop."""

CUT = 0.15
"""Share of the runs that end after one or two searches, so that reading the rest is learnt too."""


class Lesson:
    """One run: what the teacher was asked and said, and what it knows."""

    def __init__(self, case: Case) -> None:
        self.rows: list[TextRow] = []
        self._case, self._agenda, self._hops = case, Agenda(case), HopTeacher(case)
        self._agenda.ask(case.question, None)
        self._named: set[int] = set()

    def reply(self, task: str, shown: str) -> str:
        """Reply as a trained model should."""
        if task == HOP:
            said = self._hops.reply(shown)
        else:
            said = self._case.answer if task == "read" else self._step(shown)
        self.rows.append({"task": task, "input": shown, "output": said})
        return said

    def follow(self, said: str, own: str | None) -> str:
        """Return the reply to a hop that the run goes on with: the teacher's or a student's."""
        return self._hops.follow(said, own)

    def _step(self, shown: str) -> str:
        """Write the next sentence of a reasoning."""
        steps = self._case.steps
        passages = [line for line in shown.splitlines() if line.startswith("[")]
        untold = [at for at, step in enumerate(steps) if not is_told(step, *passages)]
        leading = {need for at in untold for need in steps[at].needs} - {*untold, *self._named}
        if leading:
            self._named.add(at := min(leading))
            return first_sentence(_statement(steps[at]))
        target, step = self._agenda.next(untold)
        if target is None or step is None or target["label"] != "SUBQ":
            return f"So the answer is: {self._case.answer}"
        self._agenda.ask(target["subquery"], step)
        self._named.add(step)
        return first_sentence(target["subquery"])


_lesson: ContextVar[Lesson] = ContextVar("lesson")
"""The run that asks: building a graph for each would take most of the time."""


class Student(Protocol):
    """What replies to hops in the teacher's place."""

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        """Reply to each prompt; a reply that is no step leaves the hop to the teacher."""
        ...


class TeachingModel(TokenizedModel):
    """A system's model that knows the gold facts; ``tasks`` are what it is asked, by name.

    A hop's reply is that of the ``student``, if there is one, unless it would end a run too early.
    """

    identity, batch_size = "teacher", 1

    def __init__(self, base: str, tasks: Mapping[str, str], student: Student | None = None) -> None:
        super().__init__(base)
        self._student = student
        self.trained_for = tasks
        self._named = {instruction: task for task, instruction in tasks.items()}

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        """Reply to each prompt in the run that asks."""
        lesson, replies = _lesson.get(), []
        for prompt in prompts:
            task, shown = self._named[prompt[0]["content"]], prompt[1]["content"]
            said = lesson.reply(task, shown)
            if task == HOP:
                own = None
                if self._student is not None:
                    [own] = await self._student.generate(
                        [prompt], max_new_tokens=max_new_tokens, stop=stop
                    )
                said = lesson.follow(said, own.text if own else None)
            replies.append(Generation(said))
        return replies


def _statement(step: Step) -> str:
    """Write what a step finds out: "Who directed Salt Road: Aino Laine."."""
    asked = step.phrasings[0] if step.phrasings else step.page.title
    facts = step.short or step.facts
    found = dict.fromkeys(o if not mentions(asked, o) else s for s, _, o in facts)
    return f"{asked.rstrip('?. ')}: {', '.join(found)}."


async def play_texts(
    config: MixConfig,
    kind: Played,
    *,
    base: str,
    tasks: Mapping[str, str],
    top_k: int,
    student: Student | None = None,
    limit: int | None = None,
    worlds: Sequence[Path] = (),
    progress: Progress | None = None,
) -> list[TextRow]:
    """Return the rows of a system's runs on the questions of ``train`` and ``dev``.

    Those of invented ``worlds``, for ``train``, are played among the documents of their file.

    ``base`` is the model to train, whose window and tokens count; ``tasks`` are what it will be
    asked, by the tasks' names. With a ``student``, a trained model, its replies to hops are
    followed; of the mix, rows are what comes after the first, which every run begins with.
    """
    if lacking := sorted(ASKED[kind] - tasks.keys()):
        raise ConfigurationError(f"{kind} is also asked to {lacking[0]}: name it under [tasks].")
    if student is not None and kind != "one_call":
        raise ConfigurationError("A student's searches are followed with --system one_call alone.")
    inputs = await in_thread(read_inputs, config, progress=progress)
    teacher = TeachingModel(base, tasks, student)
    rows: list[TextRow] = []
    parts: list[tuple[Split, list[Case], list[Case]]] = []
    splits: tuple[tuple[Split, tuple[Split, ...]], ...] = (("train", SPLITS[:1]), ("dev", SPLITS))
    for split, searched_in in splits:
        chosen = _chosen(config, inputs, split, limit, kind)
        parts.append((split, chosen, inputs.all_cases(searched_in)))
    for path in worlds:
        invented = list(read_worlds(path))
        parts.append(("train", invented, invented))
    for split, cases, searched in parts:
        with TemporaryDirectory(prefix="ras-flow-play-") as folder:
            index = await sync_index(Path(folder), documents_of(searched, text_of), None)
            graph = _built(kind, index.retriever("bm25"), teacher, top_k).compile()

            async def run(case: Case, graph: Any = graph) -> list[TextRow]:
                _lesson.set(lesson := Lesson(case))
                hops = most_hops(case, config.seed, kind)
                own = {"instruction": case.instruction, "max_hops": hops}
                await graph.ainvoke({"question": case.question, "settings": own})
                return lesson.rows

            done = 0
            async with aclosing(in_order(run, cases, AT_ONCE)) as ended:
                async for case, made in ended:
                    of = {"source": case.source, "split": split}
                    rows += [
                        {"id": f"{case.source}/{case.name}/{at}", **of, **row}
                        for at, row in enumerate(made)
                        if at or student is None or case.source == SOURCE
                    ]
                    done += 1
                    if progress:
                        progress(f"playing {split}", done, len(cases))
    if not rows:
        raise InputError("The mix has no question whose facts are known. Name other sources.")
    return rows


def _built(kind: Played, retriever: Retriever, teacher: TeachingModel, top_k: int) -> Any:
    """Return the system's builder, over the teacher."""
    settings = Context(top_k=top_k)
    if kind == "one_call":
        return build_graph(
            planner=teacher,
            extractor=teacher,
            answerer=teacher,
            retriever=retriever,
            defaults=settings.override({"when_unknown": "guess"}),
        )
    parts = Parts(retriever=retriever, defaults=settings)
    return find_system(kind).build(Ingredients(parts=parts, reader=teacher))


def most_hops(case: Case, seed: int, kind: Played) -> int:
    """Return how many searches a run on a case may make; some end early."""
    one_call = kind == "one_call"
    most = ONE_CALL_HOPS if one_call else find_system(kind).budget.get("max_hops", 1)
    drawn = fraction(seed, "cut", case.source, case.name)
    return most if drawn >= CUT else min(most, 1 + (drawn >= CUT / 2))


def _chosen(
    config: MixConfig, inputs: Inputs, split: Split, limit: int | None, kind: Played
) -> list[Case]:
    cases: list[Case] = []
    for source, of in zip(config.sources, inputs.cases, strict=True):
        some = [case for case in of[split] if is_playable(case)]
        most = source.max_records
        cases += some if most is None else some[: config.in_proportion(most, split)]
    cases.sort(key=lambda case: fraction(config.seed, "baseline", case.source, case.name))
    if kind == "one_call":
        cases = sorted(filter(_is_told, cases), key=lambda case: not _is_chain_of_texts(case))
    return cases if limit is None else cases[: config.in_proportion(limit, split)]


def is_playable(case: Case) -> bool:
    """Tell whether a case can be asked, and how it is answered is known."""
    whole = bool(case.steps) and not any(step.missing for step in case.steps)
    return whole and bool(case.answer) and is_askable(case.question)


def _is_told(case: Case) -> bool:
    return all(is_told(step, f"[{step.page.title}] {text_of(step.page)}") for step in case.steps)


def _is_chain_of_texts(case: Case) -> bool:
    return len(case.steps) > 1 and all(step.page.text for step in case.steps)


def text_of(page: Page) -> str:
    """Return a page's text; where only its triples are known, these as sentences."""
    return page.text or passage_text(page, ())
