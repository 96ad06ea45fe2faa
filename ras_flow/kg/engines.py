"""Knowledge graphs elsewhere: a SPARQL server, or a store of Oxigraph, named by a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal, Self

import httpx
import numpy as np
import numpy.typing as npt
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.node_ids import default_name
from ras_flow.formats.normalize import name_key
from ras_flow.formats.text import scrub
from ras_flow.formats.triples import Spo
from ras_flow.indexes.engines.config import resolved
from ras_flow.kg.cutting import MOST
from ras_flow.kg.names import ALIAS_RELATIONS, LABEL_RELATIONS, clean_name
from ras_flow.kg.store import Node
from ras_flow.kg.subgraph import Subgraph
from ras_flow.support.extras import require
from ras_flow.support.validation import Settings, Texts, checked, load_toml

_IRI = re.compile(r"[a-zA-Z][\w+.-]*:[^\s<>\"{}|\\^`]+")
_AT_ONCE = 50
_FRONTIER = 1_000


class KgEngine(Settings):
    """Where a graph is; a value that starts with ``$`` names an environment variable.

    Attributes:
        url: The SPARQL server's address for queries, with ``headers`` such as ``authorization``.
        path: The folder of Oxigraph's store.
        labels: IRIs of the relations that name entities.
        languages: Languages of the labels; an empty one for labels without.
        edges: Edges of an entity on average, each way, at most.
        timeout: Seconds for a query.
    """

    engine: Literal["sparql", "oxigraph"]
    url: str = ""
    path: str = ""
    headers: dict[str, str] = {}
    labels: Annotated[Texts, Field(min_length=1)] = tuple(sorted(LABEL_RELATIONS | ALIAS_RELATIONS))
    languages: Annotated[Texts, Field(min_length=1)] = ("", "en")
    edges: PositiveInt = 200
    timeout: PositiveFloat = 30.0

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        if not (self.url if self.engine == "sparql" else self.path):
            raise ValueError("give a server's `url`, or the `path` of Oxigraph's store.")
        if wrong := [iri for iri in self.labels if not _IRI.fullmatch(iri)]:
            raise ValueError(f"labels: {wrong[0]!r} is not an IRI.")
        if wrong := [one for one in self.languages if not re.fullmatch(r"[\w-]*", one)]:
            raise ValueError(f"languages: {wrong[0]!r} is not a language.")
        return self


def open_engine(path: Path | str) -> SparqlGraph:
    """Open what a TOML file names."""
    path = Path(path)
    values = {name: resolved(path, name, value) for name, value in load_toml(path).items()}
    if isinstance(headers := values.get("headers"), dict):
        values["headers"] = {key: resolved(path, key, value) for key, value in headers.items()}
    config: KgEngine = checked(KgEngine, values, str(path))
    ask = _server(config) if config.engine == "sparql" else _oxigraph(config)
    return SparqlGraph(path.stem, config, ask)


Ask = Callable[[str], bytes]
"""Puts a SELECT query, and returns its results in JSON."""


def _oxigraph(config: KgEngine) -> Ask:
    pyoxigraph = require("pyoxigraph", extra="kg")
    try:
        store = pyoxigraph.Store.read_only(config.path)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"Oxigraph cannot open {config.path} ({error}).") from error
    form = pyoxigraph.QueryResultsFormat.JSON
    return lambda query: bytes(store.query(query).serialize(format=form))


def _server(config: KgEngine) -> Ask:
    accept = {"accept": "application/sparql-results+json", **config.headers}
    client = httpx.Client(headers=accept, timeout=config.timeout)

    def ask(query: str) -> bytes:
        try:
            reply = client.post(config.url, data={"query": query})
            reply.raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = type(error).__name__
            if isinstance(error, httpx.HTTPStatusError):
                why = f"it answered {error.response.status_code}"
            raise ConfigurationError(
                f"The SPARQL server cannot be asked ({why}): check url and headers, or try again."
            ) from None
        return reply.content

    return ask


class SparqlGraph:
    """A graph that is asked by SPARQL, as :class:`ras_flow.kg.store.KnowledgeGraph` is.

    Entities are linked by their labels as typed, or with capitals; similar names and vectors are
    not looked for. Blank nodes are not walked through, since a later query cannot name them.
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

    def _rows(self, query: str) -> Iterator[dict[str, tuple[str, str]]]:
        """Yield the rows of a query: the kind and the text of each of its variables."""
        try:
            for row in json.loads(self._ask(query))["results"]["bindings"]:
                yield {name: (term["type"], scrub(term["value"])) for name, term in row.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigurationError(
                f"{self.name} does not answer with SPARQL results in JSON: check the url."
            ) from error

    def node(self, id: str) -> Node | None:
        """Return the node with an id."""
        return next((node for node in self._nodes([id]) if node.degree), None)

    def _nodes(self, ids: Sequence[str]) -> list[Node]:
        """Return nodes with their names, those with the most edges first."""
        if not (ids := [id for id in ids if _IRI.fullmatch(id)]):
            return []
        rows = self._rows(
            f"SELECT ?e (COUNT(*) AS ?n) WHERE {{ VALUES ?e {{ {_iris(ids)} }} "
            "{ ?e ?p ?o } UNION { ?s ?p ?e } } GROUP BY ?e"
        )
        degrees = {row["e"][1]: int(row["n"][1]) for row in rows if "e" in row}
        ranked = sorted(ids, key=lambda id: (-degrees.get(id, 0), id))
        names = self._named(ranked)
        return [Node(id, names[id], degrees.get(id, 0)) for id in ranked]

    def named_all(
        self, names: Sequence[str], question: npt.NDArray[np.float32] | None = None
    ) -> list[list[Node]]:
        """Return the entities with each of some labels, those with the most edges first."""
        forms = [dict.fromkeys([one, one[:1].upper() + one[1:], one.title()]) for one in names]
        every = list(dict.fromkeys(form for some in forms for form in some))
        found: dict[str, list[str]] = {}
        for part in _parts(every):
            labels = " ".join(
                json.dumps(form, ensure_ascii=False) + (f"@{language}" if language else "")
                for form in part
                for language in self._config.languages
            )
            for row in self._rows(
                f"SELECT DISTINCT ?e ?l WHERE {{ VALUES ?l {{ {labels} }} "
                f"VALUES ?p {{ {_iris(self._config.labels)} }} ?e ?p ?l }} LIMIT 1000"
            ):
                found.setdefault(row["l"][1], []).append(row["e"][1])
        return [
            self._nodes(list(dict.fromkeys(id for form in some for id in found.get(form, ()))))
            for some in forms
        ]

    def similar(self, names: Sequence[str], most: int = 3, least: float = 0.6) -> list[list[Node]]:
        """Return nothing: SPARQL cannot search for it."""
        return [[] for _ in names]

    def nearest(self, question: npt.NDArray[np.float32]) -> list[Node]:
        """Return nothing: SPARQL cannot search for it."""
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
        triples: dict[Spo, None] = {}
        seen, frontier, cut = set(ids), list(dict.fromkeys(ids)), 0
        for _ in range(depth):
            cut += len(frontier[_FRONTIER:])
            ends: dict[str, None] = {}
            for some in _parts(frontier[:_FRONTIER]):
                edges, full = self._edges(some)
                cut += full
                triples |= dict.fromkeys(triple for triple, _ in edges)
                ends |= dict.fromkeys(end for _, end in edges if end)
            frontier = [end for end in ends if end not in seen]
            seen.update(frontier)
            if len(triples) > most:
                break
        kept = list(triples)[:most]
        plain = Subgraph.of(kept, ids)
        names = self._named([*plain.ids, *plain.relations])
        self.relation_ids.update((names[id], id) for id in plain.relations)
        return replace(
            plain,
            entities=[names[id] for id in plain.ids],
            named=plain.named | [names[id] != clean_name(id) for id in plain.ids],
            relations=[names[id] for id in plain.relations],
            cut=cut + len(triples) - len(kept),
        )

    def _edges(self, ids: Sequence[str]) -> tuple[list[tuple[Spo, str]], int]:
        """Return edges, each with the end to go on from if any, and how often more may exist."""
        found: list[tuple[Spo, str]] = []
        most, full = self._config.edges * len(ids), 0
        for way in ("?e ?p ?o", "?o ?p ?e"):
            query = f"SELECT ?e ?p ?o WHERE {{ VALUES ?e {{ {_iris(ids)} }} {way} }} LIMIT {most}"
            rows = list(self._rows(query))
            full += len(rows) == most
            for row in rows:
                (_, id), (_, link), (kind, text) = row["e"], row["p"], row["o"]
                if link in self._config.labels or not text.strip():
                    continue
                key = {"uri": text, "bnode": f"_:{text}"}.get(kind, f'"{text}"')
                end = text if kind == "uri" and _IRI.fullmatch(text) else ""
                found.append(((id, link, key) if way[1] == "e" else (key, link, id), end))
        return found, full

    def _named(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return names of ids, each one's own: of homonyms the first that was seen is plain."""
        unknown = [id for id in dict.fromkeys(ids) if id not in self._names]
        labels: dict[str, str] = {}
        naming = _iris(iri for iri in self._config.labels if iri not in ALIAS_RELATIONS)
        for part in _parts(unknown):
            for row in self._rows(
                f"SELECT ?e ?l (LANG(?l) AS ?g) WHERE {{ VALUES ?p {{ {naming} }} "
                f"VALUES ?e {{ {_iris(part)} }} ?e ?p ?l }} ORDER BY ?l"
            ):
                if row.get("g", ("", ""))[1] in self._config.languages:
                    labels.setdefault(row["e"][1], clean_name(row["l"][1]))
        with self._naming:
            for id in unknown:
                name = labels.get(id) or clean_name(default_name(id)) or id
                if self._owners.setdefault(name_key(name), id) != id:
                    name = f"{name} ({clean_name(id)})"
                self._names.setdefault(id, name)
        return self._names


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many as one query takes."""
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _iris(ids: Iterable[str]) -> str:
    return " ".join(f"<{id}>" for id in ids if _IRI.fullmatch(id))
