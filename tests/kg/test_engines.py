"""Knowledge graphs on a SPARQL server and in Oxigraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pyoxigraph
import pytest

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.triples import Spo
from ras_flow.kg.engines import SparqlGraph, open_engine
from ras_flow.kg.linking import find, link
from ras_flow.kg.store import KnowledgeGraph
from tests.kg.test_store import build, write

TURTLE = """\
@prefix e: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
e:Q1 rdfs:label "Paris"@en, "Parigi"@it ; skos:altLabel "City of Light" ; e:capital_of e:Q3 .
e:Q2 rdfs:label "Paris"@en ; e:in e:Texas ; e:founded "1845" .
e:Q3 rdfs:label "France"@en ; e:borders [ e:of e:Spain ] .
e:Q4 rdfs:label "Seine"@en ; e:flows_through e:Q1, e:Q3 .
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Oxigraph."""
    path = tmp_path_factory.mktemp("engines")
    store = pyoxigraph.Store(str(path / "store"))
    store.load(TURTLE.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    store.flush()
    del store
    return path


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A SPARQL server."""
    store = pyoxigraph.Store()
    store.load(TURTLE.encode(), format=pyoxigraph.RdfFormat.TURTLE)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            if self.headers["x-key"] != "secret":
                self.send_error(401)
                return
            found: Any = store.query(parse_qs(body)["query"][0])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(found.serialize(format=pyoxigraph.QueryResultsFormat.JSON))

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(params=["sparql", "oxigraph"])
def engine(
    request: pytest.FixtureRequest, folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> SparqlGraph:
    """A graph that a TOML file names."""
    monkeypatch.setenv("KG_KEY", "secret")
    text = 'engine = "oxigraph"\npath = "store"\n'
    if request.param == "sparql":
        text = f'engine = "sparql"\nurl = "{address}"\nheaders = {{ x-key = "$KG_KEY" }}\n'
    return open_engine(write(folder / f"{request.param}.toml", text))


def _facts(graph: SparqlGraph | KnowledgeGraph, id: str, depth: int) -> list[Spo]:
    """Return the facts around an entity; the names of homonyms and blank nodes may differ."""
    subgraph = graph.subgraph([id], depth)
    stated = [subgraph.fact(at) for at in range(len(subgraph))]
    shown = [[re.sub(r" \(.*\)$|^_:.*", "", name) for name in fact] for fact in stated]
    return sorted((subject, predicate, object) for subject, predicate, object in shown)


def test_an_engine_says_what_the_store_says(engine: SparqlGraph, tmp_path: Path) -> None:
    local = build(tmp_path, write(tmp_path / "a.ttl", TURTLE))
    for id, depth in (("http://ex.org/Q2", 1), ("http://ex.org/Q4", 2)):
        assert _facts(engine, id, depth) == _facts(local, id, depth) != []
    for question in ("Where is the City of Light?", "Does the Seine leave France?", "Who?"):
        assert [one["id"] for one in link(question, engine)] == [
            one["id"] for one in link(question, local)
        ]


def test_engines_keep_homonyms_apart_and_name_what_is_unknown(engine: SparqlGraph) -> None:
    assert [one["id"][-2:] for one in find("Paris", engine)] == ["Q1", "Q2"]
    names = [one["name"] for one in find("Paris", engine)]
    assert names[0] == "Paris" != names[1]
    for name in ("Nowhere", "http://ex.org/none", 'x" } DROP'):
        with pytest.raises(InputError, match="no entity"):
            find(name, engine)
    with pytest.raises(InputError):
        engine.subgraph(["x> ?p ?o } #"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('engine = "sparql"', "url"),
        ('engine = "oxigraph"\npath = "gone"', "gone"),
        ('engine = "sparql"\nurl = "$KG_UNSET"', "KG_UNSET"),
        ('engine = "sparql"\nurl = "http://127.0.0.1:9/"', "cannot be asked"),
        ('engine = "sparql"\nurl = "ADDRESS"', "401"),
    ],
)
def test_a_wrong_engine_is_told(tmp_path: Path, address: str, text: str, said: str) -> None:
    path = write(tmp_path / "kg.toml", text.replace("ADDRESS", address))
    with pytest.raises(ConfigurationError, match=said):
        open_engine(path).node("http://ex.org/Q1")
