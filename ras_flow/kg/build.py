"""Building a knowledge graph's folder from files of triples."""

from __future__ import annotations

import asyncio
import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ras_flow.documents.index_folders import GRAPH
from ras_flow.errors import InputError
from ras_flow.formats.node_ids import default_name, is_literal, is_nameless
from ras_flow.indexes.manifest import EncoderRecord
from ras_flow.indexes.texts import write_texts
from ras_flow.indexes.writer import in_thread, record_files, write_generation, write_lock
from ras_flow.kg import manifest as stored
from ras_flow.kg.manifest import KgManifest, edge_files
from ras_flow.kg.names import ALIAS_RELATIONS, LABEL_RELATIONS, clean_name, form_hashes, make_unique
from ras_flow.kg.read import Faults, Row, read_labels, read_triples
from ras_flow.kg.retrievers.batch import relation_text
from ras_flow.kg.store import LITERAL, NAMED, KnowledgeGraph
from ras_flow.parts.protocols import SentenceEncoder

Embed = Literal["none", "relations", "all"]
OnProgress = Callable[[str, int], None]
"""Told what is done, and how much of it."""

_TOLD = 100_000
_EMBEDDED = 512


class Collected:
    """Triples in memory: 12 bytes each, and every id once."""

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.relations: dict[str, int] = {}
        self.heads, self.links, self.tails = array("i"), array("i"), array("i")
        self._labels: dict[str, tuple[bool, str]] = {}
        self.aliases: list[tuple[str, str]] = []

    def add(self, rows: Iterable[Row], progress: OnProgress | None = None) -> None:
        """Add triples; those that state names are kept as names."""
        nodes, relations = self.nodes, self.relations
        heads, links, tails = self.heads.append, self.links.append, self.tails.append
        for number, (subject, predicate, object, language) in enumerate(rows, start=1):
            link = relations.get(predicate)
            if link is None:
                if predicate in LABEL_RELATIONS or predicate in ALIAS_RELATIONS:
                    text = object if language is None else object[1:-1]
                    self.name(subject, text, language or "", predicate in LABEL_RELATIONS)
                    continue
                link = relations[predicate] = len(relations)
            heads(nodes.setdefault(subject, len(nodes)))
            links(link)
            tails(nodes.setdefault(object, len(nodes)))
            if progress and number % _TOLD == 0:
                progress("triples read", number)

    def name(self, key: str, text: str, language: str = "", is_label: bool = True) -> None:
        """Note a name; of several labels the first one in English, or in no language, counts."""
        foreign = language.partition("-")[0] not in ("", "en")
        known = self._labels.get(key)
        if is_label and (known is None or (known[0] and not foreign)):
            self._labels[key] = foreign, text
            if known is None:
                return
            text = known[1]
        self.aliases.append((key, text))

    def names(self, keys: Iterable[str]) -> list[str]:
        """Return the names of ids, cleaned; that of a nameless id is the id itself."""
        labels = self._labels
        return [
            (clean_name(labels[key][1]) if key in labels else "")
            or clean_name(default_name(key))
            or clean_name(f"id {key.encode(errors='replace').hex()[:16]}")
            for key in keys
        ]

    def flag(self, key: str) -> int:
        """Return what kind of node an id is."""
        if is_literal(key):
            return LITERAL | NAMED
        return NAMED if key in self._labels or not is_nameless(key) else 0


async def build_kg(
    path: Path | str,
    files: Sequence[Path],
    *,
    labels: Sequence[Path] = (),
    kb: str | None = None,
    encoder: SentenceEncoder | None = None,
    embed: Embed = "relations",
    faults: Faults | None = None,
    progress: OnProgress | None = None,
) -> KnowledgeGraph:
    """Build a knowledge graph in a folder; one that is there is replaced when it is complete.

    ``labels`` are files of names; those of ids that no triple has are left out. Of JSON lines that
    name a ``kb``, those of this one are read. ``encoder`` makes vectors of relations, by which hubs
    are cut to what a question asks, or of all entities too. ``faults`` takes what cannot be read,
    which is an error by default.
    """
    path = Path(path)
    found = faults or Faults(skip=False)

    def read() -> Collected:
        collected = Collected()
        collected.add(read_triples(files, found, kb), progress)
        for key, (label, *others) in read_labels(labels, found):
            if key in collected.nodes or key in collected.relations:
                collected.name(key, label)
                for other in others:
                    collected.name(key, other, is_label=False)
        if not collected.heads:
            raise InputError("These files have no triples: name others.")
        return collected

    collected = await in_thread(read)

    async def write(folder: Path) -> KgManifest:
        names, relations, triples = await in_thread(_write, folder, collected, progress)
        texts: dict[str, list[str]] = {}
        if by := encoder if embed != "none" else None:
            texts[stored.RELATION_VECTORS] = list(map(relation_text, relations))
            texts |= {stored.VECTORS: names} if embed == "all" else {}
            for file, some in texts.items():
                await _embed(folder / file, some, by, progress)
        return KgManifest(
            generation=folder.name,
            files=await in_thread(record_files, folder, [*stored.STORED, *texts]),
            nodes=len(names),
            relations=len(relations),
            triples=triples,
            embedder=EncoderRecord(by.identity, by.dimension) if by else None,
        )

    async with write_lock(path, GRAPH):
        await write_generation(path, write, None)
    return await asyncio.to_thread(KnowledgeGraph.open, path)


