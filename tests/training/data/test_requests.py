from __future__ import annotations

import pytest

from ras_flow.formats.history import format_history
from ras_flow.formats.plan import parse_plan
from ras_flow.parts import AnswerRequest, PlanRequest
from ras_flow.settings.tasks import TASKS
from ras_flow.state.kg import QueryKG, by_hop
from ras_flow.training.data.requests import as_graph, as_request, target_text
from recipes.graph_llm.noise import Noise
from tests.recipes.graph_llm.test_rollout import play, told


def test_the_graph_of_a_record_gives_its_chain_back() -> None:
    records = [record for seed in range(15) for record in play(noise=Noise(), seed=seed)]
    for record in records:
        triples, hops = as_graph(record)
        seen = QueryKG.from_triples(triples).triples
        chain = [
            {
                "subquery": hop["subquery"],
                "triples": [
                    [seen[id]["subject"], seen[id]["predicate"], seen[id]["object"]] for id in ids
                ],
            }
            for hop, ids in zip(hops, by_hop(seen, hops), strict=True)
        ]
        assert chain == [dict(link) for link in record["chain"]]


def test_a_record_is_asked_as_at_inference() -> None:
    plan, answer = play()[1], play()[-1]
    request = as_request(plan)
    assert isinstance(request, PlanRequest)
    text = format_history(request.question, request.chain).text
    assert text.startswith("[SUBQ] When was the director of Salt Road born?\nRetrieved Graph")
    assert "(S> Salt Road| P> director| O> Aino Laine)" in text
    assert parse_plan(target_text(plan)).subquery == "When was Aino Laine born?"
    assert isinstance(as_request(answer), AnswerRequest)
    assert target_text(answer) == "3 May 1921"


@pytest.mark.parametrize("name", TASKS)
def test_an_answer_may_be_as_long_as_in_a_run_of_its_task(name: str) -> None:
    task = TASKS[name]
    request = as_request({**play()[-1], "instruction": task.instruction})
    assert isinstance(request, AnswerRequest)
    assert request.max_new_tokens == task.max_answer_tokens
    assert request.instruction == task.instruction
    other = as_request({**play()[-1], "instruction": "In one word."})
    assert isinstance(other, AnswerRequest) and other.max_new_tokens == 100


def test_passages_are_asked_as_at_inference_without_an_extractor() -> None:
    request = as_request(told()[1])
    assert not any(link.triples for link in request.chain)
    text = format_history(request.question, request.chain).text
    assert "Salt Road| Salt Road is a drama. It was made by the director Aino Laine" in text
    assert "(S>" not in text
