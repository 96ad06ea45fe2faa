"""What differs between two ways to an answer: plans, hops, graph, settings, cost and answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile, zip_longest
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.runs.document import Branch, RunDocument, Status
from ras_flow.runs.reading import get_branch, graph_after, passages_of, spent
from ras_flow.state.kg import spo_of
from ras_flow.state.schema import Hop, Plan, Spent, name_of

Name = Literal["a", "b"]
What = Literal["question", "plan", "passages", "triples", "answer"]


class Side(TypedDict):
    """One of the two: its outcome and what it cost."""

    run: str
    branch: int
    question: str
    status: Status
    stop_reason: str | None
    answer: str
    supported: bool
    spent: Spent


class Difference(TypedDict):
    """Ids of passages or triples that one side has alone, and those that both have."""

    only_a: list[str]
    only_b: list[str]
    both: list[str]


class PlanPair(TypedDict):
    """The plans for a hop at the same attempt; None where a side made none."""

    hop: int
    attempt: int
    a: Plan | None
    b: Plan | None
    same: bool


class HopPair(TypedDict):
    """The hops of the same index; None where a side did not get so far."""

    index: int
    a: Hop | None
    b: Hop | None
    same_subquery: bool
    passages: Difference
    triples: Difference


class SettingPair(TypedDict):
    """A setting that differs; None stands for its default."""

    name: str
    a: Any
    b: Any


class SectionPair(TypedDict):
    """What of a system's own section only one side has."""

    title: str
    only_a: list[str]
    only_b: list[str]


class Parting(TypedDict):
    """Where the two ways part.

    Attributes:
        step: The last step that they share, as its position; None for two runs.
        checkpoint: That step's checkpoint.
        hop: The first hop that differs; None if none does.
        what: The first thing that differs; None if nothing does.
    """

    step: int | None
    checkpoint: str | None
    hop: int | None
    what: What | None


class Deciding(TypedDict):
    """A triple that one answer rests on and the other's graph does not have."""

    triple: str
    cited_by: Name


class Comparison(TypedDict):
    """Two branches, of one run or of two.

    Attributes:
        same_answer: The answers are alike but for spelling.
        deciding: The triples that made the difference; none where the answers are alike.
        sections: Where what their system adds differs.
        facts: Subject, predicate and object of every triple named here.
        titles: The title of every passage named here; of one without, its source, or else its id.
    """

    a: Side
    b: Side
    same_answer: bool
    parting: Parting
    plans: list[PlanPair]
    hops: list[HopPair]
    passages: Difference
    triples: Difference
    deciding: list[Deciding]
    settings: list[SettingPair]
    sections: list[SectionPair]
    facts: dict[str, tuple[str, str, str]]
    titles: dict[str, str]


def compare(a: RunDocument, a_branch: int, b: RunDocument, b_branch: int) -> Comparison:
    """Compare two branches."""
    one, two = get_branch(a, a_branch), get_branch(b, b_branch)
    graphs = graph_after(a, one), graph_after(b, two)
    same_answer = _alike(one["answer"], two["answer"], normalize_name)
    plans, hops = _plans(one, two), _hops(one, two)
    shared = _shared_steps(one, two) if a["run"] == b["run"] else []
    hop, what = _first_difference(plans, hops, same_answer=same_answer)
    if not _alike(one["question"], two["question"], normalize_question):
        hop, what = None, "question"
    return Comparison(
        a=_side(a, one),
        b=_side(b, two),
        same_answer=same_answer,
        parting=Parting(
            step=len(shared) - 1 if shared else None,
            checkpoint=shared[-1] if shared else None,
            hop=hop,
            what=what,
        ),
        plans=plans,
        hops=hops,
        passages=_difference(passages_of(one), passages_of(two)),
        triples=_difference(*graphs),
        deciding=[] if same_answer else _deciding(one, two, graphs),
        settings=_settings(one, two),
        sections=_sections(one, two),
        facts={
            id: spo_of(document["triples"][id])
            for document, ids in zip((a, b), graphs, strict=True)
            for id in ids
        },
        titles={
            id: name_of(document["passages"][id])
            for document, branch in ((a, one), (b, two))
            for id in passages_of(branch)
        },
    )


