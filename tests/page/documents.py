"""Run documents for the page's tests: a realistic one, a big one, and a hostile one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from ras_flow.formats.normalize import normalize_name
from ras_flow.runs.document import Branch, ForkPoint, RunDocument, Step
from ras_flow.runs.systems import info_of
from ras_flow.state.evidence import Reader
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Hop, Passage, Plan, Triple, Usage, passage_id
from tests.page import corpus

QUESTION = "On which river lies the birthplace of the designer of the Aurora Bridge?"
WRONG = ("Mira Lund", "born in", "Vargnes")
"""The triple of the wrong Mira Lund; it leads branch 1 to the wrong river."""

_REVIEWS = {
    "before_retrieval": "review_plan",
    "after_merge": "review_graph",
    "before_answer": "review_answer",
}
_START = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


class Story:
    """Writes a run document step by step, as a run would."""

    def __init__(self, run: str, question: str) -> None:
        self.document = RunDocument(
            format=1,
            run=run,
            system=info_of("ras"),
            question=question,
            started=_START.isoformat(),
            current=1,
            branches=[],
            steps={},
            passages={},
            triples={},
            edges={},
            entities={},
            evidence={},
        )
        self.begin(None)
        self._step("question", "", None, next=["start"])
        self._step("node", "start", None, next=["plan"])

    def begin(self, forked_from: ForkPoint | None, **settings: Any) -> None:
        """Begin a branch, with the steps, hops and plans up to where it leaves another."""
        branches = self.document["branches"]
        old = branches[forked_from["branch"] - 1] if forked_from else None
        steps = old["steps"][: forked_from["step"] + 1] if old and forked_from else []
        taken = [self.document["steps"][id] for id in steps]
        retrieved = sum(step["node"] == "retrieve" for step in taken)
        self.branch = Branch(
            number=len(branches) + 1,
            forked_from=forked_from,
            question=self.document["question"],
            steps=list(steps),
            status="unfinished",
            stop_reason=None,
            answer="",
            citations=[],
            supported=False,
            support="",
            hops=deepcopy(old["hops"][:retrieved]) if old else [],
            plans=[plan for step in taken if (plan := step["plan"])],
            hop_triples=[],
            stated_in={},
            warnings=list(old["warnings"]) if old else [],
            settings=settings,
        )
        branches.append(self.branch)
        self.document["current"] = self.branch["number"]

    def plan(self, label: str | None, subquery: str = "", *, raw: str = "", problem: str = ""):
        """The planner answers."""
        hop = len(self.branch["hops"])
        plan = Plan(
            index=len(self.branch["plans"]),
            hop=hop,
            label=cast(Any, label),
            subquery=subquery,
            raw=raw or f"[{label}] {subquery}".strip(),
        )
        if problem:
            plan["problem"] = problem
        self.branch["plans"].append(plan)
        following = {"SUBQ": "retrieve", None: "plan"}.get(label, "answer")
        self._step(
            "node", "plan", hop, plan=plan, usage=("planner", 1, 420 + 310 * hop, 19, 0.8),
            next=[following],
        )  # fmt: skip

    def hop(self, sentences: dict[str, list[corpus.Sentence]]) -> None:
        """Passages are retrieved for the planned subquery, turned into triples and merged."""
        document, index = self.document, len(self.branch["hops"])
        ids: list[str] = []
        found: dict[str, Triple] = {}
        for title, parts in sentences.items():
            text = " ".join(sentence for sentence, _ in parts)
            id = passage_id(title, text)
            ids.append(id)
            document["passages"][id] = Passage(id=id, title=title, text=text, source="north.jsonl")
            at = 0
            for sentence, triples in parts:
                for triple in triples:
                    key = self.add(*triple, passage=id, span=(at, at + len(sentence)))
                    found[key] = document["triples"][key]
                at += len(sentence) + 1
        scores = [round(0.94 - 0.067 * rank, 3) for rank in range(len(ids))]
        subquery = self.branch["plans"][-1]["subquery"]
        self.branch["hops"].append(Hop(index=index, subquery=subquery, passages=ids, scores=scores))
        new = [key for key in found if key not in self.graph()]
        self._step(
            "node", "retrieve", index, passages=ids, usage=("retriever", 1, 0, 0, 0.06),
            next=["to_triples"],
        )  # fmt: skip
        tokens = sum(len(document["passages"][id]["text"]) // 4 for id in ids)
        self._step(
            "node", "to_triples", index, usage=("extractor", len(ids), tokens + 900, tokens, 2.3),
            next=["merge_graph"],
        )  # fmt: skip
        self._step("node", "merge_graph", index, added=new, next=["plan"])

    def edit(self, *, removed: Sequence[str] = (), added: Sequence[str] = ()) -> None:
        """A person edits the graph."""
        hop = len(self.branch["hops"]) - 1
        self._step("edit", "", hop, removed=removed, added=added, next=["plan"])

    def answer(self, answer: str, cited: Iterable[str], *, stop_reason: str = "sufficient") -> None:
        """The branch is over."""
        self._step("node", "answer", None, usage=("answerer", 1, 1310, 9, 0.7))
        graph = self.graph()
        reader = Reader(self.document["passages"])
        self.branch.update(
            status="finished",
            stop_reason=cast(Any, stop_reason),
            answer=answer,
            citations=[reader.cite(id, self.document["triples"][id]) for id in cited],
            supported=True,
            support="Facts that were found lead from the question to it.",
            hop_triples=[
                [
                    id
                    for id in graph
                    if set(self.document["triples"][id]["passages"]) & set(hop["passages"])
                ]
                for hop in self.branch["hops"]
            ],
        )

    def pause(self, point: str, allowed: Sequence[str]) -> None:
        """The run waits for a person after its last step."""
        last = self.document["steps"][self.branch["steps"][-1]]
        last["next"] = [_REVIEWS[point]]
        last["review"] = {
            "type": "review",
            "point": point,
            "hop": len(self.branch["hops"]),
            "question": self.document["question"],
            "subquery": self.branch["plans"][-1]["subquery"],
            "triples": {id: self.document["triples"][id] for id in self.graph()},
            "passages": [id for hop in self.branch["hops"] for id in hop["passages"]],
            "allowed": list(allowed),
        }
        self.branch["status"] = "paused"

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        passage: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> str:
        """Note a triple and, if one states it, where."""
        document, id = self.document, triple_id(subject, predicate, object)
        nodes = (normalize_name(subject), normalize_name(object))
        document["edges"][id] = nodes
        for name, spelling in zip(nodes, (subject, object), strict=True):
            document["entities"].setdefault(name, spelling)
        triple = document["triples"].setdefault(
            id, Triple(subject=subject, predicate=predicate, object=object, passages=[])
        )
        if passage and passage not in triple["passages"]:
            triple["passages"].append(passage)
        if passage and span:
            document["evidence"].setdefault(id, {})[passage] = span
        return id

    def graph(self) -> list[str]:
        """Return the ids of the branch's triples so far."""
        present: dict[str, None] = {}
        for id in self.branch["steps"]:
            step = self.document["steps"][id]
            present = {key: None for key in present if key not in step["removed"]}
            present |= dict.fromkeys(step["added"])
        return list(present)

    def _step(
        self,
        kind: str,
        node: str,
        hop: int | None,
        *,
        plan: Plan | None = None,
        passages: Sequence[str] = (),
        added: Sequence[str] = (),
        removed: Sequence[str] = (),
        usage: tuple[str, int, int, int, float] | None = None,
        next: Sequence[str] = (),
    ) -> None:
        number = len(self.document["steps"])
        id = f"1ef0c0de-{number:04d}-6000-8000-5eed5eed5eed"
        steps = self.branch["steps"]
        self.document["steps"][id] = Step(
            checkpoint=id,
            parent=steps[-1] if steps else None,
            kind=cast(Any, kind),
            node=node,
            hop=hop,
            time=(_START + timedelta(seconds=1.7 * number)).isoformat(),
            usage=Usage(**dict(zip(Usage.__annotations__, usage, strict=True))) if usage else None,  # type: ignore[typeddict-item]
            next=list(next),
            plan=plan,
            passages=list(passages),
            added=list(added),
            removed=list(removed),
            review=None,
        )
        steps.append(id)


