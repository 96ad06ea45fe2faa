"""A planner and answerer that knows the gold facts: it says what the trained ones should say.

:mod:`~recipes.graph_llm.rollout` simulates the retriever and the extractor. This one plays in
the RAS graph itself, with real ones, so what it is asked is what planner and answerer see in real
runs, and that is written down beside what it says. A step counts as found out where one triple has
the words of subject and object of each of its facts; which words an extractor found for the
relation does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.plan import format_plan
from ras_flow.formats.triples import Spo
from ras_flow.parts.records import AnswerRequest, ChainLink, PlanRequest, Reply
from ras_flow.training.data.records import Link, Record, Target
from ras_flow.training.splits import Split
from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case
from recipes.graph_llm.recorder import Recorder
from recipes.triples.support import supported


class Teacher:
    """Plays planner and answerer of one run on one case.

    Attributes:
        records: What it was asked and said, as records. Nothing is recorded where there is no
            sensible plan any more. An answer is recorded where the graph suffices, alone or with
            the passages beside it, and where it does not but has the answer as an entity: runs
            end for other reasons too, and then the answerer has to choose from what there is.
    """

    identity = "teacher"
    takes_soft_tokens = False

    def __init__(
        self, case: Case, split: Split, run: str = "played", give_up: int | None = None
    ) -> None:
        self.records: list[Record] = []
        self._case = case
        self._agenda = Agenda(case, give_up)
        self._recorder = Recorder(case, split, run)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Say what is to be done next, by what the graph holds."""
        return [Reply(self._plan(request.chain)) for request in requests]

    def advise(self, chain: Sequence[ChainLink]) -> tuple[Target | None, int | None]:
        """Say what is to be done next, and record it."""
        if not chain:
            first = self._recorder.first_plan()
            self.records.append(first)
            return first["target"], None
        links = list(map(as_link, chain))
        seen = [" ".join(triple) for link in links for triple in link["triples"]]
        target, step = self._agenda.next(self._missing(seen), seen)
        if target is not None:
            page = "" if step is None else self._case.steps[step].page.title
            name = f"plan-{len(chain)}"
            self.records.append(self._recorder.record("plan", name, links, target, page=page))
        return target, step

    def ask(self, subquery: str, step: int | None) -> None:
        """Note what is searched for next, be it what was advised or not."""
        self._agenda.ask(subquery, step)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Say the gold answer, as the graph spells it."""
        return [Reply(self._answer(request.chain)) for request in requests]

    def _plan(self, chain: Sequence[ChainLink]) -> str:
        target, step = self.advise(chain)
        if target is None or target["label"] != "SUBQ":
            return "[SUFFICIENT]"
        self.ask(target["subquery"], step)
        return format_plan("SUBQ", target["subquery"])

    def _answer(self, chain: Sequence[ChainLink]) -> str:
        links = list(map(as_link, chain))
        spelt = _spelling(self._case.answer, links)
        answer = spelt or self._case.answer
        if spelt or not self._untold(links):
            record = self._recorder.record("answer", "answer", links, {"answer": answer})
            self.records.append(record)
        return answer

    def _missing(self, triples: Sequence[str]) -> list[int]:
        return [
            at
            for at, step in enumerate(self._case.steps)
            if step.missing or not all(_told(fact, triples) for fact in step.short)
        ]

    def _untold(self, links: Sequence[Link]) -> list[int]:
        """Return the steps that neither triples nor the passages beside them tell."""
        titles = {title for link in links for title, _ in link.get("passages", ())}
        triples = [" ".join(triple) for link in links for triple in link["triples"]]
        steps = self._case.steps
        return [
            at
            for at in self._missing(triples)
            if steps[at].missing or steps[at].page.title not in titles
        ]


def _told(fact: Spo, triples: Sequence[str]) -> bool:
    return any(supported(fact[0], one) == supported(fact[2], one) == 1 for one in triples)


def as_link(link: ChainLink) -> Link:
    """Return what a record keeps of a hop."""
    triples = [[one["subject"], one["predicate"], one["object"]] for one in link.triples]
    made = Link(subquery=link.subquery, triples=triples)
    if link.passages:
        made["passages"] = [[one["title"], one["text"]] for one in link.passages]
    return made


def _spelling(answer: str, links: Sequence[Link]) -> str:
    """Return an answer as an entity spells it, the last that does, so that copying it is right.

    Empty where no entity is the answer.
    """
    wanted = normalize_name(answer)
    for link in reversed(links):
        for subject, _, object in reversed(link["triples"]):
            for name in (object, subject):
                if normalize_name(name) == wanted:
                    return name
    return ""
