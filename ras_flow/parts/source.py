"""Where nodes get their parts: all that the graph knows of models, indexes and files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

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
from ras_flow.parts.records import AttributedGraph, Reading
from ras_flow.settings.context import Context, Loop
from ras_flow.state.schema import Hop, Passage, Triple

if TYPE_CHECKING:
    from ras_flow.parts.facts import KgRetriever


class PartsSource(Protocol):
    """Gives a run its settings, and the parts that these name.

    Every method that gives a part raises a ConfigurationError where the model's name, key or
    package is missing or wrong.
    """

    @property
    def defaults(self) -> Context:
        """The graph's own settings: what holds where a run's caller says nothing."""

    def resolve(self, given: Mapping[str, Any], runtime: Runtime[Any]) -> Context:
        """Return the settings of a new run: the graph's own, overridden by the caller's.

        Args:
            given: The input's ``settings``.
            runtime: LangGraph's runtime, whose context may name more.

        Raises:
            ConfigurationError: A name or value is wrong, or the deployment does not allow it.
        """

    def context(self, state: Any, runtime: Runtime[Any] | None = None) -> Context:
        """Return the settings that ``start`` stored with a run.

        Args:
            state: The run's state.
            runtime: LangGraph's runtime, where a model may be called by these settings.

        Raises:
            ConfigurationError: They were edited so that they cannot be used.
        """

    def loop(self, context: Context) -> Loop:
        """Return the loop that the settings ask for, or that the models of their roles suit."""

    async def get_hop_reader(self, context: Context) -> HopReader:
        """Return the model that reads a hop in one call."""

    async def get_planner(self, context: Context) -> Planner:
        """Return the planner."""

    async def get_retriever(self, context: Context) -> Retriever:
        """Return the retriever; the first call opens the index, or raises a CorpusIndexError."""

    async def get_triple_retriever(
        self, context: Context, store: BaseStore | None, given: Sequence[Passage] | None = None
    ) -> TripleRetriever:
        """Return what finds passages by their triples: a stored index, or a search that extracts.

        Args:
            context: The run's settings; their ``triple_index``, if they have one, says which.
            store: Where a search keeps what it extracts.
            given: Passages to rank, in place of a search.

        Raises:
            ConfigurationError: The settings name no extractor, or a stored index and a retriever
                without one.
            CorpusIndexError: The index is missing, corrupt, or of another encoder or extractor.
        """

    async def get_extractor(self, context: Context) -> Extractor:
        """Return the extractor."""

    async def get_answerer(self, context: Context) -> Answerer:
        """Return the answerer."""

    async def get_model(self, role: str, context: Context) -> LanguageModel:
        """Return the language model of a role that only this system has."""

    def has_documents(self, context: Context) -> bool:
        """Tell whether a run searches documents: it does unless it has a knowledge graph alone."""

    def has_knowledge(self, context: Context) -> bool:
        """Tell whether there is a knowledge graph to search."""

    async def get_knowledge(self, context: Context) -> KnowledgeSource:
        """Return the knowledge graph; the first call opens it, or raises a CorpusIndexError."""

    async def get_fact_retriever(self, context: Context) -> FactRetriever:
        """Return what scores the knowledge graph's facts."""

    async def get_kg_retriever(self, context: Context, facts: int | None = None) -> KgRetriever:
        """Return what searches the knowledge graph, for so many facts at most."""

    async def get_reading(self, context: Context) -> Reading:
        """Return how much the answerer reads best, without loading it."""

    def keeps_text(self, context: Context) -> bool:
        """Tell whether passages stay text, to be read in place of triples."""

    async def encodes(self, roles: Collection[str], context: Context) -> list[str]:
        """Return which of these roles have a model that takes soft tokens."""

    async def attribute(
        self, triples: Mapping[str, Triple], hops: Sequence[Hop], context: Context
    ) -> AttributedGraph:
        """Embed the question's graph (eq. 5); no text is embedded twice in a process."""

    async def nearest(
        self, triples: Mapping[str, Triple], hops: Sequence[Hop], most: int, context: Context
    ) -> dict[str, Triple]:
        """Return the triples of each hop that are nearest to its subquery, at most so many."""

    async def check(self, context: Context, roles: Collection[str]) -> None:
        """Find out whether the models of these roles can be used, before any of them is asked."""

    async def check_model(self, role: str, name: str, context: Context) -> None:
        """Find out whether a model can take over a role.

        Raises:
            ConfigurationError: It cannot, the deployment does not allow it, or the graph was built
                with an object for the role, which no name replaces.
        """
