"""Building a knowledge graph, and what its folder holds."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import DocumentError, IndexCorruptError, InputError, MissingExtraError
from ras_flow.formats.normalize import name_key
from ras_flow.formats.triples import Spo
from ras_flow.kg.build import build_kg
from ras_flow.kg.cutting import HUB, Edges, cut_out
from ras_flow.kg.names import form_hashes, make_unique
from ras_flow.kg.read import Faults
from ras_flow.kg.source import GraphSource
from ras_flow.kg.store import KnowledgeGraph
from tests.indexes.helpers import WordEncoder

FACTS = [
    ("Finlandia Hall", "designed by", "Alvar Aalto"),
    ("Alvar Aalto", "born in", "Kuortane"),
    ("Alvar Aalto", "born", '"1898"'),
    ("Villa Mairea", "designed by", "Alvar Aalto"),
]
_EX = "http://ex.org/"


def build(folder: Path, *files: Path, **options: object) -> KnowledgeGraph:
    """Build a graph."""
    return asyncio.run(build_kg(folder / "kg", files, **options))  # type: ignore[arg-type]


def facts_of(graph: KnowledgeGraph) -> list[Spo]:
    """Return all facts of a small graph by their names."""
    found = graph.subgraph(graph._ids.of(np.arange(len(graph))), 1)
    return [found.fact(at) for at in range(len(found))]


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, compressed if its name says so."""
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def made(folder: Path, *facts: tuple[str, str, str], **options: object) -> KnowledgeGraph:
    """Build a graph of facts."""
    return build(folder, write(folder / "facts.tsv", "\n".join(map("\t".join, facts))), **options)


def _rdf(name: str) -> str:
    return name if name[0] == '"' else f"<{_EX}{name.replace(' ', '_')}>"


def _as(kind: str) -> str:
    if kind == "tsv":
        return "\n".join(map("\t".join, FACTS))
    if kind == "jsonl":
        rows: list[object] = [{"triple": fact} for fact in FACTS[:2]]
        rows += [{"subject": s, "predicate": p, "object": o} for s, p, o in FACTS[2:]]
        return "\n".join(map(json.dumps, rows))
    statements = [" ".join(map(_rdf, fact)) for fact in FACTS]
    graph = f" <{_EX}graph>" if kind == "nq" else ""
    text = "".join(f"{one}{graph} .\n" for one in statements)
    if kind != "ttl":
        return text
    label = 'e:Alvar_Aalto rdfs:label "Alvar Aalto"@en, "アルヴァ・アールト"@ja .\n'
    return (
        f"@prefix e: <{_EX}> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f"{text.replace(f'<{_EX}Alvar_Aalto>', 'e:Alvar_Aalto')}{label}"
    )


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "nt", "nq", "ttl", "tsv.gz", "ttl.gz"])
def test_every_format_gives_the_same_facts(tmp_path: Path, kind: str) -> None:
    graph = build(tmp_path, write(tmp_path / f"facts.{kind}", _as(kind.split(".")[0])))
    assert sorted(facts_of(graph)) == sorted((s, p, o.strip('"')) for s, p, o in FACTS)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("a.tsv", b"x\ty"),
        ("a.tsv", b"x\t \ty"),
        ("a.tsv", b"x\tr\t\xff"),
        ("a.jsonl", b'{"triple": ["x", "y"]}'),
        ("a.jsonl", b'{"triple": '),
        ("a.nt", b"<http://x> <http://y> z ."),
        ("a.ttl", b"<http://x> <http://y z> ."),
    ],
)
def test_a_bad_line_is_named_and_skipped_if_asked(tmp_path: Path, name: str, bad: bytes) -> None:
    good = {
        ".tsv": b"s\tp\to\n",
        ".jsonl": b'{"triple": ["s", "p", "o"]}\n',
    }.get(Path(name).suffix, b"<http://e/s> <http://e/p> <http://e/o> .\n")
    path = write(tmp_path / name, good + bad + b"\n" + good.replace(b"s", b"t"))
    with pytest.raises(DocumentError, match=f"{name}:2: "):
        build(tmp_path, path)
    assert not (tmp_path / "kg").exists()
    graph = build(tmp_path, path, faults=(faults := Faults(skip=True)))
    assert faults.count == 1 and graph.manifest.triples >= 1


def test_labels_name_ids(tmp_path: Path) -> None:
    labels = write(tmp_path / "names.tsv", "Q1\tParis\tCity of Light\nQ3\tParis\nP1\tin\nQ9\tx\n")
    facts = [("Q1", "P1", "Q2"), ("Q1", "P1", "m.0x"), ("Q3", "P1", "Q2")]
    graph = made(tmp_path, *facts, labels=[labels])
    wanted = {("Paris", "in", "Q2"), ("Paris", "in", "m.0x"), ("Paris (Q3)", "in", "Q2")}
    assert set(facts_of(graph)) == wanted
    assert not graph.subgraph(["Q1"]).named[graph.subgraph(["Q1"]).ids.index("m.0x")]


def test_names_that_a_run_would_merge_stay_apart(tmp_path: Path) -> None:
    graph = made(tmp_path, ("Paris", "in", "France"), ("Helen", "loved by", "paris"))
    names = graph.subgraph(["Paris", "paris"]).entities
    assert len({name_key(name) for name in names}) == len(names) == 4


@given(st.lists(st.text("aAb (2)Q1é.", min_size=1, max_size=6), min_size=1, max_size=12))
def test_every_node_gets_a_name_of_its_own(names: list[str]) -> None:
    given = [name for name in names if name_key(name)]
    unique = list(given)
    weights = np.zeros(len(given), np.int64)
    make_unique(unique, [f"Q{at}" for at in range(len(given))], weights, form_hashes(given))
    assert len(set(map(name_key, unique))) == len(given)


