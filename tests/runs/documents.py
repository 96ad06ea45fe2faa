"""Run documents made by hand: steps are told one after another, branches leave others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ras_flow.runs.document import FORMAT, Branch, RunDocument, Step
from ras_flow.runs.systems import info_of
from ras_flow.state.evidence import Reader
from ras_flow.state.kg import QueryKG, by_hop, triple_id
from ras_flow.state.schema import Hop, Passage, Plan, Triple, Usage, passage_id
from ras_flow.state.support import Verdict, judge
from tests.graph.world import QUESTION

Fact = tuple[str, str, str]

TEXTS = {
    "Aurora Bridge": "The Aurora Bridge was designed by Mira Lund in 1961.",
    "Mira Lund": "Mira Lund was an engineer. She was born in Narvik.",
    "Old Bridges": "Few remember Ada Lund. The Aurora Bridge was designed by Ada Lund.",
    "Ada Lund": "Ada Lund was born in Bergen.",
}
DESIGNER = ("Aurora Bridge", "designer", "Mira Lund")
BORN = ("Mira Lund", "place of birth", "Narvik")
ADA = ("Aurora Bridge", "designer", "Ada Lund")
ADA_BORN = ("Ada Lund", "place of birth", "Bergen")
SUBQUERY = "Where was Mira Lund born?"


class Story:
    """A branch as it is told; `fork` begins another one that shares the steps so far."""

    def __init__(self, writer: Writer, number: int, before: Story | None = None) -> None:
        self._writer, self.number = writer, number
        self.steps: list[str] = list(before.steps) if before else []
        self.hops: list[Hop] = list(before.hops) if before else []
        self.plans: list[Plan] = list(before.plans) if before else []
        self.graph: dict[str, Triple] = dict(before.graph) if before else {}
        self.forked = (before.number, len(before.steps) - 1) if before else None
        self.answered: tuple[str, str] | None = None
        self.cited: list[str] | None = None
        self.paused = False
        self.settings: dict[str, Any] = dict(before.settings) if before else {}
        self.warnings: list[str] = list(before.warnings) if before else []

    def fork(self) -> Story:
        return self._writer.branch(self)

    def step(self, kind: str = "node", node: str = "", hop: int | None = None, **more: Any) -> None:
        number = len(self._writer.steps)
        checkpoint = f"c{number:03}"
        self._writer.steps[checkpoint] = Step(
            checkpoint=checkpoint,
            parent=self.steps[-1] if self.steps else None,
            kind=kind,  # type: ignore[arg-type]
            node=node,
            hop=hop,
            time=f"2026-11-21T07:00:{number:02}Z",
            usage=more.get("usage"),
            next=more.get("next", []),
            plan=more.get("plan"),
            passages=more.get("passages", []),
            added=more.get("added", []),
            removed=more.get("removed", []),
            sections=more.get("sections", []),
            review=more.get("review"),
        )
        self.steps.append(checkpoint)

    def plan(self, raw: str, label: Any = "SUBQ", subquery: str = "", tokens: int = 10) -> Story:
        plan = Plan(
            index=len(self.plans), hop=len(self.hops), label=label, subquery=subquery, raw=raw
        )
        if label is None:
            plan["problem"] = "There is no label."
        self.plans.append(plan)
        self.step(node="plan", hop=len(self.hops), plan=plan, usage=usage("planner", tokens))
        return self

    def hop(self, subquery: str, found: dict[str, list[Fact]]) -> Story:
        """Retrieve the passages with these titles, and find these facts in them."""
        index, ids = len(self.hops), [self._writer.passage(title) for title in found]
        scores = [1.5 - 0.5 * rank for rank in range(len(ids))]
        self.hops.append(Hop(index=index, subquery=subquery, passages=ids, scores=scores))
        self.step(node="retrieve", hop=index, passages=ids, usage=usage("retriever", 0))
        self.step(node="to_triples", hop=index, usage=usage("extractor", 20))
        added = []
        for passage, facts in zip(ids, found.values(), strict=True):
            for fact in facts:
                id = self._writer.fact(fact, passage)
                if id not in self.graph:
                    added.append(id)
                self.graph[id] = self._writer.triples[id]
        self.step(node="merge_graph", hop=index, added=added)
        return self

    def edit(self, add: Fact | None = None, drop: Fact | None = None) -> Story:
        added = [self._writer.fact(add)] if add else []
        removed = [triple_id(*drop)] if drop else []
        for id in removed:
            del self.graph[id]
        self.graph |= {id: self._writer.triples[id] for id in added}
        self.step("edit", added=added, removed=removed)
        return self

    def answer(
        self, text: str, reason: str = "sufficient", cited: Sequence[Fact] | None = None
    ) -> Story:
        """Answer; without the facts that are cited, they are judged as in a run."""
        self.step(node="answer", usage=usage("answerer", 30))
        self.answered = text, reason
        self.cited = None if cited is None else [triple_id(*fact) for fact in cited]
        return self

    def pause(self, node: str, **review: Any) -> Story:
        """Wait for a person before a node."""
        last = self._writer.steps[self.steps[-1]]
        last["next"], last["review"] = [node], {"type": "review", **review}
        self.paused = True
        return self

    def _judged(self, text: str, graph: dict[str, Triple]) -> Verdict:
        passages = self._writer.passages
        if self.cited is None:
            return judge(text, self._writer.question, graph, passages)
        reader = Reader(passages)
        cited = [reader.cite(id, graph[id]) for id in self.cited]
        return Verdict(cited, bool(cited), "Facts lead from the question to it.", 1.0)

    def written(self) -> Branch:
        text, reason = self.answered or ("", None)
        graph = {id: self._writer.triples[id] for id in self.graph}
        verdict = self._judged(text, graph)
        return Branch(
            number=self.number,
            forked_from={"branch": self.forked[0], "step": self.forked[1]} if self.forked else None,
            question=self._writer.question,
            steps=self.steps,
            status="finished" if self.answered else "paused" if self.paused else "unfinished",
            stop_reason=reason,  # type: ignore[typeddict-item]
            answer=text,
            citations=verdict.citations,
            supported=verdict.supported,
            support=verdict.support if text else "",
            hops=self.hops,
            plans=self.plans,
            hop_triples=by_hop(graph, self.hops),
            stated_in={id: triple["passages"] for id, triple in graph.items()},
            warnings=self.warnings,
            settings=self.settings,
            open=[],
            sections=[],
            own={},
        )


class Writer:
    """Writes a run document from the stories of its branches."""

    def __init__(
        self, run: str = "run1", question: str = QUESTION, texts: dict[str, str] | None = None
    ) -> None:
        self.run, self.question, self.texts = run, question, TEXTS if texts is None else texts
        self.steps: dict[str, Step] = {}
        self.passages: dict[str, Passage] = {}
        self.triples: dict[str, Triple] = {}
        self.spans: dict[tuple[str, str], tuple[int, int]] = {}
        self.stories: list[Story] = []

    def ask(self) -> Story:
        story = self.branch(None)
        story.step("question", next=["start"])
        story.step(node="start", next=["plan"])
        return story

    def branch(self, before: Story | None) -> Story:
        self.stories.append(Story(self, len(self.stories) + 1, before))
        return self.stories[-1]

    def passage(self, title: str) -> str:
        id = "p" + passage_id(title, self.texts[title])
        self.passages[id] = Passage(id=id, title=title, text=self.texts[title])
        return id

    def fact(self, fact: Fact, passage: str | None = None) -> str:
        id = triple_id(*fact)
        known = self.triples.get(id)
        passages = list(known["passages"]) if known else []
        if passage and passage not in passages:
            passages.append(passage)
        subject, predicate, object = fact
        self.triples[id] = Triple(
            subject=subject, predicate=predicate, object=object, passages=passages
        )
        return id

    def document(self) -> RunDocument:
        kg = QueryKG.from_triples(self.triples)
        return RunDocument(
            format=FORMAT,
            run=self.run,
            system=info_of("ras"),
            question=self.question,
            started="2026-11-21T07:00:00Z",
            current=len(self.stories),
            branches=[story.written() for story in self.stories],
            steps=self.steps,
            passages=self.passages,
            triples=self.triples,
            edges=kg.edges,
            entities=kg.entities,
            evidence={
                id: {
                    passage: self.spans.get((id, passage))
                    or sentence(self.passages[passage]["text"], triple["object"])
                    for passage in triple["passages"]
                    if (id, passage) in self.spans
                    or triple["object"] in self.passages[passage]["text"]
                }
                for id, triple in self.triples.items()
            },
        )


def usage(role: Any, tokens: int) -> Usage:
    calls = int(tokens > 0)
    return Usage(
        role=role, calls=calls, input_tokens=tokens, output_tokens=tokens // 10, seconds=0.25
    )


def sentence(text: str, name: str) -> tuple[int, int]:
    """The last sentence that has a name in it."""
    begin = text.rindex(".", 0, text.rindex(name)) + 2 if "." in text[: text.rindex(name)] else 0
    end = text.find(".", text.rindex(name))
    return begin, len(text) if end < 0 else end + 1


def first_answer(writer: Writer) -> Story:
    """Two hops to Narvik."""
    return (
        writer.ask()
        .plan("[SUBQ] x", subquery=QUESTION)
        .hop(QUESTION, {"Aurora Bridge": [DESIGNER, ("Aurora Bridge", "year", "1961")]})
        .plan(f"[SUBQ] {SUBQUERY}", subquery=SUBQUERY)
        .hop(SUBQUERY, {"Mira Lund": [BORN, ("Mira Lund", "occupation", "engineer")]})
        .plan("[SUFFICIENT]", label="SUFFICIENT")
        .answer("Narvik")
    )
