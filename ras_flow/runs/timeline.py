"""A run's document: what each of its checkpoints changed, and what its branches came to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ras_flow.edits.draft import BEGINNING
from ras_flow.errors import RunError
from ras_flow.formats.text import plain
from ras_flow.runs.branches import StoredBranch, find_branches
from ras_flow.runs.document import FORMAT, Branch, RunDocument, ShownSection, Status, Step
from ras_flow.runs.reading import passages_of
from ras_flow.runs.stored import stop_reason_of
from ras_flow.runs.systems import info_of, known_system
from ras_flow.runs.threads import Saved
from ras_flow.state.evidence import find_evidence
from ras_flow.state.kg import QueryKG, by_hop, merge_triples
from ras_flow.state.schema import Citation, Hop, Passage, Plan, Triple, Usage
from ras_flow.state.usage import add_up


class _Kept(TypedDict, total=False):
    """What a document reads of a checkpoint."""

    question: str
    context: dict[str, Any] | None
    plans: list[Plan]
    hops: list[Hop]
    passages: dict[str, Passage]
    triples: dict[str, Triple]
    usage: dict[str, Usage]
    warnings: list[str]
    answer: str
    citations: list[Citation]
    supported: bool
    support: str
    stop_reason: str | None


_SHAPE = TypeAdapter(_Kept)
_NOTHING = Saved("", "", None, None, "", None, -1, {}, ())


def build_document(run_id: str, history: Sequence[Saved]) -> RunDocument:
    """Put a run's checkpoints into one document.

    Of a thread that answered several questions it tells the one that its newest checkpoint
    belongs to.
    """
    ways = find_branches(history)
    for way in ways:
        check_values(run_id, way.steps[-1].values)
    steps: dict[str, Step] = {}
    seen: dict[str, Saved] = {}
    for way in ways:
        before = _NOTHING
        for saved in way.steps:
            if saved.checkpoint not in steps:
                steps[saved.checkpoint] = _step(saved, before)
                seen[saved.checkpoint] = saved
            before = saved
        if before.interrupts:
            steps[before.checkpoint]["review"] = as_json(before.interrupts[0])
    passages, triples = _gather([seen[checkpoint] for checkpoint in sorted(seen)])
    branches = [_branch(way) for way in ways]
    named = [id for branch in branches for id in passages_of(branch)]
    # A person who edits a checkpoint may name passages that nobody found.
    for id in named + [id for step in steps.values() for id in step["passages"]]:
        passages.setdefault(id, Passage(id=id, title="", text=""))
    kg = QueryKG.from_triples(triples)
    newest = history[-1].checkpoint
    current = next((way for way in ways if way.steps[-1].checkpoint == newest), ways[-1])
    return RunDocument(
        format=FORMAT,
        run=run_id,
        system=info_of(current.steps[-1].system),
        question=current.steps[-1].values.get("question", ""),
        started=_utc(ways[0].steps[0].time),
        current=current.number,
        branches=branches,
        steps=steps,
        passages=passages,
        triples=dict(triples),
        edges=kg.edges,
        entities=kg.entities,
        evidence=find_evidence(triples, passages),
    )


def check_values(run_id: str, values: Mapping[str, Any]) -> None:
    """Refuse a state that this version cannot read."""
    try:
        _SHAPE.validate_python(values)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise RunError(
            f"Run {run_id} was written by another version of ras_flow: its {where} cannot be "
            f"read ({fault['msg']}). Use the version that made it, or ask the question again."
        ) from None


def _gather(history: Sequence[Saved]) -> tuple[dict[str, Passage], dict[str, Triple]]:
    passages: dict[str, Passage] = {}
    triples: dict[str, Triple] = {}
    for saved in history:
        passages.update(saved.values.get("passages", {}))
        graph = saved.values.get("triples", {})
        new = {id: triple for id, triple in graph.items() if triples.get(id) != triple}
        triples = merge_triples(triples, new) if new else triples
    return passages, triples


def _step(saved: Saved, before: Saved) -> Step:
    old, new = before.values, saved.values
    kind = _kind(saved, before)
    node = _node(saved, before) if kind == "node" else ""
    old_graph, graph = old.get("triples", {}), new.get("triples", {})
    hops = new.get("hops", [])[len(old.get("hops", [])) :]
    plans = new.get("plans", [])
    return Step(
        checkpoint=saved.checkpoint,
        parent=before.checkpoint or None,
        kind=kind,
        node=node,
        hop=_hop(node, old, new),
        time=_utc(saved.time),
        usage=_usage(saved, before) if kind in ("question", "node") else None,
        next=list(saved.next),
        plan=plans[-1] if plans and plans != old.get("plans", []) else None,
        passages=list(dict.fromkeys(id for hop in hops for id in hop["passages"])),
        added=[id for id in graph if id not in old_graph],
        removed=[id for id in old_graph if id not in graph],
        sections=_new_sections(saved, before) if kind in ("node", "edit") else [],
        review=None,
    )


def _kind(saved: Saved, before: Saved) -> Literal["question", "node", "edit", "replay"]:
    if before is _NOTHING:
        return "question"
    return "edit" if saved.source == "update" else "replay" if saved.source == "fork" else "node"


def _node(saved: Saved, before: Saved) -> str:
    # A run that is kept only at its end did everything at once.
    at_once = saved.step > before.step + 1
    return "answer" if at_once and not saved.next else before.next[0]


def _usage(saved: Saved, before: Saved) -> Usage | None:
    """Add up what is new; several steps may be done at once."""
    usage: dict[str, Usage] = saved.values.get("usage", {})
    known = before.values.get("usage", {})
    new = [cost for name, cost in usage.items() if known.get(name) != cost]
    return Usage(role=new[-1]["role"], **add_up(new)) if new else None


def _hop(node: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> int | None:
    """Return the hop that a node worked on: the one that is planned, else the last."""
    if node in ("", *BEGINNING) or stop_reason_of(new):
        return None
    hops, plans = len(new.get("hops", [])), new.get("plans", [])
    planned = plans and (plans != old.get("plans", []) or plans[-1].get("label") == "SUBQ")
    return max(hops - 1, plans[-1].get("hop", 0) if planned else 0) if hops or planned else None


def _branch(way: StoredBranch) -> Branch:
    last = way.steps[-1]
    system = known_system(last.system)
    values = cast(_Kept, last.values)
    hops, triples = values.get("hops", []), values.get("triples", {})
    status: Status = "unfinished" if last.next else "finished"
    done = status == "finished"
    return Branch(
        number=way.number,
        forked_from=way.forked_from,
        question=values.get("question", ""),
        steps=[saved.checkpoint for saved in way.steps],
        status="paused" if last.interrupts else status,
        stop_reason=stop_reason_of(last.values) if done else None,
        answer=values.get("answer", "") if done else "",
        citations=values.get("citations", []) if done else [],
        supported=values.get("supported", False) if done else False,
        support=values.get("support", "") if done else "",
        hops=hops,
        plans=values.get("plans", []),
        hop_triples=by_hop(triples, hops),
        stated_in={id: triple["passages"] for id, triple in triples.items()},
        warnings=values.get("warnings", []),
        settings=as_json(values.get("context") or {}),
        open=list(system.open(last.values)),
        sections=_sections(last),
        own=as_json({name: last.values[name] for name in system.keeps if name in last.values}),
    )


def _sections(saved: Saved) -> list[ShownSection]:
    return [
        ShownSection(title=section.title, lines=list(map(plain, section.lines)))
        for section in known_system(saved.system).sections(saved.values)
    ]


def _new_sections(saved: Saved, before: Saved) -> list[ShownSection]:
    """Return what a step changed of what its system adds to what people are shown."""
    old = {one["title"]: one["lines"] for one in _sections(before)}
    found = []
    for one in _sections(saved):
        lines = [line for line in one["lines"] if line not in old.get(one["title"], ())]
        if lines:
            found.append(ShownSection(title=one["title"], lines=lines))
    return found


def as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what JSON can hold of an object that others may have filled with anything."""
    text = json.dumps(value, default=str, skipkeys=True)
    shown: dict[str, Any] = json.loads(text, parse_constant=str)
    return shown


def _utc(time: str) -> str:
    return f"{time[:19]}Z" if time else ""