def _side(document: RunDocument, branch: Branch) -> Side:
    return Side(
        run=document["run"],
        branch=branch["number"],
        question=branch["question"],
        status=branch["status"],
        stop_reason=branch["stop_reason"],
        answer=branch["answer"],
        supported=branch["supported"],
        spent=spent(document, branch),
    )


def _difference(a: Iterable[str], b: Iterable[str]) -> Difference:
    one, two = dict.fromkeys(a), dict.fromkeys(b)
    return Difference(
        only_a=[id for id in one if id not in two],
        only_b=[id for id in two if id not in one],
        both=[id for id in one if id in two],
    )


def _alike(a: str, b: str, normalize: Callable[[str], str]) -> bool:
    return a == b or normalize(a) == normalize(b)


def _plans(a: Branch, b: Branch) -> list[PlanPair]:
    one, two = _by_attempt(a["plans"]), _by_attempt(b["plans"])
    return [
        PlanPair(
            hop=hop,
            attempt=attempt,
            a=one.get((hop, attempt)),
            b=two.get((hop, attempt)),
            same=_same_plan(one.get((hop, attempt)), two.get((hop, attempt))),
        )
        for hop, attempt in sorted(one.keys() | two.keys())
    ]


def _by_attempt(plans: Sequence[Plan]) -> dict[tuple[int, int], Plan]:
    numbered: dict[tuple[int, int], Plan] = {}
    for plan in plans:
        attempt = sum(hop == plan["hop"] for hop, _ in numbered)
        numbered[plan["hop"], attempt] = plan
    return numbered


def _same_plan(a: Plan | None, b: Plan | None) -> bool:
    if a is None or b is None:
        return a is b
    return a["label"] == b["label"] and (
        _alike(a["subquery"], b["subquery"], normalize_question)
        if a["label"] is not None
        else a["raw"] == b["raw"]
    )


def _hops(a: Branch, b: Branch) -> list[HopPair]:
    hops = zip_longest(a["hops"], b["hops"], a["hop_triples"], b["hop_triples"])
    return [
        HopPair(
            index=index,
            a=one,
            b=two,
            same_subquery=one is not None
            and two is not None
            and _alike(one["subquery"], two["subquery"], normalize_question),
            passages=_difference(one["passages"] if one else (), two["passages"] if two else ()),
            triples=_difference(*(ids or () for ids in found)),
        )
        for index, (one, two, *found) in enumerate(hops)
    ]


def _shared_steps(a: Branch, b: Branch) -> list[str]:
    pairs = zip(a["steps"], b["steps"], strict=False)
    return [step for step, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _first_difference(
    plans: Sequence[PlanPair], hops: Sequence[HopPair], *, same_answer: bool
) -> tuple[int | None, What | None]:
    """Return the first hop that differs, and what of it; without one, whether the answer does."""
    replanned = {pair["hop"] for pair in plans if not pair["same"]}
    for index, hop in enumerate(hops):
        if index in replanned or not hop["same_subquery"]:
            return index, "plan"
        if hop["passages"]["only_a"] or hop["passages"]["only_b"]:
            return index, "passages"
        if hop["triples"]["only_a"] or hop["triples"]["only_b"]:
            return index, "triples"
    if len(hops) in replanned:
        return len(hops), "plan"
    return None, None if same_answer else "answer"


def _deciding(a: Branch, b: Branch, graphs: tuple[list[str], list[str]]) -> list[Deciding]:
    sides = (("a", a, set(graphs[1])), ("b", b, set(graphs[0])))
    return [
        Deciding(triple=citation["triple"], cited_by=cast(Name, name))
        for name, branch, other in sides
        for citation in branch["citations"]
        if citation["triple"] and citation["triple"] not in other
    ]


def _sections(a: Branch, b: Branch) -> list[SectionPair]:
    one, two = ({each["title"]: each["lines"] for each in side["sections"]} for side in (a, b))
    pairs = []
    for title in dict.fromkeys([*one, *two]):
        found = _difference(one.get(title, ()), two.get(title, ()))
        if found["only_a"] or found["only_b"]:
            pairs.append(SectionPair(title=title, only_a=found["only_a"], only_b=found["only_b"]))
    return pairs


def _settings(a: Branch, b: Branch) -> list[SettingPair]:
    one, two = a["settings"], b["settings"]
    return [
        SettingPair(name=name, a=one.get(name), b=two.get(name))
        for name in sorted(one.keys() | two.keys())
        if one.get(name) != two.get(name)
    ]
