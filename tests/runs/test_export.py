"""Exports as other programs read them."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.namespace import PROV, RDF, RDFS

from ras_flow.errors import MissingExtraError, RunError
from ras_flow.formats.normalize import normalize_name
from ras_flow.runs.document import RunDocument
from ras_flow.runs.export import to_json
from ras_flow.runs.export.graphml import to_graphml
from ras_flow.runs.export.rdf import to_json_ld, to_turtle
from ras_flow.state.kg import triple_id
from tests.runs.documents import (
    ADA,
    ADA_BORN,
    BORN,
    DESIGNER,
    SUBQUERY,
    TEXTS,
    Writer,
    first_answer,
)

TEXT = st.text(max_size=30) | st.sampled_from(
    ['"""', "\\", "\\u0041", "<a&b>", "]]>", "a\r\nb\rc\td", "\0\x1b\x85\u2028", "𝔸 é", "#%/?:@"]
)
NAME = TEXT.filter(normalize_name)
NOT_XML = {*range(0x20), 0xFFFE, 0xFFFF} - {9, 10, 13}


@pytest.fixture
def document() -> RunDocument:
    writer = Writer()
    first_answer(writer)
    other = writer.ask().hop(writer.question, {"Old Bridges": [ADA]})
    other.hop("Where was Ada Lund born?", {"Ada Lund": [ADA_BORN]}).answer("Bergen")
    return writer.document()


def test_what_a_person_stated_was_found_by_no_hop() -> None:
    writer = Writer()
    story = writer.ask().hop(writer.question, {"Aurora Bridge": [DESIGNER]})
    story.edit(add=ADA).answer("Ada Lund")
    document = writer.document()
    edges = read_graphml(to_graphml(document)).edges(data=True)
    hops = {edge["triple"]: edge.get("hops") or "" for *_, edge in edges}
    assert hops == {triple_id(*DESIGNER): "0", triple_id(*ADA): ""}
    for graph in (read_turtle(to_turtle(document)), read_json_ld(to_json_ld(document))):
        [found] = graph.subjects(PROV.wasGeneratedBy)
        assert found == rdflib.URIRef(f"urn:ras-flow:triple:{triple_id(*DESIGNER)}")


def with_texts(subject: str, predicate: str, object: str, text: str) -> RunDocument:
    """A run with these texts in every field that people and models write."""
    writer = Writer(question=text, texts={text: text})
    story = writer.ask().hop(text, {text: [(subject, predicate, object)]})
    story.answer(text)
    return writer.document()


def read_turtle(text: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text.encode(), format="turtle")


def read_json_ld(text: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text, format="json-ld")


def read_graphml(text: str) -> Any:
    return networkx.read_graphml(BytesIO(text.encode()))


def xml(text: str) -> str:
    return "".join("\ufffd" if ord(c) in NOT_XML else c for c in text)


def test_json_is_the_document_opened_at_the_branch(document: RunDocument) -> None:
    # Tuples become lists.
    expected = json.loads(json.dumps(document))
    assert json.loads(to_json(document)) == expected
    assert json.loads(to_json(document, 1)) == {**expected, "current": 1}


def test_networkx_reads_the_graph(document: RunDocument) -> None:
    graph = read_graphml(to_graphml(document, 1))
    assert graph.is_directed()
    assert graph.graph["answer"] == "Narvik" and graph.graph["branch"] == "1"
    label = networkx.get_node_attributes(graph, "label")
    assert sorted(label.values()) == ["1961", "Aurora Bridge", "Mira Lund", "Narvik", "engineer"]
    edges = {(label[a], data["label"], label[b]): data for a, b, data in graph.edges(data=True)}
    born = edges[BORN]
    assert born["cited"] is True and born["hops"] == "1" and born["triple"] == triple_id(*BORN)
    assert (born["titles"], born["sentences"]) == ("Mira Lund", "She was born in Narvik.")
    assert edges["Aurora Bridge", "year", "1961"]["cited"] is False
    cited = networkx.get_node_attributes(graph, "cited")
    assert {label[node] for node, yes in cited.items() if yes} == {
        "Aurora Bridge", "Mira Lund", "Narvik",
    }  # fmt: skip