def triples_named(*triples: tuple[str, str, str]) -> list[str]:
    """Return the ids of triples."""
    return [triple_id(*triple) for triple in triples]


def bridge(run: str = "a71c0ffee001") -> Story:
    """Return the first branch: three hops to the wrong river."""
    story = Story(run, QUESTION)
    story.plan("SUBQ", "Who designed the Aurora Bridge?")
    story.hop(corpus.BRIDGES)
    story.plan(
        None,
        raw="The designer was Mira Lund. I would ask next:\nwhere was she born?",
        problem="The answer begins with none of [SUBQ], [SUFFICIENT] and [NO_RETRIEVAL].",
    )
    story.plan("SUBQ", "Where was Mira Lund born?")
    story.hop(corpus.BIRTHPLACES)
    story.plan("SUBQ", "On which river does Vargnes lie?")
    story.hop(corpus.WRONG_RIVER)
    story.branch["warnings"].append("1 triple of the passage 'Tverra' was dropped: no object.")
    story.plan("SUFFICIENT")
    story.answer(
        "The Tverra",
        triples_named(
            ("Aurora Bridge", "designed by", "Mira Lund"), WRONG, ("Vargnes", "lies on", "Tverra")
        ),
    )
    return story


def two_branches() -> RunDocument:
    """Return the run with its fork: without the wrong triple the answer is right."""
    story = bridge()
    steps = [story.document["steps"][id] for id in story.branch["steps"]]
    last = max(
        i for i, step in enumerate(steps) if step["node"] == "merge_graph" and step["hop"] == 1
    )
    story.begin(ForkPoint(branch=1, step=last), max_hops=4)
    story.edit(removed=triples_named(WRONG))
    story.plan("SUBQ", "On which river does Elvestad lie?")
    story.hop(corpus.RIGHT_RIVER)
    story.plan("SUFFICIENT")
    story.answer(
        "The Glåma",
        triples_named(
            ("Aurora Bridge", "designed by", "Mira Lund"),
            ("Mira Lund", "place of birth", "Elvestad"),
            ("Elvestad", "lies on", "Glåma"),
        ),
    )
    return story.document


