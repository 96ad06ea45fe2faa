"""ras-flow kg."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import Done, ras_flow
from tests.kg.test_store import write

FACTS = "Ada\tborn in\tLondon\nLondon\tin\tEngland\nBob\tborn in\tLondon\n"


def kg(*arguments: object) -> Done:
    """Run a command that succeeds."""
    done = ras_flow("kg", *map(str, arguments))
    assert done.code == 0, done.err
    return done


def test_a_graph_is_built_and_looked_into(tmp_path: Path) -> None:
    graph, facts = tmp_path / "kg", write(tmp_path / "facts.tsv", FACTS + "broken\n")
    refused = ras_flow("kg", "build", str(graph), str(facts), "--embed", "none")
    assert refused.code == 1 and "facts.tsv:4: " in refused.err and not graph.exists()
    built = kg("build", graph, facts, "--embed", "none", "--skip")
    assert "3 triples, 4 nodes" in built.out and "left out: 1" in built.err
    assert "files: all as they were written" in kg("info", graph, "--verify").out
    assert "born in: 2" in kg("info", graph).out
    [entity] = json.loads(kg("link", graph, "Where is ada from?", "--json").out)
    assert (entity["id"], entity["by"]) == ("Ada", "name")
    assert kg("facts", graph, "London").out.splitlines()[0] == "London | in | England"
    assert kg("paths", graph, "Ada", "England").out == ("Ada -[born in]-> London -[in]-> England\n")
    unknown = ras_flow("kg", "facts", str(graph), "Lodnon")
    assert unknown.code == 1 and "London" in unknown.err


def test_a_graph_and_an_index_are_told_apart_and_never_replace_each_other(tmp_path: Path) -> None:
    graph, index, facts = map(str, (tmp_path / "kg", tmp_path / "index", tmp_path / "facts.txt"))
    write(Path(facts), FACTS)
    kg("build", graph, write(tmp_path / "facts.tsv", FACTS), "--embed", "none")
    assert ras_flow("index", "build", index, facts, "--bm25-only").code == 0
    for wrong, use in (
        (["index", "info", graph], "`ras-flow kg info`"),
        (["index", "build", graph, facts, "--bm25-only"], "`ras-flow kg info`"),
        (["kg", "info", index], "`ras-flow index info`"),
        (["kg", "build", index, str(tmp_path / "facts.tsv"), "--embed", "none"], "index info"),
    ):
        refused = ras_flow(*wrong)
        assert refused.code == 1 and use in refused.err
    assert kg("info", graph).out and ras_flow("index", "info", index).code == 0
    assert (
        ras_flow("index", "list", str(tmp_path)).out.count(str(tmp_path)) == 2
    )  # With its source.
