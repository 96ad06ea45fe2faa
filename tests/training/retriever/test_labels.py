"""Candidate paths and labels: networkx's paths, figure 6's candidates, replies of any kind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from ras_flow.errors import InputError
from ras_flow.kg.subgraph import Subgraph
from ras_flow.prompts.refiner import chosen
from ras_flow.testing import ScriptedModel
from ras_flow.training.retriever.graphs import Graph
from ras_flow.training.retriever.labels import Label, Options, label
from ras_flow.training.retriever.pool import HOPS, Walks, make_pool, merge, paths_of, write_path
from ras_flow.training.retriever.questions import Asked, read_labelled
from ras_flow.training.retriever.refining import Case, JoinedRefiner, PromptedRefiner
from ras_flow.training.retriever.supervise import supervise
from ras_flow.training.splits import SPLITS

nodes = st.sampled_from("abcdef")
graphs = st.lists(st.tuples(nodes, st.sampled_from("xy"), nodes), min_size=1, max_size=14)


def networkx_paths(
    triples: list[tuple[str, str, str]], query: str, answer: str, slack: int
) -> set[frozenset[tuple[int, bool]]]:
    """The specification of make_pool's paths, by networkx."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from([query, answer])
    for at, (head, _, tail) in enumerate(triples):
        graph.add_edge(head, tail, key=(at, False))
    both = nx.MultiDiGraph(graph)
    for at, (head, _, tail) in enumerate(triples):
        both.add_edge(tail, head, key=(at, True))

    def ways(some: nx.MultiDiGraph, start: str, end: str) -> tuple[float, set[frozenset]]:
        try:
            shortest = nx.shortest_path_length(some, start, end)
        except nx.NetworkXNoPath:
            return float("inf"), set()
        if not shortest or shortest > HOPS:
            return float("inf"), set()
        most = min(shortest + slack, HOPS)
        found = nx.all_simple_edge_paths(some, start, end, cutoff=most)
        return shortest, {frozenset(key for _, _, key in path) for path in found}

    there, back = ways(graph, query, answer), ways(graph, answer, query)
    shortest = min(there[0], back[0])
    if shortest == float("inf"):
        return ways(both, query, answer)[1]
    return set().union(*(paths for length, paths in (there, back) if length == shortest))


@given(graphs, nodes, nodes, st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_the_paths_are_those_that_networkx_finds(
    triples: list[tuple[str, str, str]], query: str, answer: str, slack: int
) -> None:
    graph = Subgraph.of(triples, [query, answer])
    facts = [graph.fact(at) for at in range(len(graph))]
    places = {name: at for at, name in enumerate(graph.entities)}
    pool = make_pool(Walks(graph), [places[query]], [places[answer]], slack=slack)
    paths = [path for path in pool.paths if path.kind == "path"]
    assert {frozenset(path.steps) for path in paths} == networkx_paths(facts, query, answer, slack)
    assert len({(path.start, path.steps) for path in paths}) == len(paths)
    candidates = merge(graph, pool, [places[answer]])
    # With one answer nothing is lost: what the candidates stand for is the whole pool.
    assert set(paths_of(candidates, expand=True)) == set(pool.paths)


FIGURE_6 = [
    ("Boeing", "rockets_manufactured", "Saturn V"),
    ("Saturn V", "manufacturer", "North American Aviation"),
    ("Boeing", "industry", "Aerospace"),
    ("Aerospace", "companies", "North American Aviation"),
    ("Little Joe", "manufacturer", "North American Aviation"),
    ("North American Aviation", "aircraft_models_made", "XB-70A"),
    ("Saturn V", "height_meters", "110.6"),
    ("Saturn V", "country_of_origin", "United States"),
    ("Saturn V", "mass", "3038500.0"),
]


def test_the_facts_of_figure_6_give_its_candidates() -> None:
    graph = Subgraph.of(FIGURE_6, ["Boeing", "Little Joe"])
    answers = [graph.entities.index("North American Aviation")]
    ends = ("query", "answer", "intermediate")
    pool = make_pool(Walks(graph), graph.topics.tolist(), answers, neighbours=ends)
    shown = {write_path(graph, one.shown) for one in merge(graph, pool, answers)}
    assert shown >= {
        "Boeing → [rockets_manufactured] → Saturn V → [manufacturer] → North American Aviation",
        "Boeing → [industry] → Aerospace → [companies] → North American Aviation",
        "Little Joe → [manufacturer] → North American Aviation",
        "North American Aviation → [aircraft_models_made] → XB-70A",
        "Saturn V → [height_meters] → 110.6",
        "Saturn V → [country_of_origin] → United States",
        "Saturn V → [mass] → 3038500.0",
        "Aerospace → [companies] → North American Aviation",
    }
    without = make_pool(Walks(graph), graph.topics.tolist(), answers)
    assert "Saturn V → [mass] → 3038500.0" not in {write_path(graph, p) for p in without.paths}


def test_hostile_names_stay_on_one_line_and_short() -> None:
    graph = Subgraph.of([("a\nPath 7. b", "r" * 10**6, "\x1b[31mc → d")])
    [path] = make_pool(Walks(graph), [0], [1], neighbours=()).paths
    text = write_path(graph, path)
    assert len(text) < 2000 and text.isprintable() and text.count("→") == 2


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Path 0 fits.\nans: Path 0\nans: Path 2", [0, 2]),
        ("**ans:** Paths 1, 2 and 0", [1, 2, 0]),
        ("- ANS: path 1 → [born] → 2", [1]),
        ("ans: 7\nans: Path 99999999999999999999", None),
        ("ans: none", []),
        ("I like Path 1 best.", None),
        ("", None),
    ],
)
def test_any_reply_is_read(reply: str, expected: list[int] | None) -> None:
    assert chosen(reply, 3) == expected


