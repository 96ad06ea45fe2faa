"""Putting an evaluation together: every system's parts and graph on every benchmark."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, cast

from langgraph.graph import StateGraph

from ras_flow.builder import SystemBuilder
from ras_flow.evaluation.config import EvalConfig, SystemConfig
from ras_flow.evaluation.graphs import prepare_graph
from ras_flow.evaluation.kept import KeptCalls, KeptExtractor, KeptPlanner
from ras_flow.evaluation.loading import load_questions, prepare_index
from ras_flow.evaluation.question import Benchmark, Question
from ras_flow.evaluation.systems import Ingredients
from ras_flow.evaluation.systems.ablations import draw_share
from ras_flow.formats.triples import Spo
from ras_flow.nodes.view import passages_read, visible_triples
from ras_flow.parts.chosen import Parts
from ras_flow.parts.named import encoder_of
from ras_flow.parts.protocols import LanguageModel
from ras_flow.parts.records import ScoredPassage
from ras_flow.reg.nodes.reorganise import chains_of
from ras_flow.reg.settings import RegContext
from ras_flow.reg.state import RegState
from ras_flow.settings.context import NO_EXTRACTOR, Context
from ras_flow.state.channels import RasInput, RasState
from ras_flow.state.kg import spo_of
from ras_flow.state.schema import Passage, Triple
from ras_flow.systems import DEFAULT

_NO_MATTER = frozenset(
    {"index", "kg", "base_url", "model_timeout", "max_retries", "max_concurrency"}
)
"""Settings that say how parts are reached; what is reached is in their identities."""


class _NoRetriever:
    """Finds nothing, for a system that does not search: no index is opened for it."""

    identity = "none"

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        return [[] for _ in queries]


class Read(NamedTuple):
    """What an answerer read of a run's graph (None for all of it), and the passages beside it.

    ``chained`` are the facts in its evidence chains; None for systems without chains.
    """

    triples: Mapping[str, Triple] | None = None
    texts: Sequence[Passage] = ()
    chained: Sequence[Spo] | None = None


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A system on a benchmark: its settings there, its graph (to be compiled) and its parts.

    ``identities`` are the parts' models by role. ``graphs`` are the folders of questions' own
    graphs by id. Where ``linked``, it is not told a question's entities, and has to link them.
    """

    benchmark: Benchmark
    system: SystemConfig
    context: Context
    graph: StateGraph[Any, Any, Any, Any]
    parts: Parts
    identities: Mapping[str, str]
    seed: int
    graphs: Mapping[str, str] = field(default_factory=dict)
    linked: bool = False

    @property
    def made_by(self) -> str:
        """The name that its runs carry: of a registered system if that can continue them."""
        graph, system = self.graph, self.system.system
        if isinstance(graph, SystemBuilder) and graph.parts == self.parts and not system.baseline:
            return str(graph.system)
        return system.kind

    def given(self, question: Question) -> RasInput:
        """Return what a run of this question is started with."""
        given = RasInput(question=question.question, settings=self.context.changed())
        reads = self.benchmark.retrieval != "corpus" and self.system.system.searches
        if reads and question.documents:
            given["documents"] = list(question.documents)
        if self.system.system.graph:
            given["settings"] |= self._graph_settings(question)
        return given

    def _graph_settings(self, question: Question) -> dict[str, Any]:
        """Return the question's own graph, and the entities of it that it is about."""
        settings: dict[str, Any] = {}
        names = question.entities if "entities" in type(self.context).model_fields else ()
        if folder := self.graphs.get(question.id):
            settings["kg"] = folder
            known = {name for subject, _, object in question.graph for name in (subject, object)}
            names = tuple(name for name in names if name in known)
        if names and not self.linked:
            settings["entities"] = list(names)
        return settings

    def given_checksum(self, question: Question) -> str:
        """Return a checksum of the documents, if any, that this question's run is given."""
        documents = self.given(question).get("documents", [])
        return sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()[:12]

    def run_id(self, question: Question) -> str:
        """Return the id of this question's run: always the same."""
        key = "\0".join((self.benchmark.name, self.system.name, question.id))
        return sha256(key.encode()).hexdigest()[:12]

    def checksum(self, question: Question) -> str:
        """Return a checksum of all that this question's run depends on."""
        given = self.given(question)
        asked: list[Any] = [self.record(), given["question"], given.get("documents")]
        if self.system.system.graph:
            asked += [given["settings"].get("entities"), self.graphs and question.graph]
        return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]

    async def read(self, state: Mapping[str, Any]) -> Read:
        """Return what RAS's answerer read of a run's graph, or ReG's of its chains."""
        if isinstance(self.context, RegContext) and state.get("hops"):
            found = await chains_of(cast(RegState, state), self.context)
            chains = [chain for group in found.groups for chain in group.chains]
            triples = list(state["triples"].values())
            used = sorted(set[int]().union(*(chain.facts for chain in chains)))
            return Read(chained=[spo_of(triples[at]) for at in used])
        if not _is_ras(self.graph) or not state.get("hops"):
            return Read()
        answerer = await self.parts.get_answerer(self.context)
        seen = cast(RasState, state)
        texts = [
            passage
            for hop in passages_read(seen, self.context, self.parts, answerer)
            for passage in hop
        ]
        read = await visible_triples(seen, self.context, self.parts, answerer)
        if "share" not in self.system.options:
            return Read(read, texts)
        kept = draw_share(read, state["question"], seed=self.seed, **self.system.options)
        return Read({id: triple for id, triple in read.items() if id in kept}, texts)

    def record(self) -> dict[str, Any]:
        """Return all that its answers depend on, as JSON-like data."""
        settings = self.context.changed()
        return {
            "kind": self.system.system.kind,
            "options": dict(self.system.options),
            "parts": dict(self.identities),
            "retrieval": self.benchmark.retrieval,
            **({"seed": self.seed} if self.system.system.draws else {}),
            **{name: value for name, value in settings.items() if name not in _NO_MATTER},
        }


