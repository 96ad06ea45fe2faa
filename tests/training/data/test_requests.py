"""Records are asked as planner and answerer are at inference."""

from __future__ import annotations

from typing import Any

from ras_flow.formats.history import format_history
from ras_flow.formats.plan import parse_plan
from ras_flow.parts import AnswerRequest, PlanRequest
from ras_flow.state.kg import QueryKG, by_hop
from ras_flow.training.data.records import Record
from ras_flow.training.data.requests import as_graph, as_request, target_text

Q = "When was the director of Salt Road born?"
DIRECTED, OTHER = ["Salt Road", "director", "Aino Laine"], ["Film 1", "director", "Person 1"]


def record(**changes: Any) -> Record:
    made: Any = {
        "id": "1",
        "source": "a",
        "split": "train",
        "task": "plan",
        "question": Q,
        "chain": [
            {"subquery": Q, "triples": [OTHER, DIRECTED]},
            {"subquery": "Who?", "triples": [["Aino Laine", "born on", "3 May 1921"]]},
        ],
        "target": {"label": "SUBQ", "subquery": "When was Aino Laine born?"},
        **changes,
    }
    return made  # type: ignore[no-any-return]


ANSWER = record(task="answer", target={"answer": "3 May 1921"})


def test_the_graph_of_a_record_gives_its_chain_back() -> None:
    triples, hops = as_graph(record())
    seen = QueryKG.from_triples(triples).triples
    for hop, ids, link in zip(hops, by_hop(seen, hops), record()["chain"], strict=True):
        assert hop["subquery"] == link["subquery"]
        found = [seen[id] for id in ids]
        assert [[t["subject"], t["predicate"], t["object"]] for t in found] == link["triples"]


def test_a_record_is_asked_as_at_inference() -> None:
    request = as_request(record())
    assert isinstance(request, PlanRequest)
    text = format_history(request.question, request.chain).text
    assert text.startswith(f"[SUBQ] {Q}\nRetrieved Graph")
    assert "(S> Salt Road| P> director| O> Aino Laine)" in text
    assert parse_plan(target_text(record())).subquery == "When was Aino Laine born?"
    assert isinstance(as_request(ANSWER), AnswerRequest)
    assert target_text(ANSWER) == "3 May 1921"
    passages = [["Salt Road", "Salt Road is a drama."]]
    request = as_request(record(chain=[{"subquery": Q, "triples": [], "passages": passages}]))
    text = format_history(request.question, request.chain).text
    assert "Salt Road| Salt Road is a drama." in text and "(S>" not in text
