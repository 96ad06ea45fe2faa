"""A branch's graph as GraphML, as Gephi, yEd and networkx read it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ras_flow.formats.escapes import escape_unseen
from ras_flow.formats.normalize import name_key
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import found_by_hop, get_branch, graph_of
from ras_flow.runs.why import source_of
from ras_flow.state.kg import QueryKG
from ras_flow.support.extras import require

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_graphml(document: RunDocument, branch: int | None = None) -> str:
    """Write the final graph of a branch as GraphML.

    Nodes are entities, with their first spelling as ``label``. Edges are triples, with the
    predicate as ``label``, the hops that found them, and ids, titles and sentences of the passages
    that state them, one a line. What the run did not find out is there as edges that are ``open``,
    to nodes that are a ``variable``.
    """
    networkx = require("networkx", extra="export")
    way = get_branch(document, branch)
    triples = graph_of(document, way)
    kg = QueryKG.from_triples(triples)
    cited = {citation["triple"] for citation in way["citations"]}
    hops = found_by_hop(way, triples)
    graph = networkx.MultiDiGraph(
        **_xml(
            run=document["run"],
            branch=str(way["number"]),
            question=way["question"],
            answer=way["answer"],
            supported=str(way["supported"]).lower(),
            support=way["support"],
            stop_reason=way["stop_reason"] or "",
        )
    )
    ids = {name: f"n{number}" for number, name in enumerate(kg.entities)}
    for name, label in kg.entities.items():
        graph.add_node(
            ids[name],
            cited=not cited.isdisjoint(kg.incident[name]),
            **_xml(label=label, name=name),
        )
    for number, (id, triple) in enumerate(kg.triples.items()):
        sources = [source_of(document, way, id, passage) for passage in triple["passages"]]
        graph.add_edge(
            *(ids[name] for name in kg.edges[id]),
            key=f"e{number}",
            cited=id in cited,
            **_xml(
                label=triple["predicate"],
                triple=id,
                hops=" ".join(str(index) for index, found in enumerate(hops) if id in found),
                passages="\n".join(source["passage"] for source in sources),
                titles="\n".join(source["title"] for source in sources),
                sentences="\n".join(source["sentence"] for source in sources),
            ),
        )
    for number, (subject, predicate, object) in enumerate(way["open"]):
        ends = []
        for end in (subject, object):
            key = end if end.startswith("?") else name_key(end)
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                graph.add_node(ids[key], variable=key == end, **_xml(label=end, name=key))
            ends.append(ids[key])
        graph.add_edge(*ends, key=f"o{number}", open=True, **_xml(label=predicate))
    root = networkx.GraphMLWriter(graph=graph).xml
    truths = {key.get("id") for key in root.iter("key") if key.get("attr.type") == "boolean"}
    for data in root.iter("data"):
        if data.get("key") in truths:
            data.text = data.text.lower()  # networkx writes Python's True, which XML does not know.
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    # A bare carriage return would be read as a line feed.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + escape_unseen(text, "&#%d;") + "\n"


def _xml(**texts: str) -> dict[str, str]:
    return {name: _NOT_XML.sub("\ufffd", text) for name, text in texts.items()}
