"""The parts that play the roles of the graph: protocols, their records, and what chooses them.

This package itself has the protocols and records; any object with a protocol's methods is a part.
"""

from ras_flow.parts.checks import reading_of
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    FactRetriever,
    HopReader,
    KnowledgeSource,
    LanguageModel,
    Planner,
    Retriever,
    SentenceEncoder,
    TripleRetriever,
)
from ras_flow.parts.records import (
    AnswerRequest,
    AttributedGraph,
    ChainLink,
    Extraction,
    FoundTriples,
    Generation,
    HopRequest,
    Message,
    PlanRequest,
    Reading,
    Reply,
    ScoredPassage,
    ScoredTriple,
    TripleQuery,
)

__all__ = [
    "AnswerRequest",
    "Answerer",
    "AttributedGraph",
    "ChainLink",
    "Extraction",
    "Extractor",
    "FactRetriever",
    "FoundTriples",
    "Generation",
    "HopReader",
    "HopRequest",
    "KnowledgeSource",
    "LanguageModel",
    "Message",
    "PlanRequest",
    "Planner",
    "Reading",
    "Reply",
    "Retriever",
    "ScoredPassage",
    "ScoredTriple",
    "SentenceEncoder",
    "TripleQuery",
    "TripleRetriever",
    "reading_of",
]
