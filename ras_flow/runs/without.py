"""The counterfactual: which cited triple, when taken away, changes the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from typing_extensions import TypedDict

from ras_flow.errors import RunError
from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name
from ras_flow.nodes.answer import ask
from ras_flow.nodes.view import passages_read
from ras_flow.parts.chosen import Parts
from ras_flow.parts.source import PartsSource
from ras_flow.runs.commands import command
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import address_of, get_branch, graph_of
from ras_flow.runs.systems import known_system
from ras_flow.state.channels import RasState
from ras_flow.state.support import MAX_CITATIONS
from ras_flow.systems import find_system


class Without(TypedDict):
    """The answer without one triple.

    Attributes:
        triple: The triple that was taken away; None for the first, asked with the whole graph:
            models do not always answer the same, so the others are held against this one.
        answer: What the answerer says now.
        changed: It differs by more than spelling: from the run's answer for the first, from the
            first for the others.
    """

    triple: str | None
    answer: str
    changed: bool


async def answers_without(
    document: RunDocument,
    branch: int | None = None,
    *,
    parts: Parts | None = None,
    limit: int = MAX_CITATIONS,
) -> AsyncIterator[Without]:
    """Ask the answerer again, each time without one of the triples that the answer cites.

    Nothing is stored: the run stays as it is.
    """
    way = get_branch(document, branch)
    if way["stop_reason"] is None:
        raise RunError(
            f"Branch {way['number']} of run {document['run']} has no answer yet: "
            f"go on with it first: {command('resume', address_of(document, way))}"
        )
    parts = parts or Parts(defaults=known_system(document["system"]["name"]).context())
    graph = graph_of(document, way)
    state = cast(
        RasState,
        {
            "question": way["question"],
            "context": way["settings"],
            "hops": way["hops"],
            "triples": graph,
            "passages": document["passages"],
            **way["own"],
        },
    )
    ask_again = find_system(document["system"]["name"]).asks or _answer
    expected = way["answer"]
    cited = [citation["triple"] for citation in way["citations"] if citation["triple"] in graph]
    for triple in (None, *cited[:limit]):
        kept = {id: fact for id, fact in graph.items() if id != triple}
        answer = await ask_again(cast(RasState, {**state, "triples": kept}), parts)
        changed = normalize_name(answer) != normalize_name(expected)
        yield Without(triple=triple, answer=answer, changed=changed)
        if triple is None:
            expected = answer


async def _answer(state: RasState, parts: PartsSource) -> str:
    context = parts.context(state)
    answerer = await parts.get_answerer(context)
    texts = passages_read(state, context, parts, answerer)
    reply = await ask(answerer, state, context, parts, texts)
    return clean_answer(reply.text)