def _write(
    folder: Path, collected: Collected, progress: OnProgress | None
) -> tuple[list[str], list[str], int]:
    """Write a graph; return the names of its nodes and relations, and how many triples it has."""
    ids, edges = _numbered(collected)
    relation_ids = list(collected.relations)
    kept, weights = _write_edges(folder, edges, len(ids))
    if progress:
        progress("triples written", kept)
    write_texts(folder, stored.IDS, ids)
    flags = np.fromiter(map(collected.flag, ids), np.uint8, len(ids))
    np.save(folder / stored.FLAGS, flags)
    names = collected.names(ids)
    forms = form_hashes(names)
    _write_forms(folder, ids, forms, flags == NAMED, collected)
    make_unique(names, ids, weights, forms)
    write_texts(folder, stored.NAMES, names)
    relations = collected.names(relation_ids)
    uses = np.bincount(edges[1], minlength=len(relations))
    make_unique(relations, relation_ids, uses, form_hashes(relations))
    rows = zip(relation_ids, relations, uses.tolist(), strict=True)
    (folder / stored.RELATIONS).write_text(json.dumps(list(rows)), encoding="utf-8")
    if progress:
        progress("names written", len(names))
    return names, relations, kept


def _numbered(collected: Collected) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
    """Number nodes and relations in the order of their ids, whatever the order of the files."""
    ids = sorted(collected.nodes)
    place = _places(collected.nodes, ids)
    collected.nodes.clear()
    relations = sorted(collected.relations)
    link = _places(collected.relations, relations)
    collected.relations = {key: number for number, key in enumerate(relations)}
    parts = (place, collected.heads), (link, collected.links), (place, collected.tails)
    edges = [turned[np.frombuffer(part, np.int32)] for turned, part in parts]
    collected.heads = collected.links = collected.tails = array("i")
    return ids, edges


def _places(numbers: Mapping[str, int], ordered: Sequence[str]) -> npt.NDArray[np.int32]:
    """Return the place in an order by the number."""
    place = np.empty(len(ordered), np.int32)
    old = np.fromiter(map(numbers.__getitem__, ordered), np.int64, len(ordered))
    place[old] = np.arange(len(ordered), dtype=np.int32)
    return place


def _write_edges(
    folder: Path, edges: list[npt.NDArray[np.int32]], nodes: int
) -> tuple[int, npt.NDArray[np.int64]]:
    """Write each edge once, by its head and by its tail; return how many, and each node's."""
    heads, links, tails = edges
    order = np.lexsort((tails, links, heads))
    heads, links, tails = heads[order], links[order], tails[order]
    del order
    new = np.ones(len(heads), bool)
    new[1:] = (heads[1:] != heads[:-1]) | (links[1:] != links[:-1]) | (tails[1:] != tails[:-1])
    edges[:] = heads, links, tails = heads[new], links[new], tails[new]
    weights = np.zeros(nodes, np.int64)
    for way, ends, others in (("out", heads, tails), ("in", tails, heads)):
        index_file, links_file, nodes_file = edge_files(way)
        if way == "in":
            order = np.lexsort((heads, links, tails))
            links, others = links[order], others[order]
        counts = np.bincount(ends, minlength=nodes)
        weights += counts
        np.save(folder / index_file, np.concatenate([[0], np.cumsum(counts)]))
        np.save(folder / links_file, links)
        np.save(folder / nodes_file, others)
    return len(heads), weights


def _write_forms(
    folder: Path,
    ids: list[str],
    forms: npt.NDArray[np.uint64],
    linkable: npt.NDArray[np.bool_],
    collected: Collected,
) -> None:
    """Write which nodes have a name, and (as complements) an alias, by its normalised form."""
    place = {key: number for number, key in enumerate(ids)} if collected.aliases else {}
    aliases = [
        (place[key], name)
        for key, text in collected.aliases
        if key in place and linkable[place[key]] and (name := clean_name(text))
    ]
    own = np.flatnonzero(linkable)
    keys = np.concatenate([forms[own], form_hashes(name for _, name in aliases)])
    numbers = np.concatenate(
        [own.astype(np.int32), np.array([~number for number, _ in aliases], dtype=np.int32)]
    )
    order = np.argsort(keys, kind="stable")
    np.save(folder / stored.FORMS, keys[order])
    np.save(folder / stored.FORM_NODES, numbers[order])


async def _embed(
    path: Path, texts: Sequence[str], encoder: SentenceEncoder, progress: OnProgress | None
) -> None:
    """Write the vectors of texts."""
    shape = (len(texts), encoder.dimension)
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for start in range(0, len(texts), _EMBEDDED):
        part = texts[start : start + _EMBEDDED]
        vectors[start : start + len(part)] = await encoder.encode(part)
        if progress:
            progress("texts embedded", start + len(part))
    vectors.flush()
