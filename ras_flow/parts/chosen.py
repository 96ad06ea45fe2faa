"""Which part plays which role: the object given, else the one that the Context names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.graph_llm.attributes import attribute_graph, nearest_triples
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.llms.waiting import check_room
from ras_flow.parts import graphs, named
from ras_flow.parts.checks import reading_of
from ras_flow.parts.facts import BESIDE, KgRetriever
from ras_flow.parts.given import (
    LANGUAGE_MODEL,
    chat,
    hop_reader_part,
    own_part,
    part,
    retriever_part,
)
from ras_flow.parts.prompted import KeptText, PromptedAnswerer, PromptedPlanner, make_extractor
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    FactRetriever,
    HopReader,
    KnowledgeSource,
    LanguageModel,
    Planner,
    Retriever,
    TripleRetriever,
)
from ras_flow.parts.protocols import SentenceEncoder as Encoder
from ras_flow.parts.records import AttributedGraph, Reading
from ras_flow.parts.triple_search import open_triple_search
from ras_flow.settings.context import (
    DEFAULTS,
    NO_EXTRACTOR,
    Context,
    Loop,
    as_mapping,
    settings_given,
)
from ras_flow.settings.limits import check_names, check_server
from ras_flow.state.schema import Hop, Passage, Triple

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Where nodes get their parts: the objects given here, else those that the Context names.

    A given retriever replaces both ``index`` and ``retriever`` of the Context; a given encoder
    makes the graph's attributes alone. ``models`` are those of a system's own roles. ``defaults``
    hold where a run's caller names nothing.
    """

    planner: Planner | None = None
    retriever: Retriever | None = None
    extractor: Extractor | None = None
    answerer: Answerer | None = None
    encoder: Encoder | None = None
    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    hop_reader: HopReader | None = None
    triple_retriever: TripleRetriever | None = None
    knowledge: KnowledgeSource | None = None
    fact_retriever: FactRetriever | None = None
    defaults: Context = DEFAULTS

    @classmethod
    def of(
        cls,
        *,
        planner: object = None,
        retriever: object = None,
        extractor: object = None,
        answerer: object = None,
        encoder: object = None,
        triple_retriever: object = None,
        knowledge: object = None,
        fact_retriever: object = None,
        defaults: Context | None = None,
        **models: object,
    ) -> Parts:
        """Take parts as they are, and wrap language models and LangChain's retrievers."""
        defaults = Context.of(defaults)
        if "planner" in defaults.bare_roles:
            planner, models = None, {"planner": planner, **models}
        if unknown := sorted(models.keys() - set(defaults.model_roles)):
            raise ConfigurationError(
                f"This system has no role {unknown[0]!r}: its roles are "
                f"{', '.join(defaults.model_roles)}."
            )
        # One for each object, whatever its roles: they share its slots.
        chats = {
            id(given): chat(given, defaults)
            for given in (planner, extractor, answerer, *models.values())
            if isinstance(given, BaseChatModel)
        }
        soft = ("identity", "takes_soft_tokens")
        extract = partial(
            make_extractor, output=defaults.extractor_output, together=defaults.loop != "paper"
        )
        return cls(
            planner=part(planner, ("plan", *soft), PromptedPlanner, chats),
            retriever=retriever_part(retriever),
            extractor=part(extractor, ("extract", "identity", "batch_size"), extract, chats),
            answerer=part(answerer, ("answer", *soft), PromptedAnswerer, chats),
            encoder=own_part(encoder, ("encode", "identity", "dimension")),
            knowledge=own_part(knowledge, ("link", "find", "subgraphs", "pages", "identity")),
            fact_retriever=own_part(fact_retriever, ("score", "identity")),
            models={
                role: model
                for role, given in models.items()
                if (model := part(given, LANGUAGE_MODEL, lambda model: model, chats))
            },
            hop_reader=hop_reader_part(planner, extractor, answerer, chats, defaults),
            triple_retriever=own_part(triple_retriever, ("find", "identity")),
            defaults=defaults,
        )

    def resolve(self, given: Mapping[str, Any], runtime: Runtime[Any]) -> Context:
        """Return the settings of a new run; a part given as an object holds over a model's name."""
        asked = {**as_mapping(given), **settings_given(runtime.context)}
        replaceable = {name: value for name, value in asked.items() if not self._has(name)}
        return self._allowed(self.defaults.override(replaceable), runtime)

    def context(self, state: Mapping[str, Any], runtime: Runtime[Any] | None = None) -> Context:
        """Return the settings that ``start`` stored with a run."""
        try:
            context = type(self.defaults).from_mapping(state["context"])
            for role in context.model_roles:
                if getattr(context, role) != getattr(self.defaults, role):
                    self._check_replaceable(role)
            return self._allowed(context, runtime)
        except ConfigurationError as error:
            # Of what an edit raises, LangGraph's server tells its clients only a ValueError.
            raise InputError(f"The run's settings cannot be used: {error}") from error

    def _has(self, role: str) -> bool:
        return role in self.models or (
            role in self.defaults.model_roles and getattr(self, role, None) is not None
        )

    def _check_replaceable(self, role: str) -> None:
        if self._has(role):
            raise ConfigurationError(
                f"This graph was built with an object as its {role}, which no name replaces: "
                "leave its model as it is, or build the graph without it."
            )

    def _allowed(self, context: Context, runtime: Runtime[Any] | None) -> Context:
        check_names(context, self.defaults)
        if context.base_url not in (None, self.defaults.base_url):
            check_server(context.base_url, deployed=runtime is not None and _is_deployed(runtime))
        return context

    def loop(self, context: Context) -> Loop:
        """Return the loop that is asked for, or one call where the model of every role can."""
        if context.model_roles != Context.model_roles:
            return "paper"  # One call a hop is RAS's own; systems with other roles have theirs.
        if context.loop is None and any((self.planner, self.extractor, self.answerer)):
            return "paper" if self.hop_reader is None else "one_call"
        return named.loop_of(context, knowledge=self.has_knowledge(context))

    async def get_hop_reader(self, context: Context) -> HopReader:
        """Return the model that reads a hop in one call."""
        if any((self.planner, self.extractor, self.answerer)):
            if self.hop_reader is None:
                raise ConfigurationError(
                    'loop="one_call" takes one model for planner, extractor and answerer: give '
                    'build_graph the same object for all three, or use loop="paper".'
                )
            return self.hop_reader
        return await asyncio.to_thread(named.hop_reader_of, context)

    async def get_planner(self, context: Context) -> Planner:
        """Return the planner."""
        return await _given_or_named(self.planner, named.planner_of, context)

    async def get_extractor(self, context: Context) -> Extractor:
        """Return the extractor."""
        return await _given_or_named(self.extractor, named.extractor_of, context)

    def keeps_text(self, context: Context) -> bool:
        """Tell whether passages stay text, to be read in place of triples."""
        if self.extractor is not None:
            return isinstance(self.extractor, KeptText)
        return context.extractor == NO_EXTRACTOR

    async def get_answerer(self, context: Context) -> Answerer:
        """Return the answerer."""
        return await _given_or_named(self.answerer, named.answerer_of, context)

    async def get_reading(self, context: Context) -> Reading:
        """Return how much the answerer reads best, without loading one that is only named."""
        if self.answerer is not None:
            return reading_of(self.answerer)
        return await asyncio.to_thread(named.reading_of_answerer, context)

    async def get_part(self, role: str, context: Context) -> Any:
        """Return what plays a role."""
        if role in context.bare_roles or role not in Context.model_roles:
            return await self.get_model(role, context)
        return await getattr(self, f"get_{role}")(context)

    async def get_model(self, role: str, context: Context) -> LanguageModel:
        """Return the language model of a system's own role."""
        if role in self.models:
            return self.models[role]
        return await self.load_model(context.model_name(role), context)

    async def load_model(self, name: str, context: Context) -> LanguageModel:
        """Return a language model by its name, whatever it is for."""
        return await asyncio.to_thread(named.model_of, name, context)

    async def check_model(self, role: str, name: str, context: Context) -> None:
        """Find out whether a model can take over a role."""
        self._check_replaceable(role)
        changed = context.override({role: name})
        check_names(changed, self.defaults)
        await self.get_part(role, changed)

    async def get_encoder(self, context: Context) -> Encoder:
        """Return the sentence encoder of the graph's attributes (eq. 5).

        It is the Context's, unless the Graph LLM that reads them was trained with another one.
        """
        if self.encoder is not None:
            return self.encoder
        models = [context.planner] if self.planner is None else []
        models += [context.answerer] if self.answerer is None else []
        return await asyncio.to_thread(named.attribute_encoder_of, context, models)

    async def check(self, context: Context, roles: Collection[str]) -> None:
        """Find out whether a run's models can be used, before any of them is asked."""
        check_room()
        if self.loop(context) == "one_call" and "extractor" in roles:
            await self.get_hop_reader(context)
        for role in roles:
            await self.get_part(role, context)
        extracts = "extractor" in roles and not self.keeps_text(context)
        if extracts and context.max_triples is not None:
            encoder = await self.get_encoder(context)
            if isinstance(encoder, LocalSentenceEncoder):
                await asyncio.to_thread(encoder.check)

    async def encodes(self, roles: Collection[str], context: Context) -> list[str]:
        """Return which of these roles have a model that takes soft tokens.

        With one call a hop, the model that reads hops plans too.
        """
        one_call = self.loop(context) == "one_call"
        return [
            role
            for role in (("answerer",) if one_call else ("planner", "answerer"))
            if role in roles and (await self.get_part(role, context)).takes_soft_tokens
        ]

    async def attribute(
        self, triples: Mapping[str, Triple], hops: Sequence[Hop], context: Context
    ) -> AttributedGraph:
        """Embed the question's graph (eq. 5)."""
        return await attribute_graph(triples, hops, await self.get_encoder(context))

    async def nearest(
        self, triples: Mapping[str, Triple], hops: Sequence[Hop], most: int, context: Context
    ) -> dict[str, Triple]:
        """Return the triples of each hop that are nearest to its subquery."""
        return await nearest_triples(triples, hops, await self.get_encoder(context), most)

    def has_documents(self, context: Context) -> bool:
        """Tell whether a run searches documents: it does unless it has a knowledge graph alone."""
        has_index = self.retriever is not None or context.index is not None
        return has_index or not self.has_knowledge(context)

    def has_knowledge(self, context: Context) -> bool:
        """Tell whether there is a knowledge graph to search."""
        return self.knowledge is not None or context.kg is not None

    async def get_knowledge(self, context: Context) -> KnowledgeSource:
        """Return the knowledge graph; the first call opens it."""
        return await _given_or_named(self.knowledge, graphs.knowledge_of, context)

    async def get_fact_retriever(self, context: Context) -> FactRetriever:
        """Return what scores the knowledge graph's facts."""
        return await _given_or_named(self.fact_retriever, graphs.fact_retriever_of, context)

    async def get_kg_retriever(self, context: Context, facts: int | None = None) -> KgRetriever:
        """Return what searches the knowledge graph; the first call opens it."""
        return KgRetriever(
            await self.get_knowledge(context),
            await self.get_fact_retriever(context),
            depth=context.kg_depth,
            facts=facts or context.kg_triples or BESIDE,
        )

    async def get_retriever(self, context: Context) -> Retriever:
        """Return the retriever of documents, or else of a graph; the first call opens them."""
        if self.retriever is not None:
            return self.retriever
        if not self.has_documents(context):
            return await self.get_kg_retriever(context)
        return await named.open_retriever_of(context)

    async def get_triple_retriever(
        self, context: Context, store: BaseStore | None, given: Sequence[Passage] | None = None
    ) -> TripleRetriever:
        """Return what finds passages by their triples: a stored index or a search."""
        if self.triple_retriever is not None and given is None:
            return self.triple_retriever
        return await open_triple_search(self, context, store, given)


async def _given_or_named(given: T | None, make: Callable[[Context], T], context: Context) -> T:
    """Return what was given, or what the settings name."""
    return await asyncio.to_thread(make, context) if given is None else given


def _is_deployed(runtime: Runtime[Any]) -> bool:
    """Tell whether a server runs the graph, for callers who are strangers."""
    # aegra 0.6 names who asks by a mapping, of which LangGraph makes no server_info.
    return runtime.server_info is not None or "langgraph_auth_user" in get_config()["configurable"]
