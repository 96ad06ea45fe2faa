"""What parts are given and return: plain records, independent of LangGraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError
from ras_flow.state.schema import Passage, Triple

if TYPE_CHECKING:
    from ras_flow.formats.chains import Reorganised


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
        cached_tokens: Those of the prompt tokens that its server had read before.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    truncated: bool = False
    cached_tokens: int = 0


class ScoredPassage(NamedTuple):
    """A retrieved passage and its score (higher is better)."""

    passage: Passage
    score: float


@dataclass(frozen=True)
class ChainLink:
    """A subquery q_i with its triples g_i, as the planner and the answerer read them.

    Attributes:
        subquery: The subquery.
        triples: Its triples.
        passages: Its passages, where they are read as text (as in the paper's "No
            Text-to-Triple"); empty where triples alone are read.
        known: It found passages, all of which earlier hops had found.
    """

    subquery: str
    triples: Sequence[Triple]
    passages: Sequence[Passage] = ()
    known: bool = False


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
        may_give_up: Whether it may say that the documents do not answer the question; its facts
            are then written by subject.
    """

    question: str
    chain: Sequence[ChainLink] = ()
    graph: AttributedGraph | None = None
    instruction: str = ""
    problem: str | None = None
    may_give_up: bool = False


@dataclass(frozen=True)
class AnswerRequest:
    """The input of eq. 7 (empty chain) and eq. 8.

    Attributes:
        question: The main question Q.
        chain: The whole subquery chain.
        graph: The encoded graph's input; None for answerers that take no soft tokens.
        instruction: Task-specific wording (paper table 5), possibly empty.
        max_new_tokens: Limit for the answer.
        when_unknown: ``"say so"`` lets a model that is told what to do answer that the documents do
            not say; ``"guess"`` asks for its best answer.
        grouped: A chat model reads the facts by subject.
        chains: The facts as evidence chains, to be read in place of the chain's triples.
        listed: The answer is a set: each of its members stands on a line "ans: …" of its own.
        problem: Why the previous reply could not be used; None on a first attempt.
    """

    question: str
    chain: Sequence[ChainLink] = ()
    graph: AttributedGraph | None = None
    instruction: str = ""
    max_new_tokens: int = 100
    when_unknown: Literal["say so", "guess"] = "guess"
    grouped: bool = False
    chains: Reorganised | None = None
    listed: bool = False
    problem: str | None = None


@dataclass(frozen=True)
class SearchSeen:
    """A search of a run as its reader sees it.

    Attributes:
        subquery: What was searched for; each line on its own.
        facts: What was noted from its passages.
        shown: Its passages that are shown in full, by number.
        unnoted: It found passages of which nothing was noted, and which are not shown again.
        known: It found passages, all of them shown before.
    """

    subquery: str
    facts: Sequence[Triple] = ()
    shown: Mapping[int, Passage] | None = None
    unnoted: bool = False
    known: bool = False


@dataclass(frozen=True)
class HopRequest:
    """What a model gets to read a hop, note its facts and name the next step in one call.

    Attributes:
        question: The main question Q.
        searches: The run's searches in their order; the last one's passages are new.
        numbers: The number of each of the run's passages by its id.
        again: Passages of earlier searches that are shown once more, by number.
        last: No further search can be made.
        guess: Where the documents do not say, it writes its best guess, not what comes nearest.
        may_know: The task lets it answer what any well-read person knows.
        instruction: Task-specific wording (paper table 5), possibly empty.
        problem: Why the previous reply could not be used; None on a first attempt.
        max_new_tokens: Limit for the answer, beside the facts.
    """

    question: str
    searches: Sequence[SearchSeen] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    again: Mapping[int, Passage] = field(default_factory=dict)
    last: bool = False
    guess: bool = False
    may_know: bool = False
    instruction: str = ""
    problem: str | None = None
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
        cached_tokens: Those of the prompt tokens that the model's server had read before.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    lost_triples: int = 0
    calls: int = 1
    truncated: bool = False
    cached_tokens: int = 0

    @classmethod
    def of(cls, made: Generation, lost_triples: int = 0) -> Reply:
        """Take what a language model wrote."""
        return cls(
            made.text,
            made.input_tokens,
            made.output_tokens,
            lost_triples,
            truncated=made.truncated,
            cached_tokens=made.cached_tokens,
        )


@dataclass(frozen=True)
class Extraction:
    """What an extractor made of one passage.

    Attributes:
        triples: (subject, predicate, object) in the order of the text.
        dropped: Pieces of the output that could not be read as triples.
        error: Why the passage could not be extracted; None when it was.
        input_tokens: Prompt tokens.
        output_tokens: Generated tokens.
        calls: Model calls: several for a long passage, none for an empty one.
        left: Texts of the parts that failed, where others did not: the rest need not be read again.
        cached_tokens: Those of the prompt tokens that the model's server had read before.
    """

    triples: list[tuple[str, str, str]]
    dropped: list[str] = field(default_factory=list)
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 1
    left: list[str] = field(default_factory=list)
    cached_tokens: int = 0


@dataclass(frozen=True)
class TripleQuery:
    """What is searched for among propositions.

    Attributes:
        text: The known parts of a triple, or a question.
        skip: Ids of passages that do not count for this query: it has read them already.
    """

    text: str
    skip: frozenset[str] = frozenset()


class ScoredTriple(NamedTuple):
    """A retrieved triple with those of the found passages that state it.

    ``query`` is the position of the query that it is nearest to, ``score`` how near it is.
    """

    triple: Triple
    score: float
    query: int


@dataclass(frozen=True)
class FoundTriples:
    """What a search of propositions found.

    Attributes:
        passages: Passages in the order in which the propositions lead to them, each with the score
            of the first proposition that it states.
        triples: The propositions that lead to these passages, best first.
        extractions: What the search extracted, for its costs.
        warnings: What the caller should be told.
    """

    passages: list[ScoredPassage] = field(default_factory=list)
    triples: list[ScoredTriple] = field(default_factory=list)
    extractions: list[Extraction] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How much a planner or answerer reads best: what holds where a run does not say.

    Attributes:
        top_k: Passages for each subquery (eq. 3); the answerer's counts.
        max_triples: Triples of each hop, those nearest to its subquery; None for all.
        answer_passages: Passages of each hop, the best first, that an answerer reads as text beside
            the triples; a planner reads none.
        max_hops: Subqueries at most; the answerer's counts.
        min_score: Share of the best score that a passage of a later search needs.
        kg_triples: Facts of a knowledge graph for each search.
        history: Whether an answerer reads triples by hop or evidence chains.
    """

    top_k: int = 5
    max_triples: int | None = None
    answer_passages: int = 0
    max_hops: int = 5
    min_score: float = 0.0
    kg_triples: int = 200
    history: Literal["triples", "chains"] = "triples"

    def __post_init__(self) -> None:
        """Check all.

        Raises:
            ConfigurationError: One is too small.
        """
        most = 1 if self.max_triples is None else self.max_triples
        if min(self.top_k, self.kg_triples, most) < 1:
            raise ConfigurationError(
                f"{self!r} reads nothing: top_k, kg_triples and max_triples must be at least 1."
            )
        if self.answer_passages < 0:
            raise ConfigurationError(f"{self!r}: answer_passages must be at least 0.")
        if not 0 <= self.min_score <= 1:
            raise ConfigurationError(f"{self!r}: min_score must be from 0 to 1.")
