"""Runs of the two-hop question, told step by step."""

from __future__ import annotations

from typing import Any

import pytest

from ras_flow import Context, Runs
from ras_flow.edits.records import Edit
from ras_flow.errors import ModelUnavailableError
from ras_flow.runs.document import Branch, RunDocument, Step
from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION, build, world

BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
TOP1 = Context(top_k=1)


def drop(triple: str = BIRTH) -> list[Edit]:
    return [{"op": "drop_triple", "triple": triple}]


async def events(stream: Any) -> list[Any]:
    return [event async for event in stream]


def runs_with(saver: Any, plans: list[str] | None = None, **changes: Any) -> Runs:
    return Runs(build(world(plans, **changes), checkpointer=saver))


def down(_: Any) -> Any:
    """Fail in a model's place."""
    raise ModelUnavailableError("down")


async def cut_off(stream: Any) -> None:
    """Run until the model that is down."""
    with pytest.raises(ModelUnavailableError):
        await events(stream)


async def asked(saver: Any, context: Context = TOP1, **given: Any) -> Runs:
    """Ask as run "a", then hand over runs whose planner finds that everything suffices."""
    first = runs_with(saver)
    asks: Any = {"question": QUESTION, **given}
    await events(first.start(asks, context, run_id="a"))
    return runs_with(saver, [])


def steps(document: RunDocument, number: int = 1) -> list[Step]:
    return [document["steps"][id] for id in branch(document, number)["steps"]]


def branch(document: RunDocument, number: int) -> Branch:
    return document["branches"][number - 1]


def told(document: RunDocument, number: int = 1) -> list[str]:
    """Name the steps of a branch: ``plan:1``, ``edit``, …."""
    names = []
    for step in steps(document, number):
        name = step["node"] or step["kind"]
        names.append(name if step["hop"] is None else f"{name}:{step['hop']}")
    return names


def before(document: RunDocument, node: str, number: int = 1) -> str:
    """Return the last checkpoint of a branch that the node comes after."""
    found = [step["checkpoint"] for step in steps(document, number) if step["next"] == [node]]
    return found[-1]


WHOLE = [
    *("question", "start", "plan:0", "retrieve:0", "to_triples:0", "merge_graph:0"),
    *("plan:1", "retrieve:1", "to_triples:1", "merge_graph:1", "plan:2", "answer"),
]
