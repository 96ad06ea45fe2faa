"""Plans and answers of any language model, against the targets of records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ras_flow.indexes.queries import check_queries
from ras_flow.parts import Generation, Message, ScoredPassage
from ras_flow.testing import ListRetriever
from ras_flow.training.graph_llm.evaluate import (
    evaluate_graph_llm,
    evaluate_language_model,
    find_next,
)
from ras_flow.training.graph_llm.graphs import nearest_records
from ras_flow.training.graph_llm.scores import LATER
from tests.graph_llm.test_nearest import SharedWords
from tests.graph_llm.tiny import build
from tests.training.graph_llm.samples import record, records


class Canned:
    """Answers by what the last message asks."""

    identity, window, batch_size = "canned", 4000, 8

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        return [Generation(self._said(prompt), 1, 1) for prompt in prompts]

    def _said(self, prompt: Sequence[Message]) -> str:
        planning = "[SUFFICIENT]" in prompt[0]["content"]
        asked = prompt[-1]["content"]
        if not planning:
            return "Narvik"
        return "[SUFFICIENT]" if "born in" in asked else "[SUBQ] P0?"


async def test_a_language_model_is_measured_as_a_graph_llm_is() -> None:
    rows = records(2)
    measures = await evaluate_language_model(Canned(), rows)  # type: ignore[arg-type]
    plans, answers = measures.scores["plan", "all"], measures.scores["answer", "all"]
    assert (plans.records, plans.right, plans.unusable) == (6, 6, 0)
    # Subqueries of first plans are not compared; "P1?" is another than "P0?".
    assert (plans.compared, plans.exact) == (2, 1)
    later = measures.scores["plan", LATER]
    assert (later.records, later.labels) == (4, {"SUBQ -> SUBQ": 2, "SUFFICIENT -> SUFFICIENT": 2})
    assert (answers.records, answers.right, answers.f1) == (2, 1, 1.0)
    assert measures.texts[3] == "Narvik"


def test_records_are_read_as_the_model_reads_its_runs(base: Path) -> None:
    row = record(
        1,
        "answer",
        {"answer": "Narvik"},
        [["P1", "born in", "Narvik"], ["P2", "met", "Bo"]],
        [["Bo", "is a", "baker"]],
        question="Who?",
    )
    row["chain"][0]["subquery"] = "P1 born where"
    cut = nearest_records([row], SharedWords(), 1)
    assert [link["triples"] for link in cut[0]["chain"]] == [
        [["P1", "born in", "Narvik"]],
        [["Bo", "is a", "baker"]],
    ]
    assert len(row["chain"][0]["triples"]) == 2
    assert nearest_records([row], SharedWords(), None) == [row]
    encoder = SharedWords()
    changes = {"encoder": encoder.identity, "encoder_dimension": encoder.dimension}
    near, whole = (build(base, max_triples=most, **changes) for most in (1, None))
    said = evaluate_graph_llm(near, [row], encoder=encoder).texts
    assert said == evaluate_graph_llm(whole, cut, encoder=encoder).texts
    assert said != evaluate_graph_llm(whole, [row], encoder=encoder).texts


class Strict(ListRetriever):
    """Refuses blank queries, as the retrievers over an index do."""

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        check_queries(queries, k)
        return await super().retrieve(queries, k)


async def test_the_next_passage_is_found_or_not() -> None:
    pages = [{"title": f"Person {n}", "text": f"word{n} about P{n}."} for n in range(20)]
    rows = [row | {"page": f"Person {n}"} for n, row in enumerate(records(4)[1::4])]
    for n, row in enumerate(rows):
        row["target"] = {"label": "SUBQ", "subquery": f"word{n}"}
    written = ["[SUBQ] word0", "[SUBQ] word19", "[SUFFICIENT]", "no plan"]
    # Records of several sets may have one id.
    rows = [row | {"id": "same"} for row in rows]
    found = await find_next(rows, written, Strict(pages), k=1)  # type: ignore[arg-type]
    assert found == {"plans": 4, "by_target": 4, "by_model": 1, "relative": 0.25}
    # First plans and answers are not asked for.
    rest = [row for row in records(2) if row not in rows and not row["target"].get("subquery")]
    assert (await find_next(rest, [""] * len(rest), ListRetriever(pages)))["plans"] == 0  # type: ignore[arg-type]