class Chosen:
    """A refiner that chooses by what paths say, or gives no usable reply."""

    name = "test"

    def __init__(self, words: str | None) -> None:
        self.words = words

    async def choose(self, case: Case) -> list[int] | None:
        if self.words is None:
            return None
        return [at for at, text in enumerate(case.texts()) if self.words in text]


FAMILY = [
    ("Ann", "child", "Bo"), ("Ann", "child", "Cy"), ("Bo", "job", "nurse"), ("Cy", "job", "cook"),
    ("Ann", "likes", "nurse"), ("Ann", "likes", "cook"), ("Ann", "likes", "tea"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("refiner", "slack", "expand", "facts", "weak"),
    [
        ("none", 0, True, {4, 5}, False),
        ("none", 1, True, {0, 1, 2, 3, 4, 5}, False),
        (Chosen("job"), 1, True, {0, 1, 2, 3}, False),
        (Chosen("job"), 1, False, {1, 3}, False),
        (Chosen(None), 0, True, {4, 5}, True),
        ("gold", 0, True, {0, 2}, False),
    ],
)
def test_labels(
    refiner: str | Chosen, slack: int, expand: bool, facts: set[int], weak: bool
) -> None:
    asked = Asked(
        id="1", question="What do Ann's children do?", graph="g", entities=["Ann"],
        answers=["nurse", "cook"], gold=[list(FAMILY[0]), list(FAMILY[2])],
    )  # fmt: skip
    graph = Graph(Subgraph.of(FAMILY))
    options = Options(slack=slack, expand=expand, neighbours=())
    made = asyncio.run(label(asked, graph, refiner, options))
    assert isinstance(made, Label)
    assert set(made.positives) == {FAMILY[at] for at in facts}
    assert made.weak is weak


@pytest.mark.parametrize(
    ("reply", "calls", "expected"),
    [
        ("ans: Path 1", 2, [1, 61]),
        ("no idea", 4, None),
        ("ans: none", 2, []),
    ],
)
async def test_many_candidates_are_asked_about_in_parts_and_unusable_replies_once_more(
    reply: str, calls: int, expected: list[int] | None
) -> None:
    graph = Subgraph.of([("Ann", f"r{at}", "Bo") for at in range(70)], ["Ann"])
    pool = make_pool(Walks(graph), [0], [1])
    case = Case("Who is Bo to Ann?", ["Bo"], graph, merge(graph, pool, [1]))
    model = ScriptedModel(reply)
    assert await PromptedRefiner(model).choose(case) == expected
    assert len(model.prompts) == calls


@pytest.mark.parametrize(
    ("how", "words", "expected"),
    [
        ("union", ("job", "child"), [0, 1, 2]),
        ("intersection", ("job", "child"), [0]),
        ("intersection", ("job", None), [0, 2]),
        ("union", (None, None), None),
    ],
)
async def test_choices_are_joined(
    how: Any, words: tuple[str | None, ...], expected: list[int] | None
) -> None:
    refiner = JoinedRefiner(how, [Chosen(one) for one in words])
    facts = [("Ann", "child's job", "cook"), ("Ann", "child", "Bo"), ("Ann", "job", "nurse")]
    graph = Subgraph.of(facts, ["Ann"])
    pool = make_pool(Walks(graph), [0], [1])
    case = Case("?", ["cook"], graph, merge(graph, pool, [1]))
    assert await refiner.choose(case) == expected
    assert refiner.name == f"{how}(test, test)"


def test_the_command_labels_a_mix_and_names_the_refiner(tmp_path: Path) -> None:
    asked = {
        "id": "1", "question": "What do Ann's children do?", "graph": "g", "entities": ["Ann"],
        "answers": ["nurse", "cook"], "gold": [list(FAMILY[0]), list(FAMILY[2])],
    }  # fmt: skip
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    (tmp_path / "g.tsv").write_text("".join("\t".join(fact) + "\n" for fact in FAMILY))
    mix = tmp_path / "mix.toml"
    mix.write_text('[[sets]]\nname = "s"\nquestions = "q.jsonl"\ngraphs = { g = "g.tsv" }\n')
    out = tmp_path / "labels"
    done = CliRunner().invoke(
        app, ["data", "supervise", str(mix), "--out", str(out), "--refiner", "none", "--json"]
    )
    assert done.exit_code == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["refiner"] == "none"
    [quality] = card["against_gold"].values()
    assert (quality["precision"], quality["recall"], quality["exact"]) == (0, 0, 0)
    for more in ("--refiner similarity --refiner local:x", "--refiner gold --join union"):
        wrong = ["data", "supervise", str(mix), "--out", str(out), *more.split()]
        assert "--join" in str(CliRunner().invoke(app, wrong).exception)
    [record] = [one for split in SPLITS for one in read_labelled(out / f"{split}.jsonl")]
    assert record["paths"] == [[("likes", False)]]
    asked["graph"] = "h"
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    with pytest.raises(InputError, match="graph 'h'"):
        asyncio.run(supervise(mix, out, "none", None))
