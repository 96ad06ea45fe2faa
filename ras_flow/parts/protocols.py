"""The parts' protocols: async first and batched (a list in, a list out), independent of LangGraph.

You can pass any object with these methods to :func:`ras_flow.build_graph`. The shipped ones are
chosen by name in :class:`ras_flow.Context`. Run blocking work in a thread: concurrent runs share an
event loop, even those of ``invoke``.
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

    As planner, extractor or answerer, it is asked with the prompts of that role.
    """

    identity: str
    """Names model and settings; part of the key under which its output is cached."""

    batch_size: int
    """Prompts per call that the model handles best (1 for remote models)."""

    @property
    def window(self) -> int:
        """Input tokens that fit, after the room for new tokens is subtracted."""

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
            prompts: One message list per prompt.
            max_new_tokens: Limit for each output.
            stop: Strings at which an output ends. The output does not include them.

        Returns:
            One generation per prompt, in order. A result never depends on the other prompts.

        Raises:
            AuthenticationError: The key was refused.
            ModelUnavailableError: A timeout, 429 or 5xx outlasted the retries.
            ModelResponseError: The request was rejected or the answer is unusable.
            OverloadedError: Too many calls of this process are waiting already.
        """


class Retriever(Protocol):
    """Eq. 3: the top-k passages for each query."""

    identity: str
    """Names the retriever and what it searches."""

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Find passages. A run replaces each passage's id by one made from its content.

        Args:
            queries: Subqueries q_i.
            k: The most passages for each query.

        Returns:
            One list per query, in order: its passages, best first, without duplicates.

        Raises:
            RasFlowError: Nothing can be searched; the run fails, and can be resumed.
        """


class TripleRetriever(Protocol):
    """T²RAG's algorithm 2: finds passages by the triples that they state."""

    identity: str
    """Names the retriever and what it searches."""

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find the propositions nearest to any query, until they lead to k passages.

        Args:
            queries: What is known, one text per clue.
            k: The most passages, for all queries together.

        Returns:
            Passages and propositions, best first.

        Raises:
            RasFlowError: Nothing can be searched; the run fails, and can be resumed.
        """


class SentenceEncoder(Protocol):
    """Eq. 5: texts to vectors."""

    @property
    def identity(self) -> str:
        """Names the weights: vectors of two identities are never compared."""

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

    It may have a ``reading``; see :class:`Reading`. If it has a true ``searches_first`` and the
    settings name no ``loop``, a run begins with a search for the question, without a plan. Later
    searches then take only passages that the run has not found yet.
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
            One reply per request, in order. :mod:`ras_flow.formats.plan` parses its text.

        Raises:
            ModelUnavailableError: The model cannot be reached. After the first hop, the run goes
                on to its answer.
            RasFlowError: Anything else; the run fails, and can be resumed.
        """


class Extractor(Protocol):
    """Eq. 4: f_t2t, passages to triples."""

    identity: str
    """Names model and settings; cached triples are kept by this and the passage."""

    batch_size: int
    """Passages per call that it handles best."""

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Extract each passage's triples.

        Args:
            passages: Passages.

        Returns:
            One extraction per passage, in order. A bad passage never fails its batch: its
            extraction has an ``error``.

        Raises:
            ModelUnavailableError: The model cannot be reached. The run goes on without the triples
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
            One reply per request, in order; its text is the answer.

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
    """Whether to trust the passages that it names as the basis of an answer."""

    async def read(self, requests: Sequence[HopRequest]) -> list[Reply]:
        """Read the last search of each request.

        Args:
            requests: Questions, with the facts noted from earlier searches and what is newly found.

        Returns:
            One reply per request, in order. :mod:`ras_flow.formats.hop_reply` parses its text.

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
            One list per question, in order: its entities, best first; empty if it mentions none.
        """

    async def find(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities that a person names.

        Args:
            names: Names, aliases or ids.

        Returns:
            The entities, in order; several for a name that several entities share.

        Raises:
            InputError: The graph has no such entity; the message suggests similar names.
        """

    async def subgraphs(
        self, questions: Sequence[str], entities: Sequence[Sequence[Entity]], depth: int
    ) -> list[Subgraph]:
        """Return the facts around each question's entities; the answer may be among them.

        Args:
            questions: Questions, used to choose among the edges of hubs.
            entities: The entities of each question.
            depth: The most edges from an entity to a fact, including the fact.

        Returns:
            One subgraph per question, in order.
        """

    async def pages(self, subgraph: Subgraph, chosen: Sequence[int]) -> list[Passage]:
        """Write facts as passages: one for each subject, under its name.

        Args:
            subgraph: A subgraph of this graph.
            chosen: Positions in its ``triples``, best first.

        Returns:
            Passages with ``triples``, ``ids`` and a ``source`` that names the graph, in the order
            of their best facts.
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
            subgraphs: The candidate facts of each question.

        Returns:
            One vector per question, in order: a score for each of its subgraph's ``triples``, above
            0 if the question is more likely to need the fact than not.
        """


def searches_first(planner: Planner, context: Context) -> bool:
    """Tell whether a run begins with a search, and later searches take only new passages."""
    return context.loop is None and getattr(planner, "searches_first", False) is True
