"""A world for the loop with one call a hop: its model, its replies, and what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ras_flow import Context, build_graph
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import step_name
from ras_flow.state.schema import Document
from ras_flow.testing import ListRetriever, ScriptedModel
from tests.graph.world import DOCUMENTS
from tests.runs.stories import steps

THREAD: Any = {"configurable": {"thread_id": "t"}}
TOP1 = Context(top_k=1)
SECOND = "Where was Mira Lund born?"
FIRST_REPLY = f"Aurora Bridge | designed by | Mira Lund [1]\n[SUBQ] {SECOND}"
LAST_REPLY = "Mira Lund | born in | Narvik [2]\n[ANSWER] Narvik [1, 2]"


def usual(text: str) -> str:
    return LAST_REPLY if f"Search: {SECOND}" in text else FIRST_REPLY


def compiled(
    reply: Callable[[str], str] = usual, documents: list[Document] | None = None, **more: Any
) -> tuple[Any, ScriptedModel, ListRetriever]:
    model = ScriptedModel(reply)
    retriever = ListRetriever(documents or DOCUMENTS)
    roles = dict.fromkeys(("planner", "extractor", "answerer"), model)
    return build_graph(**roles, retriever=retriever).compile(**more), model, retriever


def asked(model: ScriptedModel) -> list[str]:
    return [prompt[-1]["content"] for prompt in model.prompts]


def after(document: RunDocument, name: str) -> str:
    return next(step["checkpoint"] for step in steps(document) if step_name(step) == name)


def facts(result: Any) -> list[str]:
    return [f"{t['subject']} {t['predicate']} {t['object']}" for t in result["triples"].values()]
