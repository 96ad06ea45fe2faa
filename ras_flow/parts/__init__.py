"""The parts that play the roles of the graph: protocols, their records, and what chooses them.

This package itself has the protocols and records; any object with a protocol's methods is a part.
"""

from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    HopReader,
    LanguageModel,
    Planner,
    Retriever,
    SentenceEncoder,
    reading_of,
)
from ras_flow.parts.records import (
    AnswerRequest,
    AttributedGraph,
    ChainLink,
    Extraction,
    Generation,
    HopRequest,
    Message,
    PlanRequest,
    Reading,
    Reply,
    ScoredPassage,
)

__all__ = [
    "AnswerRequest",
    "Answerer",
    "AttributedGraph",
    "ChainLink",
    "Extraction",
    "Extractor",
    "Generation",
    "HopReader",
    "HopRequest",
    "LanguageModel",
    "Message",
    "PlanRequest",
    "Planner",
    "Reading",
    "Reply",
    "Retriever",
    "ScoredPassage",
    "SentenceEncoder",
    "reading_of",
]
