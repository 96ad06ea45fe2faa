"""The parts' protocols: async first and batched (a list in, a list out), independent of LangGraph.

Any object with these methods can be passed to :func:`ras_flow.build_graph`; the shipped ones are
chosen by name in :class:`ras_flow.Context`. Work that blocks belongs in a thread: concurrent runs
share an event loop, those of ``invoke`` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from ras_flow.parts.records import (
    AnswerRequest,
    Extraction,
    FoundTriples,
    Generation,
    HopRequest,
    Message,
    PlanRequest,
    Reply,
    ScoredPassage,
    TripleQuery,
)
from ras_flow.settings.context import Context
from ras_flow.state.schema import Entity, Passage

if TYPE_CHECKING:
    from ras_flow.kg.subgraph import Subgraph


class LanguageModel(Protocol):
    """A text generator: a chat model of any provider, or a local one.

    Given as planner, extractor or answerer, it is asked with the prompts of that role.
    """

    identity: str
    """Names model and settings; part of the key of whatever is cached from its output."""

    batch_size: int
    """Prompts per call that the model handles best (1 for remote models)."""

    @property
    def window(self) -> int:
        """Input tokens that fit, the room for new tokens already subtracted."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text (an estimate where the tokenizer is remote)."""

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        """Continue each prompt greedily.

        Args:
            prompts: One message list a prompt.
            max_new_tokens: Limit for each output.
            stop: Strings at which an output ends; they are not part of it.

        Returns:
            One generation a prompt, in order; a result never depends on the other prompts.

        Raises:
            AuthenticationError: The key was refused.
            ModelUnavailableError: Timeouts, 429 or 5xx that outlasted the retries.
            ModelResponseError: The request was rejected or the answer is unusable.
            OverloadedError: Too many calls of this process wait already.
        """


class Retriever(Protocol):
    """Eq. 3: the top-k passages for each query."""

    identity: str
    """Names the retriever and what it searches."""

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Find passages. A run gives each the id of its content, whatever id it has here.

        Args:
            queries: Subqueries q_i.
            k: Passages for each query at most.

        Returns:
            One list a query, in order: its passages, best first, none twice.

        Raises:
            RasFlowError: Nothing can be searched; the run fails, and can be resumed.
        """


class TripleRetriever(Protocol):
    """T²RAG's algorithm 2: passages by the triples that they state."""

    identity: str
    """Names the retriever and what it searches."""

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find the propositions nearest to any query, until they lead to k passages.

        Args:
            queries: What is known, one text a clue.
            k: Passages at most, for all queries together.

        Returns:
            Passages and propositions, best first.

        Raises:
            RasFlowError: Nothing can be searched; the run fails, and can be resumed.
        """


class SentenceEncoder(Protocol):
    """Eq. 5: texts to vectors."""

    @property
    def identity(self) -> str:
        """Names the weights: vectors of two identities never meet."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: Any texts.

        Returns:
            L2-normalised vectors of shape (number of texts, dimension).
        """


class Planner(Protocol):
    """Eq. 1 and 2: decides what to do next.

    It may have a ``reading``; see :class:`Reading`. With a true ``searches_first``, and settings
    that name no ``loop``, a run begins with a search for the question, without a plan; later
    searches take only passages that it has not found yet.
    """

    identity: str
    """Names model and settings."""

    takes_soft_tokens: bool
    """Whether requests are to have the encoded graph."""

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan for each request.

        Args:
            requests: Questions and their chains so far.

        Returns:
            One reply a request, in order; its text is parsed by :mod:`ras_flow.formats.plan`.

        Raises:
            ModelUnavailableError: The model cannot be reached; after the first hop, the run goes
                on to its answer.
            RasFlowError: Anything else; the run fails, and can be resumed.
        """


class Extractor(Protocol):
    """Eq. 4: f_t2t, passages to triples."""

    identity: str
    """Names model and settings; cached triples are kept by it and the passage."""

    batch_size: int
    """Passages per call that it handles best."""

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples.

        Args:
            passages: Passages.

        Returns:
            One extraction a passage, in order. One bad passage never fails its batch: its
            extraction has an ``error``.

        Raises:
            ModelUnavailableError: The model cannot be reached; the run goes on without the triples
                of these passages.
            RasFlowError: Anything else; the run fails, and can be resumed.
        """


class Answerer(Protocol):
    """Eq. 7 and 8: the answer, from the graph or without it.

    It may have a ``reading``; see :class:`Reading`.
    """

    identity: str
    """Names model and settings."""

    takes_soft_tokens: bool
    """Whether requests are to have the encoded graph."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request.

        Args:
            requests: Questions and their chains.

        Returns:
            One reply a request, in order; its text is the answer.

        Raises:
            RasFlowError: The model gives no answer; the run fails, and can be resumed.
        """


class HopReader(Protocol):
    """Eq. 1, 2, 4 and 8 in one call: reads a hop, notes its facts and names the next step."""

    identity: str
    """Names model and settings."""

    task: str
    """The preset of :mod:`ras_flow.settings.tasks` for runs that name none."""

    cites: bool
    """Whether it names the passages that an answer rests on well enough to be believed."""

    async def read(self, requests: Sequence[HopRequest]) -> list[Reply]:
        """Read the last search of each request.

        Args:
            requests: Questions, with what was noted from their searches and what was newly found.

        Returns:
            One reply a request, in order; its text is parsed by :mod:`ras_flow.formats.hop_reply`.

        Raises:
            RasFlowError: The model does not reply; the run fails, and can be resumed.
        """


class KnowledgeSource(Protocol):
    """ReG: a knowledge graph as a run sees it."""

    identity: str
    """Names the graph and its version."""

    async def link(self, questions: Sequence[str]) -> list[list[Entity]]:
        """Find the entities that questions mention.

        Args:
            questions: Questions or subqueries.

        Returns:
            One list a question, in order: its entities, best first; empty where it mentions none.
        """

    async def find(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities that a person names.

        Args:
            names: Names, aliases or ids.

        Returns:
            The entities, in order; several for a name that several have.

        Raises:
            InputError: The graph has no such entity; the message suggests similar names.
        """

    async def subgraphs(
        self, questions: Sequence[str], entities: Sequence[Sequence[Entity]], depth: int
    ) -> list[Subgraph]:
        """Return the facts around the entities of each question, among which the answer may be.

        Args:
            questions: Questions, by which the edges of hubs are chosen.
            entities: The entities of each question.
            depth: Edges between an entity and a fact at most, the fact included.

        Returns:
            One subgraph a question, in order.
        """

    async def pages(self, subgraph: Subgraph, chosen: Sequence[int]) -> list[Passage]:
        """Write facts as passages: one for each subject, under its name.

        Args:
            subgraph: A subgraph of this graph.
            chosen: Positions in its ``triples``, the best first.

        Returns:
            Pages with ``triples``, ``ids`` and a ``source`` that names the graph, in the order of
            their best facts.
        """


class FactRetriever(Protocol):
    """ReG: scores the facts of a subgraph by whether a question needs them."""

    identity: str
    """Names the retriever and its weights."""

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        """Score facts.

        Args:
            questions: Questions or subqueries.
            subgraphs: The candidate facts of each.

        Returns:
            One vector a question, in order: a score for each of its subgraph's ``triples``, above 0
            for those that it rather needs than not.
        """


def searches_first(planner: Planner, context: Context) -> bool:
    """Tell whether a run begins with a search, and later ones take new passages alone."""
    return context.loop is None and getattr(planner, "searches_first", False) is True
