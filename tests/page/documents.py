"""Run documents for the page's tests: a realistic one, a big one, and a hostile one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from copy import deepcopy

from ras_flow.runs.document import RunDocument
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Usage
from tests.page import corpus
from tests.runs.documents import Story, Writer

QUESTION = "On which river lies the birthplace of the designer of the Aurora Bridge?"
DESIGNER = ("Aurora Bridge", "designed by", "Mira Lund")
Sentences = list[corpus.Sentence]
WRONG = ("Mira Lund", "born in", "Vargnes")
"""The triple of the wrong Mira Lund; it leads branch 1 to the wrong river."""


class Told(Writer):
    """A run that is told by the sentences that it finds, at the costs of a real one."""

    source = "north.jsonl"

    def passage(self, title: str) -> str:
        id = super().passage(title)
        self.passages[id]["source"] = self.source
        return id

    def search(self, story: Story, subquery: str, found: Mapping[str, Sentences]) -> None:
        """Plan a subquery and find these sentences for it, with the triples that they state."""
        facts = {}
        for title, parts in found.items():
            self.texts[title] = " ".join(sentence for sentence, _ in parts)
            facts[title] = [fact for _, stated in parts for fact in stated]
            passage, at = self.passage(title), 0
            for sentence, stated in parts:
                for fact in stated:
                    self.spans[triple_id(*fact), passage] = (at, at + len(sentence))
                at += len(sentence) + 1
        story.plan(f"[SUBQ] {subquery}", subquery=subquery)
        story.hop(subquery, facts)

    def document(self) -> RunDocument:
        costs = {
            "planner": (1, 420, 19, 0.8),
            "retriever": (1, 0, 0, 0.06),
            "extractor": (7, 1100, 150, 2.3),
            "answerer": (1, 1310, 9, 0.7),
        }
        nodes = {"retrieve": "to_triples", "to_triples": "merge_graph", "merge_graph": "plan"}
        plans = {"SUBQ": "retrieve", "SUFFICIENT": "answer", "": "plan"}
        for step in self.steps.values():
            if step["plan"]:
                step["next"] = [plans[step["plan"]["label"] or ""]]
            elif step["node"] in nodes or step["kind"] == "edit":
                step["next"] = step["next"] or [nodes.get(step["node"], "plan")]
            if step["usage"] is not None:
                role = step["usage"]["role"]
                calls, read, written, seconds = costs[role]
                step["usage"] = Usage(
                    role=role,
                    calls=calls,
                    input_tokens=read + 310 * (step["hop"] or 0) * bool(read),
                    output_tokens=written,
                    seconds=seconds,
                )
        return super().document()


def triples_named(*triples: tuple[str, str, str]) -> list[str]:
    """Return the ids of triples."""
    return [triple_id(*triple) for triple in triples]


def first_facts(story: Story, most: int) -> list[tuple[str, str, str]]:
    """Return the first triples of a branch's graph."""
    facts = list(story.graph.values())[:most]
    return [(fact["subject"], fact["predicate"], fact["object"]) for fact in facts]


def bridge(run: str = "a71c0ffee001", *, mended: bool = False) -> Told:
    """Return a run with three hops to the wrong river; ``mended`` forks it to the right one."""
    told = Told(run, QUESTION, {})
    first = told.ask()
    told.search(first, "Who designed the Aurora Bridge?", corpus.BRIDGES)
    first.plan("The designer was Mira Lund. I would ask next:\nwhere was she born?", label=None)
    told.search(first, "Where was Mira Lund born?", corpus.BIRTHPLACES)
    second = first.fork() if mended else None
    told.search(first, "On which river does Vargnes lie?", corpus.WRONG_RIVER)
    first.warnings.append("1 triple of the passage 'Tverra' was dropped: no object.")
    first.plan("[SUFFICIENT]", label="SUFFICIENT")
    first.answer("The Tverra", cited=[DESIGNER, WRONG, ("Vargnes", "lies on", "Tverra")])
    if second:
        second.settings["max_hops"] = 4
        second.edit(drop=WRONG)
        told.search(second, "On which river does Elvestad lie?", corpus.RIGHT_RIVER)
        second.plan("[SUFFICIENT]", label="SUFFICIENT")
        born, lies = ("Mira Lund", "place of birth", "Elvestad"), ("Elvestad", "lies on", "Glåma")
        second.answer("The Glåma", cited=[DESIGNER, born, lies])
    return told


def two_branches() -> RunDocument:
    """Return the run with its fork: without the wrong triple the answer is right."""
    return bridge(mended=True).document()


def paused() -> RunDocument:
    """Return a run that waits for a person after its first hop."""
    told = Told("a71c0ffee002", QUESTION, {})
    story = told.ask()
    told.search(story, "Who designed the Aurora Bridge?", corpus.BRIDGES)
    subquery = "Where was Mira Lund born?"
    story.plan(f"[SUBQ] {subquery}", subquery=subquery)
    allowed = ["subquery", "plan", "model"]
    story.pause("review_plan", point="before_retrieval", subquery=subquery, allowed=allowed)
    return told.document()


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
    told = Told("b16b16b16b16", "How are the works of the region connected?", {})
    story = told.ask()
    names = [f"Entity {number}" for number in range(int(triples * 0.65))]
    predicates = ["part of", "located in", "led by", "founded in", "works with", "supplies"]
    ends: list[str] = names[:3]
    for hop in range(hops):
        texts: dict[str, Sentences] = {}
        for number in range(triples // hops // 4):
            stated = []
            for _ in range(4):
                one = names[min(len(ends) // 2, len(names) - 1)]
                other = chance.choice(ends)
                ends += [one, other]
                stated.append((one, f"{chance.choice(predicates)} {len(ends) // 2}", other))
            sentence = "; ".join(" ".join(triple) for triple in stated) + "."
            texts[f"Report {hop}.{number}"] = [(sentence, stated)]
        told.search(story, f"What about part {hop} of the region?", texts)
    story.plan("[SUFFICIENT]", label="SUFFICIENT").answer(
        "By Entity 0", cited=first_facts(story, 4)
    )
    return told.document()


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
    told = Told("hostile", f"{bad[0]} {bad[8]}?", {})
    told.source = "javascript:window.hacked=1//https://evil.example"
    story = told.ask()
    sentences: dict[str, Sentences] = {}
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
    told.search(story, f"{bad[1]}\n{bad[2]}\n{bad[9]}", sentences)
    story.warnings += bad[:3]
    story.plan(bad[3], label="SUFFICIENT")
    story.answer(f"{bad[1]} {bad[8]} {long}", cited=first_facts(story, 6))
    story.settings = {"instruction": bad[2], "__proto__": bad[0]}
    return told.document()
