"""The graph encoder: every shape of graph, batched as one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.gnn import GraphEncoder
from ras_flow.parts import AttributedGraph
from tests.graph_llm.tiny import APART, BRIDGE, FAILED, HALF, LOOP, graph

KINDS = ("transformer", "gat", "gcn")
MODES = list(product(("per_hop", "merged"), ("one", "per_hop")))


def encoder(**changes: Any) -> GraphEncoder:
    torch.manual_seed(1)
    config = GnnConfig(**({"hidden": 16, "heads": 2, "layers": 3} | changes))
    made = GraphEncoder(config, 8).eval()
    torch.nn.init.normal_(made.empty)
    return made


def lone_node() -> AttributedGraph:
    pair = graph([("x", "is", "y")])
    return AttributedGraph(
        nodes=["x"],
        node_attr=pair.node_attr[:1],
        edges=[],
        edge_attr=np.zeros((0, 8), dtype=np.float32),
        edge_index=np.zeros((2, 0), dtype=np.int64),
        hops=[],
        query_attr=np.zeros((0, 8), dtype=np.float32),
    )


def graphs() -> list[AttributedGraph | None]:
    made = [graph(*hops) for hops in (BRIDGE, LOOP, APART, HALF, FAILED, [])]
    return [*made, lone_node(), None, graph()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scope, tokens", MODES)
@pytest.mark.parametrize("queries", [False, True])
def test_batched_equals_one_by_one_in_any_order(
    kind: str, scope: str, tokens: str, queries: bool
) -> None:
    model = encoder(kind=kind, scope=scope, tokens=tokens, queries=queries)
    several = graphs()
    with torch.no_grad():
        together = model(several)
        backwards = model(several[::-1])[::-1]
        alone = [model([one])[0] for one in several]
    for a, b, c, given in zip(together, backwards, alone, several, strict=True):
        assert a.shape == (model.config.count_tokens(given), 16)
        torch.testing.assert_close(a, c, atol=1e-5, rtol=0)
        torch.testing.assert_close(b, c, atol=1e-5, rtol=0)
    assert model([]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_hop_is_encoded_by_itself_and_hops_are_averaged(kind: str) -> None:
    """Appendix D.2."""
    model = encoder(kind=kind)
    with torch.no_grad():
        first, second, both = model([graph(BRIDGE[0]), graph(BRIDGE[1]), graph(*BRIDGE)])
        per_hop = encoder(kind=kind, tokens="per_hop")([graph(*BRIDGE)])[0]
    torch.testing.assert_close(both, (first + second) / 2)
    torch.testing.assert_close(per_hop, torch.cat([first, second]))


def test_in_the_union_a_hop_hears_of_the_others() -> None:
    apart, union = encoder(tokens="per_hop"), encoder(tokens="per_hop", scope="merged")
    changed = [BRIDGE[0], [("Mira Lund", "enemy of", "Leo Fahr")]]
    with torch.no_grad():
        kept, moved = (model([graph(*BRIDGE), graph(*changed)]) for model in (apart, union))
    assert torch.allclose(kept[0][0], kept[1][0])
    assert not torch.allclose(moved[0][0], moved[1][0])


@pytest.mark.parametrize("scope, tokens", MODES)
def test_nothing_found_is_a_vector_that_is_learned(scope: str, tokens: str) -> None:
    model = encoder(scope=scope, tokens=tokens)
    for nothing in (None, graph(), graph(*FAILED), graph(*FAILED[:1])):
        for vector in model([nothing])[0]:
            assert torch.equal(vector, model.empty)
    assert not torch.equal(GraphEncoder(model.config, 8)([None])[0], model.empty)
    assert GraphEncoder(model.config, 8).empty.requires_grad


@pytest.mark.parametrize("kind", KINDS)
def test_relations_and_their_direction_matter_but_to_a_graph_convolution(kind: str) -> None:
    model = encoder(kind=kind)
    rest = ("Bo", "knows", "Cy")
    one, other, turned, linked = model([
        graph([("Ann", "mother of", "Bo"), rest]),
        graph([("Ann", "murderer of", "Bo"), rest]),
        graph([("Bo", "mother of", "Ann"), rest]),
        graph([("Ann", "mother of", "Bo"), ("Ann", "knows", "Cy")]),
    ])  # fmt: skip
    assert torch.allclose(one, other) == torch.allclose(one, turned) == (kind == "gcn")
    assert not torch.allclose(one, linked)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hops", [BRIDGE, FAILED])
def test_every_weight_gets_a_gradient_even_if_all_graphs_are_empty(kind: str, hops: Any) -> None:
    """Training on several devices waits for each weight's gradient."""
    model = encoder(kind=kind)
    torch.cat(model([graph(*hops), graph(*hops)])).square().sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []
    assert (model.empty.grad.abs().sum() > 0) == (hops is FAILED)


@pytest.mark.parametrize("scope", ["per_hop", "merged"])
@pytest.mark.parametrize("hops", [BRIDGE, HALF[::-1]], ids=["found", "found nothing at first"])
def test_the_question_counts_in_each_hop_if_subqueries_are_nodes(scope: str, hops: Any) -> None:
    given = graph(*hops)
    asked = given.query_attr.copy()
    asked[0] += 1
    for queries in (False, True):
        model = encoder(scope=scope, tokens="per_hop", queries=queries)
        with torch.no_grad():
            [one], [two] = model([given]), model([replace(given, query_attr=asked)])
        assert torch.equal(one[1], two[1]) is not queries


def test_a_hop_without_triples_counts_as_one() -> None:
    model = encoder()
    with torch.no_grad():
        half, whole = model([graph(*HALF), graph(HALF[0])])
    torch.testing.assert_close(half, (whole + model.empty) / 2)