def labels_of(retriever: object) -> str:
    """Return who refined the labels that a retriever of facts learned from, by data set."""
    trained = getattr(getattr(retriever, "manifest", None), "trained", {})
    return ", ".join(
        f"{name}: {card['refiner']}" for name, card in trained.get("labels", {}).items()
    )


def _is_ras(graph: object) -> TypeGuard[SystemBuilder[RasState]]:
    return isinstance(graph, SystemBuilder) and graph.system == DEFAULT


async def assemble(
    config: EvalConfig,
    folder: Path,
    calls: KeptCalls,
    *,
    parts: Parts | None = None,
    reader: LanguageModel | None = None,
) -> list[Cell]:
    """Load questions and parts, and build every system's graph, before anything is paid for."""
    loaded = await asyncio.to_thread(load_questions, config)
    given = parts or Parts()
    cells = []
    indexes: dict[tuple[str, ...], str] = {}
    graphs: dict[str, str | Mapping[str, str]] = {}
    for settings, benchmark in loaded:
        for system in config.systems:
            kind = system.system
            asked: dict[str, Any] = {"task": benchmark.task, **settings.settings}
            if benchmark.retrieval == "given" and kind.searches:
                asked["planning"] = "static"
            context = system.context(asked)
            finds = kind.own_index and given.triple_retriever is not None
            searches = kind.searches and benchmark.retrieval != "given" and not finds
            if searches and given.retriever is None:
                key = (settings.name, context.retriever, context.encoder)
                if key not in indexes:
                    indexes[key] = await prepare_index(settings, benchmark, context, folder)
                context = context.override({"index": indexes[key]})
            own_graphs: Mapping[str, str] = {}
            if kind.graph and given.knowledge is None:
                if settings.name not in graphs:
                    encoder = partial(encoder_of, context)
                    graphs[settings.name] = await prepare_graph(
                        settings, benchmark, folder, encoder
                    )
                made = graphs[settings.name]
                if isinstance(made, str):
                    context = context.override({"kg": made})
                else:
                    own_graphs = made
            own = replace(given, defaults=context)
            if searches and not kind.own_index:
                own = replace(own, retriever=await own.get_retriever(context))
            cell = await _cell(benchmark, system, context, own, reader, calls, config.seed)
            cells.append(replace(cell, graphs=own_graphs, linked=settings.entities == "linked"))
    return cells


async def _cell(
    benchmark: Benchmark,
    system: SystemConfig,
    context: Context,
    parts: Parts,
    reader: LanguageModel | None,
    calls: KeptCalls,
    seed: int,
) -> Cell:
    kind, model = system.system, None
    if kind.baseline:
        model = reader or await parts.load_model(system.reader, context)
        identities = {"reader": model.identity}
    else:
        parts, identities = await _with_roles(parts, context, calls)
    if kind.graph:
        own = context.kg is None and parts.knowledge is None
        identities["kg"] = "own" if own else (await parts.get_knowledge(context)).identity
    if kind.own_index and (context.index or parts.triple_retriever):
        identities["retriever"] = (await parts.get_triple_retriever(context, None)).identity
    elif parts.retriever is None:
        parts = replace(parts, retriever=_NoRetriever())
    else:
        identities["retriever"] = parts.retriever.identity
    gold = {
        one.question: {fact for support in one.support for fact in support.facts}
        for one in benchmark.questions
    }
    ingredients = Ingredients(
        parts=parts, reader=model, options=system.options, seed=seed, gold=gold
    )
    graph = kind.build(ingredients)
    if kind.graph and isinstance(graph, SystemBuilder):
        scores = await graph.parts.get_fact_retriever(context)
        identities["kg_retriever"] = scores.identity
        if labels := labels_of(scores):
            identities["labels"] = labels
    return Cell(
        benchmark=benchmark,
        system=system,
        context=context,
        graph=graph,
        parts=parts,
        identities=identities,
        seed=seed,
    )


async def _with_roles(
    parts: Parts, context: Context, calls: KeptCalls
) -> tuple[Parts, dict[str, str]]:
    """Return parts whose plans and triples are kept, and the names of their models by role."""
    if parts.loop(context) == "one_call":
        reader, answerer = await parts.get_hop_reader(context), await parts.get_answerer(context)
        identities = {"reader": reader.identity}
        if answerer.takes_soft_tokens:
            identities["answerer"] = answerer.identity
            parts = replace(parts, hop_reader=reader, answerer=answerer)
        return parts, identities
    if context.extractor == NO_EXTRACTOR:
        parts = replace(parts, extractor=None)
    made = {role: await parts.get_part(role, context) for role in context.model_roles}
    identities = {role: part.identity for role, part in made.items()}
    if "planner" in made and "planner" not in context.bare_roles:
        made["planner"] = KeptPlanner(made["planner"], calls, window=context.model_window)
    if "extractor" in made and not parts.keeps_text(context):
        made["extractor"] = KeptExtractor(made["extractor"], calls)
    bare = [role for role in made if role in context.bare_roles or not hasattr(parts, role)]
    own = {role: made.pop(role) for role in bare}
    return replace(parts, **made, models=own), identities
