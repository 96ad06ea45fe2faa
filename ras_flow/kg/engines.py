"""Knowledge graphs elsewhere: a SPARQL server, or a store of Oxigraph, named by a TOML file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import httpx
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.normalize import name_key
from ras_flow.formats.text import scrub
from ras_flow.indexes.engines.config import SUFFIX, resolved
from ras_flow.kg.build import ALIAS_RELATIONS, LABEL_RELATIONS
from ras_flow.kg.cutting import MOST
from ras_flow.kg.graphs import Node
from ras_flow.kg.names import clean_name, default_name
from ras_flow.kg.subgraph import Subgraph
from ras_flow.support.extras import require
from ras_flow.support.validation import Settings, checked, load_toml

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Term = tuple[str, str]
"""An RDF term: ``"uri"``, ``"bnode"`` or ``"literal"``, and its text."""
_IRI = re.compile(r"[a-zA-Z][\w+.-]*:[^\s<>\"{}|\\^`]+")
_AT_ONCE = 50
_FRONTIER = 1_000


class KgEngine(Settings):
    """Where a graph is; a value that starts with ``$`` names an environment variable.

    Attributes:
        engine: ``"sparql"`` or ``"oxigraph"``.
        url: The SPARQL server's address for queries.
        path: The folder of Oxigraph's store.
        headers: Headers of the requests, such as ``authorization``.
        labels: IRIs of the relations that name entities.
        languages: Languages of the labels; an empty one for labels without.
        edges: Edges that are taken from each entity at most, each way.
        timeout: Seconds for a query.
    """

    engine: Literal["sparql", "oxigraph"]
    url: str = ""
    path: str = ""
    headers: dict[str, str] = {}
    labels: Annotated[tuple[str, ...], Field(strict=False)] = tuple(
        sorted(LABEL_RELATIONS | ALIAS_RELATIONS)
    )
    languages: Annotated[tuple[str, ...], Field(strict=False)] = ("", "en")
    edges: PositiveInt = 200
    timeout: PositiveFloat = 30.0

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        if not (self.url if self.engine == "sparql" else self.path):
            raise ValueError("give a server's `url`, or the `path` of Oxigraph's store.")
        if wrong := [iri for iri in self.labels if not _IRI.fullmatch(iri)]:
            raise ValueError(f"labels: {wrong[0]!r} is not an IRI.")
        return self


def is_engine(path: Path | str) -> bool:
    """Tell whether a path names a server or store instead of a folder."""
    return Path(path).suffix == SUFFIX


def open_engine(path: Path | str) -> SparqlGraph:
    """Open what a TOML file names.

    Raises:
        ConfigurationError: The file is wrong, or the store cannot be opened.
        MissingExtraError: Oxigraph needs the extra ``kg``.
    """
    path = Path(path)
    values = {name: resolved(path, name, value) for name, value in load_toml(path).items()}
    headers = values.get("headers")
    if isinstance(headers, dict):
        values["headers"] = {key: resolved(path, key, value) for key, value in headers.items()}
    config: KgEngine = checked(KgEngine, values, str(path))
    if config.engine == "sparql":
        return SparqlGraph(path.stem, config, _server(config))
    pyoxigraph = require("pyoxigraph", extra="kg")
    if not os.path.isdir(config.path):
        raise ConfigurationError(f"{path}: {config.path} is not a folder of Oxigraph.")
    try:
        store = pyoxigraph.Store.read_only(config.path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"Oxigraph cannot open {config.path} ({error}).") from error
    return SparqlGraph(path.stem, config, in_process(store))


Ask = Callable[[str], Iterable[Mapping[str, Term]]]
"""Puts a SELECT query, and returns its rows."""


def in_process(store: Any) -> Ask:
    """Return how a store of pyoxigraph is asked."""
    pyoxigraph = require("pyoxigraph", extra="kg")
    kinds = {
        pyoxigraph.NamedNode: "uri",
        pyoxigraph.BlankNode: "bnode",
        pyoxigraph.Literal: "literal",
    }

    def ask(query: str) -> Iterable[Mapping[str, Term]]:
        found = store.query(query)
        names = [variable.value for variable in found.variables]
        for row in found:
            terms = {name: row[name] for name in names if row[name] is not None}
            yield {
                name: (kinds[type(term)], str(term.value))
                for name, term in terms.items()
                if type(term) in kinds
            }

    return ask


def _server(config: KgEngine) -> Ask:
    """Return how a server is asked, by the SPARQL protocol."""
    accept = {"accept": "application/sparql-results+json", **config.headers}
    client = httpx.Client(headers=accept, timeout=config.timeout, follow_redirects=False)

    def ask(query: str) -> Iterable[Mapping[str, Term]]:
        try:
            reply = client.post(config.url, data={"query": query})
            reply.raise_for_status()
            rows = reply.json()["results"]["bindings"]
            return [
                {name: (_kind(term["type"]), scrub(term["value"])) for name, term in row.items()}
                for row in rows
            ]
        except httpx.HTTPStatusError as error:
            raise ConfigurationError(
                f"The SPARQL server refused a query ({error.response.status_code}): check url "
                "and headers."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ConfigurationError(
                f"The SPARQL server cannot be reached ({type(error).__name__}): check the url, or "
                "try again."
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                "The SPARQL server's reply is not SPARQL results in JSON: check the url."
            ) from error

    return ask


def _kind(kind: str) -> str:
    return "literal" if kind == "typed-literal" else kind


class SparqlGraph:
    """A :class:`ras_flow.kg.graphs.Graph` that is asked by SPARQL.

    Entities are linked by their labels as typed, or with capitals. Blank nodes are not walked
    through, since a later query cannot name them.
    """

    takes_vectors = None

    def __init__(self, name: str, config: KgEngine, ask: Ask) -> None:
        self.name = name
        self.identity = f"{name}@{config.engine}"
        self._config, self._ask = config, ask
        self._names: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._naming = Lock()
        self.relation_ids: dict[str, str] = {}

    def node(self, id: str) -> Node | None:
        """Return the node with an id."""
        if not _IRI.fullmatch(id):
            return None
        return next((node for node in self._nodes([id], 1.0) if node.degree), None)

    def _nodes(self, ids: Sequence[str], score: float) -> list[Node]:
        """Return nodes with their names and the number of their edges, most edges first."""
        rows = self._ask(
            f"SELECT ?e (COUNT(*) AS ?n) WHERE {{ VALUES ?e {{ {_iris(ids)} }} "
            "{ ?e ?p ?o } UNION { ?s ?p ?e } } GROUP BY ?e"
        )
        degrees = {row["e"][1]: int(row["n"][1]) for row in rows if "e" in row}
        ranked = sorted(ids, key=lambda id: (-degrees.get(id, 0), id))
        names = self._named(ranked)
        return [Node(id, names[id], degrees.get(id, 0), score, "name") for id in ranked]

    def named_all(
        self, names: Sequence[str], question: npt.NDArray[np.float32] | None = None
    ) -> list[list[Node]]:
        """Return the entities with each of some labels, those with the most edges first."""
        forms = {
            name: dict.fromkeys([name, name[:1].upper() + name[1:], name.title()]) for name in names
        }
        found: dict[str, list[str]] = {}
        every = list(dict.fromkeys(form for some in forms.values() for form in some))
        for start in range(0, len(every), _AT_ONCE):
            labels = " ".join(
                _literal(form) + (f"@{language}" if language else "")
                for form in every[start : start + _AT_ONCE]
                for language in self._config.languages
            )
            rows = self._ask(
                f"SELECT DISTINCT ?e ?l WHERE {{ VALUES ?l {{ {labels} }} "
                f"VALUES ?p {{ {_iris(self._config.labels)} }} ?e ?p ?l }} LIMIT 1000"
            )
            for row in rows:
                if row["e"][0] == "uri" and _IRI.fullmatch(row["e"][1]):
                    found.setdefault(row["l"][1], []).append(row["e"][1])
        ids = {
            name: list(dict.fromkeys(id for form in some for id in found.get(form, ())))
            for name, some in forms.items()
        }
        return [self._nodes(ids[name], 1.0) if ids[name] else [] for name in names]

    def similar(self, names: Sequence[str], most: int = 3, least: float = 0.6) -> list[list[Node]]:
        """Return nothing: SPARQL has no search for names that are spelled alike."""
        return [[] for _ in names]

    def nearest(self, question: npt.NDArray[np.float32], least: float = 0.4) -> list[Node]:
        """Return nothing: SPARQL has no vectors."""
        return []

    def subgraph(
        self,
        ids: Sequence[str],
        depth: int = 2,
        most: int = MOST,
        question: npt.NDArray[np.float32] | None = None,
    ) -> Subgraph:
        """Return the facts around entities; of a node with many edges the server chooses some."""
        if unknown := [id for id in ids if not _IRI.fullmatch(id)]:
            raise InputError(f"{unknown[0][:200]!r} is not the IRI of an entity.")
        triples: dict[tuple[str, str, str], None] = {}
        seen, frontier, cut = set(ids), list(dict.fromkeys(ids)), 0
        for _ in range(depth):
            cut += len(frontier[_FRONTIER:])
            found: list[str] = []
            for id in frontier[:_FRONTIER]:
                for way in (f"<{id}> ?p ?o", f"?o ?p <{id}>"):
                    for key, term in self._edges(id, way):
                        triples[key] = None
                        if term[0] == "uri" and term[1] not in seen and _IRI.fullmatch(term[1]):
                            seen.add(term[1])
                            found.append(term[1])
                if len(triples) > most:
                    break
            frontier = found
            if len(triples) > most:
                cut += len(triples) - most
                break
        return self._subgraph(list(triples)[:most], ids, cut)

    def _edges(self, id: str, way: str) -> Iterable[tuple[tuple[str, str, str], Term]]:
        rows = self._ask(f"SELECT ?p ?o WHERE {{ {way} }} LIMIT {self._config.edges}")
        for row in rows:
            link, (kind, text) = row["p"][1], row["o"]
            if link in self._config.labels or not text.strip():
                continue
            key = f'"{text}"' if kind == "literal" else f"_:{text}" if kind == "bnode" else text
            yield ((id, link, key) if way[0] == "<" else (key, link, id)), (kind, text)

    def _subgraph(
        self, triples: Sequence[tuple[str, str, str]], topics: Sequence[str], cut: int
    ) -> Subgraph:
        """Name what was found, each entity by a name of its own."""
        plain = Subgraph.of(triples, topics)
        names = self._named([*plain.ids, *plain.relations])
        self.relation_ids.update((names[id], id) for id in plain.relations)
        return Subgraph(
            entities=[names[id] for id in plain.ids],
            ids=plain.ids,
            named=plain.named | [names[id] != clean_name(id) for id in plain.ids],
            relations=[names[id] for id in plain.relations],
            triples=plain.triples,
            topics=plain.topics,
            cut=cut,
        )

    def _named(self, ids: Sequence[str]) -> dict[str, str]:
        """Return names of ids, each one's own: of homonyms the first that was seen is plain."""
        unknown = [id for id in dict.fromkeys(ids) if id not in self._names]
        labels: dict[str, str] = {}
        naming = _iris(iri for iri in self._config.labels if iri not in ALIAS_RELATIONS)
        for start in range(0, len(unknown), _AT_ONCE):
            some = _iris(unknown[start : start + _AT_ONCE])
            rows = self._ask(
                f"SELECT ?e ?l (LANG(?l) AS ?g) WHERE {{ VALUES ?p {{ {naming} }} "
                f"VALUES ?e {{ {some} }} ?e ?p ?l }} ORDER BY ?l"
            )
            for row in rows:
                if row.get("g", ("", ""))[1] in self._config.languages:
                    labels.setdefault(row["e"][1], clean_name(row["l"][1]))
        with self._naming:
            for id in unknown:
                name = labels.get(id) or clean_name(default_name(id)) or id
                if self._owners.setdefault(name_key(name), id) != id:
                    name = f"{name} ({clean_name(id)})"
                self._names.setdefault(id, name)
        return {id: self._names[id] for id in ids}


def _iris(ids: Iterable[str]) -> str:
    return " ".join(f"<{id}>" for id in ids if _IRI.fullmatch(id))


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\r\n\t]", " ", escaped) + '"'
