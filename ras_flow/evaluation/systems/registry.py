"""The systems by name, and what each of them needs; their graphs are loaded when one is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.parts.protocols import LanguageModel
from ras_flow.settings.context import NO_EXTRACTOR

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from ras_flow.evaluation.systems.loop import Graph
    from ras_flow.evaluation.systems.ras import Variant
    from ras_flow.parts.chosen import Parts


@dataclass(frozen=True, kw_only=True)
class Ingredients:
    """What graphs are built of.

    Attributes:
        parts: Retriever and settings; where it is no baseline planner, extractor and answerer too.
        reader: The baselines' model; None for a system that is no baseline.
        options: The system's own options.
        seed: What chance depends on.
    """

    parts: Parts
    reader: LanguageModel | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class System:
    """A system.

    Attributes:
        kind: Its name in settings, and in what is kept of its answers.
        about: What it does, in a few words.
        build: Makes its graph, to be compiled: it takes a ``question`` and gives an ``answer``. It
            is called within the event loop and cannot await: its nodes get what
            :class:`ras_flow.parts.chosen.Parts` has by ``await``, such as a model by its name.
        baseline: Whether it works with the model ``reader`` and passages, not with RAS's parts.
        searches: Whether it looks for passages in what the benchmark names; without, no index is
            opened, and it is given no documents. What it may look at instead, as a graph of its
            own, is its ``build``'s to open.
        plans: Whether it decides by itself what to search for, and when to stop.
        draws: Whether chance decides what it does.
        budget: Values of :class:`ras_flow.Context` that suit it; settings may say otherwise.
        fixed: Values without which it would be another system.
        options: Its own options, with their defaults: numbers, or texts such as a folder's name.
    """

    kind: str
    about: str
    build: Callable[[Ingredients], StateGraph[Any, Any, Any, Any]]
    baseline: bool = False
    searches: bool = True
    plans: bool = True
    draws: bool = False
    budget: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, float | int | str] = field(default_factory=dict)


def find_system(kind: str) -> System:
    """Look a system up."""
    module, colon, name = kind.partition(":")
    if not colon and kind in SYSTEMS:
        return SYSTEMS[kind]
    if not colon:
        raise ConfigurationError(
            f"There is no system {kind!r}. There are: {', '.join(SYSTEMS)}; write module:name for "
            "one of your own."
        )
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"The system {kind!r} cannot be imported ({error}): name a module that Python finds "
            "(installed, or in a folder of PYTHONPATH), a colon, and its System."
        ) from error
    if not isinstance(found, System):
        raise ConfigurationError(
            f"{kind!r} is a {type(found).__name__}: name a System of ras_flow.evaluation.systems."
        )
    return found


def _baseline(kind: str, about: str, **more: Any) -> System:
    def build(given: Ingredients) -> Graph:
        from ras_flow.evaluation.systems import baselines  # noqa: PLC0415

        return baselines.build(kind, given)

    return System(kind=kind, about=about, build=build, baseline=True, **more)


def _ras(given: Ingredients, variant: Variant = "whole") -> Graph:
    from ras_flow.evaluation.systems import ras  # noqa: PLC0415

    return ras.build(given.parts, variant=variant, seed=given.seed, **given.options)


_ALL = (
    _baseline("direct", "the model alone, without a search", plans=False, searches=False),
    _baseline(
        "single",
        "one search for the question, then the answer from its passages",
        plans=False,
    ),
    _baseline(
        "sure",
        "one search; candidates, the case for each, and a choice",
        plans=False,
    ),
    _baseline("react", "thoughts and searches in turn", budget={"max_hops": 7}),
    _baseline(
        "self_ask",
        "follow-up questions, each with an answer of its own",
        budget={"max_hops": 6},
    ),
    _baseline(
        "ircot",
        "reasoning, each sentence of which is the next search",
        budget={"max_hops": 8},
    ),
    System(kind="ras", about="retrieval-and-structuring", build=_ras),
    System(
        kind="ras_no_retrieval",
        plans=False,
        about="RAS's answerer alone",
        build=_ras,
        searches=False,
        fixed={"max_hops": 0, "planning": "iterative"},
    ),
    System(
        kind="ras_no_graph",
        about="RAS without graph encoding: the graph as text only",
        build=partial(_ras, variant="no_graph"),
    ),
    System(
        kind="ras_no_planning",
        plans=False,
        about="RAS without planning: one search, triples, answer",
        build=partial(_ras, variant="no_planning"),
        fixed={"max_hops": 1},
    ),
    System(
        kind="ras_no_triples",
        about="RAS without text-to-triples: passages stay text",
        build=_ras,
        fixed={"extractor": NO_EXTRACTOR},
    ),
    System(
        kind="ras_share",
        about="RAS whose answerer sees a share of the triples",
        build=partial(_ras, variant="share"),
        draws=True,
        options={"share": 1.0, "shuffle": 1},
    ),
)

SYSTEMS: dict[str, System] = {system.kind: system for system in _ALL}
"""Baselines (§4.1), RAS, its inference ablations (table 2), and the sweep of figure 4."""
