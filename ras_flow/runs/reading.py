"""Finding things in a run document: branches, steps, the graph after a step, what was spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ras_flow.errors import InputError, UnknownRunError
from ras_flow.runs.commands import command
from ras_flow.runs.document import Branch, RunDocument, Step
from ras_flow.state.kg import by_hop
from ras_flow.state.schema import Spent, Triple
from ras_flow.state.usage import add_up


def get_branch(document: RunDocument, number: int | None = None) -> Branch:
    """Return a branch."""
    wanted = document["current"] if number is None else number
    for branch in document["branches"]:
        if branch["number"] == wanted:
            return branch
    count = len(document["branches"])
    raise UnknownRunError(
        f"Run {document['run']} has no branch {wanted}: it has "
        + ("only branch 1." if count == 1 else f"branches 1 to {count}.")
    )


def branch_with(document: RunDocument, checkpoint: str) -> Branch:
    """Return the branch that a checkpoint is a step of."""
    for branch in document["branches"]:
        if checkpoint in branch["steps"]:
            return branch
    raise UnknownRunError(f"Run {document['run']} has no step {checkpoint!r}.")


def address_of(document: RunDocument, branch: Branch) -> str:
    """Return how a command names a branch: ``RUN/2``; the current one is ``RUN`` alone."""
    current = branch["number"] == document["current"]
    return document["run"] if current else f"{document['run']}/{branch['number']}"


def steps_of(document: RunDocument, branch: Branch) -> list[Step]:
    """Return the steps of a branch, from the question on."""
    return [document["steps"][checkpoint] for checkpoint in branch["steps"]]


def graph_after(document: RunDocument, branch: Branch, step: int | None = None) -> list[str]:
    """Return the graph as it was after a step."""
    graph: dict[str, None] = {}
    last = len(branch["steps"]) - 1 if step is None else step
    for done in steps_of(document, branch)[: last + 1]:
        for id in done["removed"]:
            graph.pop(id, None)
        graph.update(dict.fromkeys(done["added"]))
    return list(graph)


def graph_of(document: RunDocument, branch: Branch, step: int | None = None) -> dict[str, Triple]:
    """Return the triples of :func:`graph_after`, each with the passages that state it there."""
    found = passages_of(branch)
    if step is not None:
        found = [id for done in steps_of(document, branch)[: step + 1] for id in done["passages"]]
    passages = set(found)
    graph: dict[str, Triple] = {}
    for id in graph_after(document, branch, step):
        triple = document["triples"][id]
        # Of a triple that the branch has no more, only the passages of all branches are known.
        stated = branch["stated_in"].get(id, triple["passages"])
        known = [passage for passage in stated if passage in passages]
        graph[id] = {**triple, "passages": known}
    return graph


def passages_of(branch: Branch) -> list[str]:
    """Return the ids of the passages that a branch's hops have, each once."""
    return list(dict.fromkeys(id for hop in branch["hops"] for id in hop["passages"]))


def found_by_hop(branch: Branch, graph: Mapping[str, Triple]) -> list[set[str]]:
    """Return the ids of the triples that each hop found; a triple without passages is of no hop."""
    stated = {id: triple for id, triple in graph.items() if triple["passages"]}
    return [set(ids) for ids in by_hop(stated, branch["hops"])]


def spent(document: RunDocument, branch: Branch) -> Spent:
    """Add up what the steps of a branch cost, those shared with other branches included."""
    usages = (step["usage"] for step in steps_of(document, branch))
    return add_up(usage for usage in usages if usage is not None)


def step_name(step: Step) -> str:
    """Return what a step is called: its node and hop (``plan:1``), or its kind."""
    if step["kind"] != "node":
        return step["kind"]
    return step["node"] if step["hop"] is None else f"{step['node']}:{step['hop']}"


def by_hand(step: Step) -> bool:
    """Tell whether a step is what a person did: an edit, or the answer to a review."""
    return step["kind"] == "edit" or step["node"].startswith("review_")


def find_step(document: RunDocument, branch: Branch, where: str) -> int:
    """Find a step by its number or name; of several with the name, the last."""
    steps = steps_of(document, branch)
    names, wanted = [step_name(step) for step in steps], where.strip()
    found = [
        index
        for index, step in enumerate(steps)
        if wanted in (str(index), names[index], step["node"] or names[index])
    ]
    if found:
        return found[-1]
    raise InputError(
        f"Branch {branch['number']} of run {document['run']} has no step {where!r}: give a number "
        f"from 0 to {len(names) - 1}, or one of {', '.join(dict.fromkeys(names))}."
    )


def find_hop_step(document: RunDocument, branch: Branch, hop: int) -> int:
    """Return the position of the last step that worked on a hop's graph."""
    steps = steps_of(document, branch)
    merged = [
        index
        for index, step in enumerate(steps)
        if step["node"] == "merge_graph" and step["hop"] == hop
    ]
    if not merged:
        done = [step["hop"] for step in steps if step["node"] == "merge_graph"]
        raise InputError(
            f"Branch {branch['number']} of run {document['run']} has no graph of hop {hop}: "
            + (f"there is one for each of the hops 0 to {done[-1]}." if done else "it has none.")
        )
    last = merged[-1]
    for step in steps[last + 1 :]:
        if step["kind"] == "node" and step["hop"] != hop:
            break
        last += 1
    return last


def unique_id(what: str, prefix: str, ids: Iterable[str]) -> str:
    """Return the one id that begins with a prefix."""
    candidates = list(ids)
    if prefix in candidates:
        return prefix
    found = [id for id in candidates if prefix and id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"Several {what}s begin with {prefix!r} ({', '.join(found[:4])}): give more of the id."
        )
    raise InputError(f"The run has no {what} {prefix!r}; its ids are in: {command('show', 'RUN')}")
