"""Hops of a question to records: what each finds, and which plan is right after it."""

from __future__ import annotations

from ras_flow.formats.triples import Spo
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.data.subq.hops import Asked, Document, hop_records

ASKED = Asked("1", "When was the director of Salt Road born?", "3 may 1921", "train")
DIRECTED: Spo = ("Salt Road", "director", "Aino Laine")
BORN: Spo = ("Aino Laine", "born", "3 May 1921")
FILM, PERSON = Document("Salt Road", (DIRECTED,)), Document("Aino Laine", (BORN,))
OTHERS = [Document(f"Other {n}", ((f"Other {n}", "is", f"thing {n}"),)) for n in range(6)]
SUBQUERIES = ["Who directed Salt Road?", "When was Aino Laine born?"]


def records(
    needed: tuple[Document, ...] = (FILM, PERSON),
    others: list[Document] = OTHERS,
    distractors: int = 2,
    seed: int = 1,
) -> list[Record]:
    made = hop_records(ASKED, needed, SUBQUERIES, others, distractors=distractors, seed=seed)
    return [check_record(record, record["id"]) for record in made]


def subjects(record: Record) -> list[set[str]]:
    return [{triple[0] for triple in link["triples"]} for link in record["chain"]]


def test_each_hop_finds_a_needed_document_among_others_that_are_shown_once() -> None:
    first, second, last, answer = records()
    assert [one["target"].get("subquery") for one in (first, second)] == [
        ASKED.question,
        SUBQUERIES[1],
    ]
    assert second["page"] == "Aino Laine"
    assert (last["target"], last["chain"]) == ({"label": "SUFFICIENT"}, answer["chain"])
    one, two = subjects(last)
    assert "Salt Road" in one and "Aino Laine" in two and not one & two
    assert (len(one), len(two)) == (3, 3)
    assert answer["target"] == {"answer": "3 May 1921"}, "as the graph spells it"
    assert [subjects(record) for record in records(distractors=0)[2:]] == [
        [{"Salt Road"}, {"Aino Laine"}]
    ] * 2


def test_a_document_that_tells_a_fact_is_no_distractor() -> None:
    telling = Document("Biography", (("a book", "says", "Aino Laine was born on 3 May 1921"),))
    for seed in range(10):
        shown = subjects(records(others=[telling, Document("Empty", ()), *OTHERS], seed=seed)[-1])
        assert all("a book" not in names and len(names) == 3 for names in shown)


def test_nothing_is_asked_for_that_the_graph_has() -> None:
    both = Document("Salt Road", (DIRECTED, BORN))
    assert [record["target"].get("label") for record in records((both, PERSON))] == [
        "SUBQ",
        "SUFFICIENT",
        None,
    ]


def test_the_seed_decides_what_is_shown_where() -> None:
    assert records(seed=1) == records(seed=1)
    orders = [records(seed=seed)[-1]["chain"][0]["triples"] for seed in range(20)]
    assert {order.index([*DIRECTED]) for order in orders} == {0, 1, 2}
