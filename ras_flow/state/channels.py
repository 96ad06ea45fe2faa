"""The graph's input, state and output: typed channels over the records of :mod:`.schema`."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict

from ras_flow.errors import InputError
from ras_flow.state.kg import merge_triples
from ras_flow.state.reducers import by_index, by_key, delta, last, latest, once, storable
from ras_flow.state.schema import (
    Citation,
    Document,
    Extracted,
    Hop,
    Passage,
    Plan,
    Step,
    Triple,
    Usage,
)


def _check_scores(hop: Hop) -> None:
    if len(hop["passages"]) != len(hop["scores"]):
        raise InputError(f"Hop {hop['index']} needs one of `scores` for each of its `passages`.")


class RasInput(TypedDict):
    """What a run is started with.

    ``documents`` are the given first context t0 (PopQA and TriviaQA in the paper), or all there
    is to answer from where the Context asks for static inference (ASQA, ELI5). ``settings`` are
    fields of :class:`ras_flow.Context`, for callers that pass no context; they hold for this
    question alone.
    """

    question: str
    settings: NotRequired[dict[str, Any]]
    documents: NotRequired[list[Document]]


class RunState(TypedDict):
    """What every system of the family keeps of a run, and what checkpoints hold.

    Not for a parent graph's state: these channels would merge what two questions on a thread found,
    where a plain channel for each key of :class:`RasOutput` keeps the last one's.

    ``settings`` and ``documents`` last for one step, so that a later question does not take them
    for its own: an edit before ``start`` has to give them again. ``context`` holds the settings
    that ``start`` resolved: fields of the run's Context that differ from the defaults.
    """

    question: Annotated[str, storable]
    settings: Annotated[dict[str, Any], EphemeralValue(dict)]
    documents: Annotated[list[Document], EphemeralValue(list)]
    context: Annotated[dict[str, Any], last(dict[str, Any])]
    hops: Annotated[list[Hop], delta(by_index(Hop, _check_scores), list)]
    passages: Annotated[dict[str, Passage], delta(by_key(Passage), dict)]
    extracted: Annotated[list[Extracted], delta(latest(Extracted), list)]
    triples: Annotated[dict[str, Triple], delta(merge_triples, dict)]
    usage: Annotated[dict[str, Usage], delta(by_key(Usage), dict)]
    warnings: Annotated[list[str], delta(once, list)]
    answer: Annotated[str, last(str)]
    citations: Annotated[list[Citation], last(list[Citation])]
    supported: Annotated[bool, last(bool)]
    support: Annotated[str, last(str)]
    stop_reason: Annotated[str | None, last(str | None)]


class RasState(RunState):
    """What RAS keeps of a run.

    ``encodes`` names the roles of this run whose models take soft tokens; None until the first
    merge finds out. ``step`` is what the model of the one-call loop said to do next.
    """

    plans: Annotated[list[Plan], delta(by_index(Plan), list)]
    encodes: Annotated[list[str] | None, last(list[str] | None)]
    step: Annotated[Step | None, last(Step | None)]


class RasOutput(TypedDict):
    """What a finished run returns.

    ``supported`` says whether the documents support the answer, ``support`` why or why not. Both
    are judged by the facts and sentences that were found, without a model.
    """

    answer: str
    citations: list[Citation]
    supported: bool
    support: str
    stop_reason: str
    hops: list[Hop]
    passages: dict[str, Passage]
    triples: dict[str, Triple]
    usage: dict[str, Usage]
    warnings: list[str]
