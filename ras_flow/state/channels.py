"""The graph's input, state and output: typed channels over the records of :mod:`.schema`."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict

from ras_flow.state.kg import merge_triples
from ras_flow.state.named import NamedSettings
from ras_flow.state.reducers import (
    EXTRACTED,
    HOP,
    PASSAGE,
    PLAN,
    TRIPLE,
    USAGE,
    by_index,
    by_key,
    check_answer,
    check_citations,
    check_stop_reason,
    delta,
    last,
    latest,
    once,
    storable,
)
from ras_flow.state.schema import (
    Citation,
    Document,
    Extracted,
    Hop,
    Passage,
    Plan,
    StopReason,
    Triple,
    Usage,
)


class RasInput(TypedDict):
    """What a run is started with.

    ``documents`` are the given first context t0 (PopQA and TriviaQA in the paper), or all there
    is to answer from where the Context asks for static inference (ASQA, ELI5). ``settings`` are
    fields of :class:`ras_flow.Context`, for callers that pass no context: the graph's own defaults
    hold for those left out. A thread keeps them.
    """

    question: str
    settings: NotRequired[dict[str, Any]]
    documents: NotRequired[list[Document]]


class RasState(TypedDict):
    """What the nodes read and what checkpoints hold.

    Not for a parent graph's state: these channels would merge what two questions on a thread found,
    where a plain channel for each key of :class:`RasOutput` keeps the last one's.

    ``documents`` last for one step, so that they are not taken for those of a later question: an
    edit before ``start`` has to give them again.

    ``models`` are those that a person chose for a role in this run; they hold over any Context,
    which a caller may pass anew each time the run goes on.

    ``settings`` are those that the caller named, and ``defaults`` the graph's own of the time when
    the question was asked: a run goes on with them, and a next question has those of its time.
    """

    question: Annotated[str, storable]
    settings: Annotated[dict[str, Any], NamedSettings(dict)]
    defaults: dict[str, Any] | None
    models: dict[str, str]
    documents: Annotated[list[Document], EphemeralValue(list)]
    plans: Annotated[list[Plan], delta(by_index, list, PLAN)]
    hops: Annotated[list[Hop], delta(by_index, list, HOP)]
    passages: Annotated[dict[str, Passage], delta(by_key, dict, PASSAGE)]
    extracted: Annotated[list[Extracted], delta(latest, list, EXTRACTED)]
    triples: Annotated[dict[str, Triple], delta(merge_triples, dict, TRIPLE)]
    usage: Annotated[dict[str, Usage], delta(by_key, dict, USAGE)]
    warnings: Annotated[list[str], delta(once, list)]
    answer: Annotated[str, last(check_answer)]
    citations: Annotated[list[Citation], last(check_citations)]
    stop_reason: Annotated[StopReason, last(check_stop_reason)]


class RasOutput(TypedDict):
    """What a finished run returns."""

    answer: str
    citations: list[Citation]
    stop_reason: StopReason
    hops: list[Hop]
    passages: dict[str, Passage]
    triples: dict[str, Triple]
    usage: dict[str, Usage]
    warnings: list[str]
