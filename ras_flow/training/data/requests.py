"""A record as what the parts take at inference: request, graph and target text."""

from __future__ import annotations

from ras_flow.formats.plan import format_plan
from ras_flow.parts.records import AnswerRequest, ChainLink, PlanRequest
from ras_flow.settings.tasks import TASKS
from ras_flow.state.kg import to_new_triples
from ras_flow.state.schema import Extracted, Hop, Triple, make_passage
from ras_flow.training.data.records import Record

_LIMITS = {task.instruction: task.max_answer_tokens for task in TASKS.values()}


def as_request(record: Record) -> PlanRequest | AnswerRequest:
    """Return what planner or answerer are asked; its graph is still to be added."""
    chain = [
        ChainLink(
            link["subquery"],
            [Triple(subject=s, predicate=p, object=o, passages=[]) for s, p, o in link["triples"]],
            [make_passage(title, text) for title, text in link.get("passages", ())],
        )
        for link in record["chain"]
    ]
    instruction = record.get("instruction", "")
    if record["task"] == "plan":
        return PlanRequest(record["question"], chain, instruction=instruction)
    limit = _LIMITS.get(instruction, AnswerRequest.max_new_tokens)
    return AnswerRequest(record["question"], chain, instruction=instruction, max_new_tokens=limit)


def as_graph(record: Record) -> tuple[dict[str, Triple], list[Hop]]:
    """Return G_Q and the hops as the state holds them, for ``attribute_graph``."""
    names = [f"hop-{index}" for index in range(len(record["chain"]))]
    found = [
        Extracted(passage=name, triples=link["triples"])
        for name, link in zip(names, record["chain"], strict=True)
    ]
    hops = [
        Hop(index=index, subquery=link["subquery"], passages=[names[index]], scores=[])
        for index, link in enumerate(record["chain"])
    ]
    return to_new_triples(found), hops


def target_text(record: Record) -> str:
    """Return what the model should write: a plan in its format, or the answer."""
    target = record["target"]
    if "answer" in target:
        return target["answer"]
    return format_plan(target["label"], target.get("subquery", ""))