LINEAGE = """
SELECT ?subject ?predicate ?object ?title ?subquery WHERE {
  ?answer prov:value "Narvik" ; prov:wasDerivedFrom ?statement .
  ?statement a rdf:Statement ; rdf:subject ?s ; rdf:predicate ?p ; rdf:object ?o ;
    prov:wasDerivedFrom ?passage ; prov:wasGeneratedBy ?hop .
  ?s ?p ?o ; rdfs:label ?subject . ?p rdfs:label ?predicate . ?o rdfs:label ?object .
  ?passage rdfs:label ?title ; prov:value ?text .
  ?hop rdfs:label ?subquery ; prov:used ?passage .
}"""


@pytest.mark.parametrize("read", ["turtle", "json-ld"])
def test_the_lineage_of_an_answer_can_be_queried(read: str, document: RunDocument) -> None:
    graph = (
        read_turtle(to_turtle(document, 1))
        if read == "turtle"
        else read_json_ld(to_json_ld(document, 1))
    )
    rows = {tuple(map(str, row)) for row in graph.query(LINEAGE)}  # type: ignore[arg-type]
    assert rows == {
        (*DESIGNER, "Aurora Bridge", document["question"]),
        (*BORN, "Mira Lund", SUBQUERY),
    }
    texts = {str(text) for text in graph.objects(None, PROV.value)}
    assert TEXTS["Mira Lund"] in texts and TEXTS["Ada Lund"] not in texts


@settings(max_examples=60)
@given(NAME, NAME, NAME, TEXT)
def test_any_text_survives_rdf(subject: str, predicate: str, object: str, text: str) -> None:
    document = with_texts(subject, predicate, object, text)
    turtle, json_ld = read_turtle(to_turtle(document)), read_json_ld(to_json_ld(document))
    assert set(turtle) == set(json_ld)
    labels = {str(label) for label in turtle.objects(None, RDFS.label)}
    spelled = document["entities"].values()
    assert {predicate, text, *spelled} == labels
    assert text in {str(value) for value in turtle.objects(None, PROV.value)}


@settings(max_examples=60)
@given(NAME, NAME, NAME, TEXT)
def test_any_text_that_xml_can_hold_survives_graphml(
    subject: str, predicate: str, object: str, text: str
) -> None:
    document = with_texts(subject, predicate, object, text)
    written = to_graphml(document)
    graph = read_graphml(written)
    labels = set(networkx.get_node_attributes(graph, "label").values())
    assert labels == {xml(name) for name in document["entities"].values()}
    [(_, _, edge)] = graph.edges(data=True)
    assert edge["label"] == xml(predicate)
    said = [item.text or "" for item in ElementTree.fromstring(written.encode()).iter()]
    assert xml(text) in said
    assert edge["titles"] == xml(text or next(iter(document["passages"]))), (
        "without a title it is named by its id"
    )


@pytest.mark.parametrize("write", [to_json, to_graphml, to_json_ld, to_turtle])
def test_an_unknown_branch_is_named(write: Any, document: RunDocument) -> None:
    with pytest.raises(RunError, match="has no branch 9"):
        write(document, 9)


@pytest.mark.parametrize(("write", "module"), [(to_graphml, "networkx"), (to_turtle, "rdflib")])
def test_without_its_package_a_form_names_the_extra(
    write: Any, module: str, document: RunDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match="export"):
        write(document)


def test_parallel_edges_and_loops_stay_apart() -> None:
    writer = Writer()
    facts = [DESIGNER, ("Aurora Bridge", "named after", "Mira Lund"), ("Narvik", "is", "Narvik")]
    writer.ask().hop(writer.question, {"Aurora Bridge": facts}).answer("Mira Lund")
    graph = read_graphml(to_graphml(writer.document()))
    assert graph.number_of_edges() == 3 and graph.number_of_nodes() == 3
    found = read_turtle(to_turtle(writer.document()))
    assert len(list(found.triples((None, RDF.type, RDF.Statement)))) == 3
