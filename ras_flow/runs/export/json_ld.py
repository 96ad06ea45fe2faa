"""A branch as JSON-LD."""

from __future__ import annotations

from typing import Any

from ras_flow.formats.escapes import json_text
from ras_flow.runs.document import RunDocument
from ras_flow.runs.export.rdf import PREFIXES, TYPE, Literal, facts_of


def to_json_ld(document: RunDocument, branch: int | None = None) -> str:
    """Write a branch as JSON-LD; see :mod:`ras_flow.runs.export.rdf` for what is in it."""
    nodes: dict[str, dict[str, list[Any]]] = {}
    for subject, predicate, object in facts_of(document, branch):
        key = "@type" if predicate == TYPE else predicate
        nodes.setdefault(subject, {}).setdefault(key, []).append(_value(predicate, object))
    graph = [{"@id": subject, **node} for subject, node in nodes.items()]
    return json_text({"@context": PREFIXES, "@graph": graph}, indent=1)


def _value(predicate: str, object: str | Literal) -> str | dict[str, str]:
    if isinstance(object, Literal):
        return {"@value": object.text}
    return object if predicate == TYPE else {"@id": object}
