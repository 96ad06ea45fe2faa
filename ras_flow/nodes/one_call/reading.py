"""What the model of the one-call loop is shown, and what its reply comes to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ras_flow.formats.hop_reply import HopReply, parse_hop_reply
from ras_flow.nodes.warn import end_of, loss_of
from ras_flow.parts.checks import one_each
from ras_flow.parts.records import HopRequest, Reply, SearchSeen
from ras_flow.parts.source import PartsSource
from ras_flow.routing import fingerprint, times_searched
from ras_flow.settings.context import Context
from ras_flow.settings.tasks import TASKS
from ras_flow.state.channels import RasState
from ras_flow.state.kg import found_only_known, stated_in
from ras_flow.state.schema import Hop, Passage, Step, Triple
from ras_flow.state.usage import Cost

MOST_AGAIN = 5
"""Passages of earlier searches that the last call sees once more."""


class Read(NamedTuple):
    """A reply, what was read from it, and the numbers of the run's passages by id."""

    reply: HopReply
    numbers: Mapping[str, int]
    whole: bool
    warnings: list[str]

    def step(self, state: RasState, settings: Context, triples: Mapping[str, Triple]) -> Step:
        """Return the step that came with it, which holds for a graph of these triples."""
        by_number = {number: id for id, number in self.numbers.items()}
        step = Step(
            saw=fingerprint(triples, state["hops"], settings),
            label=self.reply.label,
            subquery="\n".join(self.reply.subqueries),
            answer=self.reply.text,
            cites=[by_number[number] for number in self.reply.numbers if number in by_number],
            raw=self.reply.raw,
            whole=self.whole,
        )
        if self.reply.problem:
            step["problem"] = self.reply.problem
        return step


async def read_hop(
    state: RasState,
    context: Context,
    parts: PartsSource,
    cost: Cost,
    *,
    new: Collection[str] = (),
    last: bool = False,
    problem: str | None = None,
) -> Read:
    """Show the model the run with these passages in full, and read its reply.

    The last call of a run sees the best passages of earlier searches in full too.
    """
    reader = await parts.get_hop_reader(context)
    task = TASKS[context.task or reader.task]
    numbers = number_passages(state["hops"])
    searches = _searches(state, context, numbers, new)
    shown = {number for search in searches for number in search.shown or ()}
    again = {number: passage for number, passage in _best(state, numbers) if number not in shown}
    request = HopRequest(
        question=state["question"],
        searches=searches,
        numbers=numbers,
        again=dict(list(again.items())[:MOST_AGAIN]) if last else {},
        last=last,
        guess=context.when_unknown == "guess",
        may_know=task.may_know,
        instruction=context.instruction or task.instruction,
        problem=problem,
        max_new_tokens=task.max_answer_tokens,
    )
    [reply] = await one_each(1, Reply, reader.read([request]), reader)
    cost.add(reply, reply.calls)
    parsed = parse_hop_reply(reply.text, lambda subquery: times_searched(state, subquery) > 0)
    if parsed.label == "NO_RETRIEVAL" and not (task.may_know and parsed.text):
        parsed = replace(parsed, label="NOT_FOUND")
    if not reader.cites:
        parsed = replace(parsed, numbers=())
    lost = loss_of("model", reply)
    if reply.truncated and parsed.label:
        lost += end_of("model", reply.text, reply)
    return Read(parsed, numbers, last or not again, lost)


def number_passages(hops: Sequence[Hop]) -> dict[str, int]:
    """Number a run's passages in the order in which they were found, from 1."""
    ids = dict.fromkeys(id for hop in hops for id in hop["passages"])
    return {id: number for number, id in enumerate(ids, start=1)}


def unread(state: RasState) -> list[str]:
    """Return the passages of the last hop of which nothing was noted yet."""
    noted = stated_in(state["triples"])
    return [id for id in state["hops"][-1]["passages"] if id not in noted]


def _searches(
    state: RasState, context: Context, numbers: Mapping[str, int], new: Collection[str]
) -> list[SearchSeen]:
    """Describe each hop: a fact belongs to the first that found a passage of it, else to the last.

    Earlier hops show what the setting ``reads`` says; passages that are new are shown in full.
    """
    passages, hops = state["passages"], state["hops"]
    first = {id: hop["index"] for hop in reversed(hops) for id in hop["passages"]}
    facts: dict[int, list[Triple]] = {}
    for triple in state["triples"].values():
        at = min((first[id] for id in triple["passages"] if id in first), default=len(hops) - 1)
        facts.setdefault(at, []).append(triple)
    noted = stated_in(state["triples"])
    searches = []
    for hop in hops:
        ids = [id for id in hop["passages"] if id in passages]
        own = [id for id in ids if first[id] == hop["index"]]
        is_last = hop["index"] == len(hops) - 1
        full = [id for id in ids if id in new] if is_last else []
        if context.reads != "facts":
            full = list(dict.fromkeys([*own, *full]))
        searches.append(
            SearchSeen(
                subquery=hop["subquery"],
                facts=[
                    triple
                    for triple in facts.get(hop["index"], [])
                    if context.reads != "passages" or not triple["passages"]
                ],
                shown={numbers[id]: passages[id] for id in full},
                unnoted=any(id not in noted and id not in full for id in own),
                known=found_only_known(hop),
            )
        )
    return searches


def _best(state: RasState, numbers: Mapping[str, int]) -> list[tuple[int, Passage]]:
    """Return a run's passages by number, the first of each search before the others."""
    ranked = sorted(
        (rank, numbers[id], id)
        for hop in state["hops"]
        for rank, id in enumerate(hop["passages"])
        if id in state["passages"]
    )
    return [(number, state["passages"][id]) for _, number, id in ranked]