def paused() -> RunDocument:
    """Return a run that waits for a person after its first hop."""
    story = Story("a71c0ffee002", QUESTION)
    story.plan("SUBQ", "Who designed the Aurora Bridge?")
    story.hop(corpus.BRIDGES)
    story.plan("SUBQ", "Where was Mira Lund born?")
    story.pause("before_retrieval", ["subquery", "plan", "model"])
    return story.document


def cut(document: RunDocument, steps: int) -> RunDocument:
    """Return the first branch of a run as it was when it had so many steps."""
    early = deepcopy(document)
    branch = early["branches"][0]
    branch["steps"] = branch["steps"][:steps]
    early["branches"], early["current"] = [branch], 1
    early["steps"] = {id: early["steps"][id] for id in branch["steps"]}
    kept = early["steps"].values()
    passages = {id for step in kept for id in step["passages"]}
    added = {id for step in kept for id in step["added"]}
    for known, table in ((passages, "passages"), (added, "triples"), (added, "edges")):
        early[table] = {id: each for id, each in early[table].items() if id in known}  # type: ignore[literal-required]
    hops = sum(step["node"] == "retrieve" for step in kept)
    branch.update(
        status="unfinished", stop_reason=None, answer="", citations=[], hops=branch["hops"][:hops],
        plans=[plan for step in kept if (plan := step["plan"])], hop_triples=[],
    )  # fmt: skip
    return early


def big(triples: int = 2_000, hops: int = 5) -> RunDocument:
    """Return a run with a big graph whose entities are joined as unevenly as real ones."""
    chance = random.Random(7)
    story = Story("b16b16b16b16", "How are the works of the region connected?")
    names = [f"Entity {number}" for number in range(int(triples * 0.65))]
    predicates = ["part of", "located in", "led by", "founded in", "works with", "supplies"]
    ends: list[str] = names[:3]
    for hop in range(hops):
        story.plan("SUBQ", f"What about part {hop} of the region?")
        texts: dict[str, list[corpus.Sentence]] = {}
        for number in range(triples // hops // 4):
            stated = []
            for _ in range(4):
                one = names[min(len(ends) // 2, len(names) - 1)]
                other = chance.choice(ends)
                ends += [one, other]
                stated.append((one, f"{chance.choice(predicates)} {len(ends) // 2}", other))
            sentence = "; ".join(" ".join(triple) for triple in stated) + "."
            texts[f"Report {hop}.{number}"] = [(sentence, stated)]
        story.hop(texts)
    story.plan("SUFFICIENT")
    story.answer("By Entity 0", story.graph()[:4])
    return story.document


HOSTILE = [
    "<script>window.hacked = 1; alert('script')</script>",
    "<img src=x onerror=\"window.hacked = 1; fetch('http://evil.example/img')\">",
    "</script><script>window.hacked = 1</script>",
    "--><svg onload=alert(1)>",
    '"><iframe srcdoc="<script>parent.hacked=1</script>">',
    "javascript:alert(1)",
    "{{constructor.constructor('window.hacked=1')()}}",
    "${window.hacked = 1}",
    "user\u202egnp.exe\u202c",
    "zero\u200b\u200bwidth\ufeff",
    "Z\u0351\u036b\u0343\u036aa\u0321\u034c\u0353l\u0334\u0340g\u0321\u031do" * 3,
    "nul\x00 bell\x07 escape\x1b[31mred",
    "شركة الجسور",
    "\U0001f469\u200d\U0001f4bb engineer",
    "line\u2028separator",
    "__proto__",
]


def hostile() -> RunDocument:
    """Return a run whose every text tries to break out of the page."""
    bad = HOSTILE
    story = Story("hostile", f"{bad[0]} {bad[8]}?")
    story.plan("SUBQ", bad[1], raw=f"[SUBQ] {bad[1]}\n{bad[2]}\n{bad[9]}")
    sentences: dict[str, list[corpus.Sentence]] = {}
    for number, text in enumerate(bad):
        other = bad[(number + 1) % len(bad)]
        stated = [(text, other, "hub"), ("hub", f"{number} {text}", text)]
        sentences[f"{number} {text}"] = [
            ("\U0001d54f before.", []),
            (f"{text} says {other}.", stated),
        ]
    long = "<b>long</b> " * 900
    sentences["Ten thousand characters"] = [
        (f"{long}.", [("hub", "states", long), (long, "x" * 10_000, "hub")])
    ]
    story.hop(sentences)
    story.branch["warnings"] += bad[:3]
    story.plan("SUFFICIENT", raw=bad[3])
    story.answer(f"{bad[1]} {bad[8]} {long}", story.graph()[:6])
    story.branch["settings"] = {"instruction": bad[2], "__proto__": bad[0]}
    return story.document
