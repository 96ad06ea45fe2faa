"""What an evaluation can ask: baselines, RAS and its ablations, and every registered system.

Graphs are loaded when one is built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ras_flow import systems as registered
from ras_flow.errors import ConfigurationError
from ras_flow.reg.settings import RegContext
from ras_flow.settings.context import NO_EXTRACTOR, Context
from ras_flow.t2rag.settings import T2Context

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from ras_flow.formats.triples import Spo
    from ras_flow.parts.chosen import Parts
    from ras_flow.parts.protocols import LanguageModel
    from ras_flow.state.stop_reasons import StopReason

    Graph = StateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, kw_only=True)
class Ingredients:
    """What a graph is built of.

    Attributes:
        parts: Retriever and settings; planner, extractor and answerer too, except for a baseline.
        reader: A baseline's model.
        options: The system's own options.
        seed: What chance depends on.
        gold: The gold facts by question, for ceilings.
    """

    parts: Parts
    reader: LanguageModel | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    gold: Mapping[str, Collection[Spo]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EvalSystem:
    """A system as an evaluation asks it.

    Attributes:
        kind: Its name in settings, and in what is kept of its answers.
        about: What it does, in a few words.
        build: Makes its graph, to be compiled: it takes a ``question`` and gives an ``answer``. It
            is called within the event loop and cannot await: its nodes get what
            :class:`ras_flow.parts.chosen.Parts` has by ``await``, such as a model by its name.
        base: The registered system whose stop reasons it has, and which goes on with its runs if
            its graph is that system's, over the same parts.
        context: The class of its settings.
        baseline: Whether it works with the model ``reader`` and passages, not with RAS's parts.
        searches: Whether it looks for passages in the benchmark's index or documents. If not, it
            gets neither; its ``build`` may open something else, such as a graph of its own.
        own_index: Whether it opens the index itself, as T²RAG does for propositions.
        graph: Whether it searches the benchmark's knowledge graph.
        plans: Whether it decides by itself what to search for, and when to stop.
        draws: Whether chance decides what it does.
        budget: Settings that suit it; an evaluation's own override them.
        fixed: Settings without which it would be another system.
        options: Its own options, with their defaults: whole numbers, numbers, or texts such as a
            folder's name. A value has to be of its default's kind.
    """

    kind: str
    about: str
    build: Callable[[Ingredients], Graph]
    base: str = registered.DEFAULT
    context: type[Context] = Context
    baseline: bool = False
    searches: bool = True
    own_index: bool = False
    graph: bool = False
    plans: bool = True
    draws: bool = False
    budget: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, float | int | str] = field(default_factory=dict)

    def meaning(self, stop_reason: str | None) -> StopReason:
        """Return what a stop reason means."""
        return registered.named_system(self.base).meaning(stop_reason)


def find_system(kind: str) -> EvalSystem:
    """Return the system that settings name: one of :data:`SYSTEMS`, or a registered one.

    ``module:attribute`` names an :class:`EvalSystem`, or a system of :mod:`ras_flow.systems`.
    """
    if kind in SYSTEMS:
        return SYSTEMS[kind]
    if ":" not in kind:
        try:
            return _of_registered(kind, registered.find_system(kind))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"Unknown system {kind!r}. Choose one of {', '.join(SYSTEMS)}, the name of a "
                f"registered system, or module:attribute for your own. ({error})"
            ) from error
    try:
        module, _, name = kind.partition(":")
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"The system {kind!r} cannot be imported ({error}): name a module that Python finds "
            "(installed, or in a folder of PYTHONPATH), a colon, and its EvalSystem or System."
        ) from error
    if isinstance(found, registered.System):
        return _of_registered(kind, found)
    if not isinstance(found, EvalSystem):
        raise ConfigurationError(
            f"{kind!r} is a {type(found).__name__}: name an EvalSystem of "
            "ras_flow.evaluation.systems, or a System of ras_flow.systems."
        )
    return found


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module, __package__), name)


def _of_registered(base: str, found: registered.System) -> EvalSystem:
    return EvalSystem(
        kind=found.name,
        about=found.about,
        build=lambda given: found.build(given.parts),
        base=base,
        context=found.context,
        plans="planner" in found.context.model_roles,
    )


def _whole(name: str) -> Callable[[Ingredients], Graph]:
    """Return what builds a registered system; some ablations of it are settings alone."""
    return lambda given: registered.find_system(name).build(given.parts)


def _changed(how: str) -> Callable[[Ingredients], Graph]:
    """Return what builds a system with another part, by its name in :mod:`.ablations`."""
    return lambda given: _load(f".ablations:{how}")(given)


def _baseline(kind: str, about: str, method: str, **more: Any) -> EvalSystem:
    return EvalSystem(
        kind=kind,
        about=about,
        build=lambda given: _load(".loop:build_loop")(_load(method)(given.reader), given.parts),
        baseline=True,
        **more,
    )


def _t2rag(kind: str, about: str, **more: Any) -> EvalSystem:
    own = {"build": _whole("t2rag"), "own_index": True}
    return EvalSystem(kind=kind, about=about, base="t2rag", context=T2Context, **{**own, **more})


def _reg(kind: str, about: str, **more: Any) -> EvalSystem:
    """Describe ReG, whose knowledge graph is all that it searches."""
    own = {"build": _whole("reg"), "searches": False, "graph": True, "plans": False}
    return EvalSystem(kind=kind, about=about, base="reg", context=RegContext, **{**own, **more})


_PAPER = {"loop": "paper"}
"""Whose parts an ablation takes away."""

_ALL = (
    _baseline(
        "direct",
        "the model alone, without a search",
        ".single:Direct",
        plans=False,
        searches=False,
    ),
    _baseline(
        "single",
        "one search for the question, then the answer from its passages",
        ".single:Single",
        plans=False,
    ),
    _baseline(
        "sure",
        "one search; candidates, the case for each, and a choice",
        ".sure:Sure",
        plans=False,
    ),
    _baseline("react", "thoughts and searches in turn", ".react:ReAct", budget={"max_hops": 7}),
    _baseline(
        "self_ask",
        "follow-up questions, each with an answer of its own",
        ".self_ask:SelfAsk",
        budget={"max_hops": 6},
    ),
    _baseline(
        "ircot",
        "reasoning, each sentence of which is the next search",
        ".ircot:IRCoT",
        budget={"max_hops": 8},
    ),
    EvalSystem(kind="ras", about="retrieval-and-structuring", build=_whole("ras")),
    EvalSystem(
        kind="ras_no_retrieval",
        about="RAS's answerer alone",
        build=_whole("ras"),
        plans=False,
        searches=False,
        fixed={**_PAPER, "max_hops": 0, "planning": "iterative"},
    ),
    EvalSystem(
        kind="ras_no_graph",
        about="RAS without graph encoding: the graph as text only",
        build=_changed("without_encoding"),
    ),
    EvalSystem(
        kind="ras_no_planning",
        about="RAS without planning: one search, triples, answer",
        build=_changed("without_planning"),
        plans=False,
        fixed={**_PAPER, "max_hops": 1},
    ),
    EvalSystem(
        kind="ras_no_triples",
        about="RAS without text-to-triples: passages stay text",
        build=_whole("ras"),
        fixed={**_PAPER, "extractor": NO_EXTRACTOR},
    ),
    EvalSystem(
        kind="ras_share",
        about="RAS whose answerer sees a share of the triples",
        build=_changed("with_share"),
        draws=True,
        options={"share": 1.0, "shuffle": 1},
    ),
    _t2rag("t2rag", "clues with slots, filled from the propositions that they find"),
    _t2rag("t2rag_one_round", "T²RAG with a single round", fixed={"max_hops": 1}),
    _t2rag(
        "t2rag_no_passages",
        "T²RAG that reads propositions alone",
        fixed={"read_passages": 0, "answer_passages": 0},
    ),
    _t2rag(
        "t2rag_chunks",
        "T²RAG that finds passages by their text",
        build=_changed("over_chunks"),
        own_index=False,
    ),
    _t2rag(
        "t2rag_paper",
        "T²RAG as algorithm 1 is printed",
        fixed={"unresolved": "drop", "claims": "trust"},
    ),
    EvalSystem(
        kind="ras_kg",
        about="RAS with the knowledge graph beside what it searches",
        build=_whole("ras"),
        graph=True,
    ),
    _reg("reg", "facts of a knowledge graph as evidence chains"),
    _reg("reg_list", "ReG whose facts stay a list", fixed={"history": "triples"}),
    _reg(
        "reg_similarity",
        "ReG with an untrained retriever",
        fixed={"kg_retriever": "similarity"},
    ),
    _reg("reg_gold", "ReG that finds the gold facts first: a ceiling", build=_changed("with_gold")),
)

SYSTEMS: dict[str, EvalSystem] = {system.kind: system for system in _ALL}
"""Baselines (§4.1), RAS, its inference ablations (table 2), and the sweep of figure 4."""
