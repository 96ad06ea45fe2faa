"""A small world of documents with a two-hop question, and scripted parts that know it."""

from __future__ import annotations

from typing import Any

from ras_flow import build_graph
from ras_flow.parts import AnswerRequest
from ras_flow.testing import HashEncoder, ListRetriever, MappingExtractor, ScriptedAnswerer
from ras_flow.testing import ScriptedPlanner as ScriptedPlanner

QUESTION = "In which town was the designer of the Aurora Bridge born?"
SECOND = "[SUBQ] Where was Mira Lund born?"

DOCUMENTS = [
    {"title": "Aurora Bridge", "text": "The Aurora Bridge was designed by Mira Lund in 1961."},
    {"title": "Mira Lund", "text": "Mira Lund was an engineer. She was born in Narvik."},
    {"title": "Narvik", "text": "Narvik is a town in northern Norway on the Ofotfjord."},
    {"title": "Harbour Bridge", "text": "The Harbour Bridge is a bridge designed by Leo Fahr."},
]

TRIPLES = {
    "Aurora Bridge": "(S> Aurora Bridge| P> designer| O> Mira Lund), "
    "(S> Aurora Bridge| P> year| O> 1961)",
    "Mira Lund": "(S> MIRA LUND| P> occupation| O> engineer), "
    "(S> Mira Lund| P> place of birth| O> Narvik)",
    "Narvik": "(S> Narvik| P> country| O> Norway)",
    "Harbour Bridge": "(S> the Harbour Bridge| P> designer| O> Leo Fahr)",
}


def read_birthplace(request: AnswerRequest) -> str:
    """Answer from the graph alone, so that a changed graph changes the answer."""
    for link in request.chain:
        for triple in link.triples:
            if triple["predicate"] == "place of birth":
                return triple["object"]
    return "elsewhere"


def world(plans: list[str] | None = None, **changes: Any) -> dict[str, Any]:
    """Parts that answer the two-hop question; any of them can be replaced."""
    parts: dict[str, Any] = {
        "planner": ScriptedPlanner(["[SUBQ] x", SECOND] if plans is None else plans),
        "retriever": ListRetriever(DOCUMENTS),
        "extractor": MappingExtractor(TRIPLES),
        "answerer": ScriptedAnswerer(read_birthplace),
        "encoder": HashEncoder(),
    }
    return parts | changes


def build(parts: dict[str, Any], **compiled: Any) -> Any:
    """Compile the graph over these parts."""
    return build_graph(**parts).compile(**compiled)
