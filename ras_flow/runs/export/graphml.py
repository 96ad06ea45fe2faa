"""A branch's graph as GraphML, as Gephi, yEd and networkx read it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ras_flow.formats.escapes import escape_unseen
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import found_by_hop, get_branch, graph_of
from ras_flow.runs.why import source_of
from ras_flow.state.kg import QueryKG

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEYS = {
    "graph": {name: "string" for name in ("run", "branch", "question", "answer", "stop_reason")},
    "node": {"label": "string", "name": "string", "cited": "boolean"},
    "edge": {
        "label": "string",
        "triple": "string",
        "cited": "boolean",
        "hops": "string",
        "passages": "string",
        "titles": "string",
        "sentences": "string",
    },
}
"""What is said of each kind of element, and its type."""


def to_graphml(document: RunDocument, branch: int | None = None) -> str:
    """Write the final graph of a branch as GraphML.

    Nodes are entities, with their best spelling as ``label``. Edges are triples, with the
    predicate as ``label``, the hops that found them, and ids, titles and sentences of the passages
    that state them, one a line.
    """
    way = get_branch(document, branch)
    triples = graph_of(document, way)
    kg = QueryKG.from_triples(triples)
    cited = {citation["triple"] for citation in way["citations"]}
    hops = found_by_hop(way, triples)
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, names in _KEYS.items():
        for name, type in names.items():
            key = {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": type}
            ElementTree.SubElement(root, "key", key)
    graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
    about = {
        "run": document["run"],
        "branch": str(way["number"]),
        "question": way["question"],
        "answer": way["answer"],
        "stop_reason": way["stop_reason"] or "",
    }
    _say(graph, "graph", about)
    node_ids = {name: f"n{number}" for number, name in enumerate(kg.entities)}
    for name, label in kg.entities.items():
        node = ElementTree.SubElement(graph, "node", id=node_ids[name])
        is_cited = not cited.isdisjoint(kg.incident[name])
        _say(node, "node", {"label": label, "name": name, "cited": str(is_cited).lower()})
    for number, (id, triple) in enumerate(kg.triples.items()):
        source, target = (node_ids[name] for name in kg.edges[id])
        edge = ElementTree.SubElement(graph, "edge", id=f"e{number}", source=source, target=target)
        sources = [source_of(document, way, id, passage) for passage in triple["passages"]]
        values = {
            "label": triple["predicate"],
            "triple": id,
            "cited": str(id in cited).lower(),
            "hops": " ".join(str(index) for index, ids in enumerate(hops) if id in ids),
            "passages": "\n".join(source["passage"] for source in sources),
            "titles": "\n".join(source["title"] for source in sources),
            "sentences": "\n".join(source["sentence"] for source in sources),
        }
        _say(edge, "edge", values)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    # Among these is the carriage return, which would be read as a line feed.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + escape_unseen(text, "&#%d;") + "\n"


def _say(element: ElementTree.Element, kind: str, values: dict[str, str]) -> None:
    for name, value in values.items():
        data = ElementTree.SubElement(element, "data", key=f"{kind}_{name}")
        data.text = _NOT_XML.sub("\ufffd", value)
