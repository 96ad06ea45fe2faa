"""The parts' protocols: async first and batched (a list in, a list out), independent of LangGraph.

Any object with these methods can be passed to :func:`ras_flow.build_graph`; the shipped ones are
chosen by name in :class:`ras_flow.Context`. Work that blocks belongs in a thread: concurrent runs
share an event loop, those of ``invoke`` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypedDict

from ras_flow.errors import ConfigurationError
from ras_flow.state.schema import Passage, Triple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Message(TypedDict):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Generation:
    """What a language model wrote for one prompt.

    Attributes:
        text: The generated text, without special tokens and without the stop string.
        input_tokens: Prompt tokens, as the model or its server counts them.
        output_tokens: Generated tokens.
        truncated: The text ended at the token limit, not by the model's choice.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    truncated: bool = False


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
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text (an estimate where the tokenizer is remote)."""
        ...

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
        ...


class ScoredPassage(NamedTuple):
    """A retrieved passage and its score (higher is better)."""

    passage: Passage
    score: float


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
        ...


class SentenceEncoder(Protocol):
    """Eq. 5: texts to vectors."""

    @property
    def identity(self) -> str:
        """Names the weights: vectors of two identities never meet."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: Any texts.

        Returns:
            L2-normalised vectors of shape (number of texts, dimension).
        """
        ...


@dataclass(frozen=True)
class ChainLink:
    """A subquery q_i with its triples g_i, as the planner and the answerer read them.

    Attributes:
        subquery: The subquery.
        triples: Its triples.
        passages: Its passages, where they are read as text (as in the paper's "No
            Text-to-Triple"); empty where triples alone are read.
    """

    subquery: str
    triples: Sequence[Triple]
    passages: Sequence[Passage] = ()


@dataclass(frozen=True)
class AttributedGraph:
    """G_Q with attributes, ready for a GNN (eq. 5 and 6).

    Attributes:
        nodes: Entity names, best surface forms.
        node_attr: Embeddings of ``nodes``, shape (number of nodes, dimension).
        edges: Relation names, one for each triple.
        edge_attr: Embeddings of ``edges``, shape (number of edges, dimension).
        edge_index: Subject and object of each edge as positions in ``nodes``, shape (2, edges).
        hops: For each hop, the positions in ``edges`` of the triples first or again found there.
        query_attr: Embeddings of the hops' subqueries, shape (number of hops, dimension).
        encoder: Identity of the sentence encoder that made the embeddings; empty if unknown.
    """

    nodes: list[str]
    node_attr: npt.NDArray[np.float32]
    edges: list[str]
    edge_attr: npt.NDArray[np.float32]
    edge_index: npt.NDArray[np.int64]
    hops: list[list[int]]
    query_attr: npt.NDArray[np.float32]
    encoder: str = ""


@dataclass(frozen=True)
class PlanRequest:
    """The input of eq. 1 (empty chain) and eq. 2.

    Attributes:
        question: The main question Q.
        chain: The subquery chain so far.
        graph: The encoded graph's input; None for planners that take no soft tokens.
        instruction: Task-specific wording (paper table 5), possibly empty.
        problem: Why the previous plan was rejected; None on a first attempt.
    """

    question: str
    chain: Sequence[ChainLink] = ()
    graph: AttributedGraph | None = None
    instruction: str = ""
    problem: str | None = None


@dataclass(frozen=True)
class AnswerRequest:
    """The input of eq. 7 (empty chain) and eq. 8.

    Attributes:
        question: The main question Q.
        chain: The whole subquery chain.
        graph: The encoded graph's input; None for answerers that take no soft tokens.
        instruction: Task-specific wording (paper table 5), possibly empty.
        max_new_tokens: Limit for the answer.
    """

    question: str
    chain: Sequence[ChainLink] = ()
    graph: AttributedGraph | None = None
    instruction: str = ""
    max_new_tokens: int = 100


@dataclass(frozen=True)
class Reply:
    """A planner's or answerer's text, what it cost, and what did not fit into its window.

    Attributes:
        text: What it wrote.
        input_tokens: Prompt tokens.
        output_tokens: Generated tokens.
        lost_triples: Triples, and passages read as text, that did not fit whole.
        calls: Model calls; none where the part knew what to say by itself.
        truncated: The text ended at the token limit, not by the model's choice.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    lost_triples: int = 0
    calls: int = 1
    truncated: bool = False


@dataclass(frozen=True)
class Extraction:
    """What an extractor made of one passage.

    Attributes:
        triples: (subject, predicate, object) in the order of the text.
        dropped: Pieces of the output that were no triples, as found.
        error: Why the passage could not be extracted; None when it was.
        input_tokens: Prompt tokens.
        output_tokens: Generated tokens.
        calls: Model calls: several for a long passage, none for an empty one.
        left: Texts of the parts that failed, where others did not: the rest need not be read again.
    """

    triples: list[tuple[str, str, str]]
    dropped: list[str] = field(default_factory=list)
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 1
    left: list[str] = field(default_factory=list)


class Planner(Protocol):
    """Eq. 1 and 2: decides what to do next.

    It may have a ``reading``; see :class:`Reading`.
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
        ...


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
        ...


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
        ...


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How much a planner or answerer reads best: what holds where a run does not say.

    Attributes:
        top_k: Passages for each subquery (eq. 3); the answerer's counts.
        max_triples: Triples of each hop, those nearest to its subquery; None for all.
        answer_passages: Passages of each hop, the best first, that an answerer reads as text beside
            the triples; a planner reads none.
    """

    top_k: int = 5
    max_triples: int | None = None
    answer_passages: int = 0

    def __post_init__(self) -> None:
        """Check all.

        Raises:
            ConfigurationError: One is too small.
        """
        if self.top_k < 1 or (self.max_triples is not None and self.max_triples < 1):
            raise ConfigurationError(
                f"{self!r} reads nothing: top_k and max_triples must be at least 1."
            )
        if self.answer_passages < 0:
            raise ConfigurationError(f"{self!r}: answer_passages must be at least 0.")


def reading_of(reader: Planner | Answerer) -> Reading:
    """Return how much a model reads best.

    Args:
        reader: A planner or answerer.

    Returns:
        Its ``reading``; the paper's where it has none.

    Raises:
        ConfigurationError: It has one that is none.
    """
    reading = getattr(reader, "reading", Reading())
    if not isinstance(reading, Reading):
        raise ConfigurationError(
            f"The `reading` of {type(reader).__name__} is a {type(reading).__name__}: give it a "
            "ras_flow.components.Reading, which says how much it reads best, or another name."
        )
    return reading