def _edges(triples: np.ndarray, nodes: int, column: int) -> Edges:  # type: ignore[type-arg]
    rows = triples[np.argsort(triples[:, column], kind="stable")]
    counts = np.bincount(rows[:, column], minlength=nodes)
    begins = np.concatenate([[0], np.cumsum(counts)])
    return Edges(begins, rows[:, 1].astype(np.int32), rows[:, 2 - column].astype(np.int32))


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 9)), max_size=20),
    st.sets(st.integers(0, 9), max_size=3),
    st.integers(1, 3),
)
def test_the_walk_finds_what_a_plain_search_does(
    triples: set[tuple[int, int, int]], topics: set[int], depth: int
) -> None:
    ends = {8, 9}
    reached, expected = set(topics), set[tuple[int, int, int]]()
    frontier = set(topics)
    for _ in range(depth):
        step = {row for row in triples if row[0] in frontier or row[2] in frontier}
        expected |= step
        frontier = {node for row in step for node in (row[0], row[2])} - reached
        reached |= frontier
        frontier -= ends
    rows = np.array(sorted(triples), np.int64).reshape(-1, 3)
    found, cut = cut_out(
        [_edges(rows, 10, 0), _edges(rows, 10, 2)],
        np.array(sorted(topics), np.int64),
        depth,
        1000,
        near=np.zeros(3, np.float32),
        is_end=lambda nodes: nodes >= 8,
    )
    assert cut == 0 and list(map(tuple, found.tolist())) == sorted(expected)


def test_a_hub_is_cut_to_what_the_question_asks(tmp_path: Path) -> None:
    many = [(f"Person {at}", "lives in", "City") for at in range(2 * HUB)]
    asked = [("City", "governed by", f"Mayor {at}") for at in range(3)]
    rare = [("City", "twinned with", f"Town {at}") for at in range(2 * HUB)]
    graph = made(tmp_path, *many, *asked, *rare, encoder=WordEncoder())
    [vector] = asyncio.run(WordEncoder().encode(["twinned with"]))
    found = graph.subgraph(["City"], most=HUB, question=vector)
    assert len(found) == HUB and found.cut == 3 * HUB + 3
    assert {found.fact(at)[1] for at in range(len(found))} == {"twinned with"}
    first = graph.subgraph(["City"], most=HUB)
    assert "governed by" in {first.fact(at)[1] for at in range(len(first))}


def test_a_question_without_names_is_linked_by_vectors(tmp_path: Path) -> None:
    facts = [("red wine", "from", "grapes"), ("beer", "from", "hops")]
    graph = made(tmp_path, *facts, encoder=WordEncoder(), embed="all")
    [[entity]] = asyncio.run(GraphSource(graph, WordEncoder()).link(["wine of a red kind"]))
    assert (entity["id"], entity["by"]) == ("red wine", "vector")


def test_literals_are_not_walked_through(tmp_path: Path) -> None:
    graph = made(tmp_path, ("A", "born", '"1898"'), ("B", "born", '"1898"'), ("A", "x", "1898"))
    assert "B" not in graph.subgraph(["A"], depth=3).entities
    assert {"1898", "1898 (text)"} <= set(graph.subgraph(["A"]).entities)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    names = ["<script>x</script>", "\x1b[31mred", "S> a| P> b", "x" * 1_000_000, "()", "a\0b"]
    graph = made(tmp_path, *((name, "is", f"O{at}") for at, name in enumerate(names)))
    shown = [subject for subject, _, _ in facts_of(graph)]
    assert len(shown) == 6 and all(0 < len(name) <= 300 and name.isprintable() for name in shown)


_KILLED = """
import asyncio, os, sys
from pathlib import Path
from ras_flow.indexes import writer
from ras_flow.kg.build import build_kg
setattr(writer, sys.argv[1], lambda *given: os._exit(9))
asyncio.run(build_kg(Path(sys.argv[2]), [Path(sys.argv[3])]))
"""


def test_a_killed_build_leaves_the_old_graph(tmp_path: Path) -> None:
    made(tmp_path, ("old", "is", "here"))
    new = write(tmp_path / "new.tsv", "new\tis\there\n")
    folder = str(tmp_path / "kg")
    for step, left in (("write_manifest", "old"), ("_sweep", "new")):
        command = [sys.executable, "-c", _KILLED, step, folder, str(new)]
        assert subprocess.run(command, check=False).returncode == 9
        [(subject, _, _)] = facts_of(KnowledgeGraph.open(folder))
        assert subject == left
    assert facts_of(build(tmp_path, new)) == [("new", "is", "here")]
    assert len(list((tmp_path / "kg").glob("gen-*"))) == 1


@pytest.mark.parametrize("name", ["out_nodes.npy", "names.bytes.npy", "relations.json"])
def test_damage_is_found_on_opening(tmp_path: Path, name: str) -> None:
    graph = made(tmp_path, *FACTS)
    file = graph.path / graph.manifest.generation / name
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(IndexCorruptError, match=name):
        KnowledgeGraph.open(graph.path)


def test_rdf_names_its_extra_and_tsv_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    assert made(tmp_path, *FACTS).manifest.triples == len(FACTS)
    with pytest.raises(MissingExtraError, match=r"ras-flow\[kg\]"):
        build(tmp_path, write(tmp_path / "a.ttl", ""))
    with pytest.raises(InputError, match="no triples"):
        build(tmp_path, write(tmp_path / "b.tsv", "\n"))
