"""What T²RAG's adapter learns from: gold clues of questions, and rounds of resolving them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ras_flow.datasets.reading import Row
from ras_flow.t2rag.clues import bind, slots_of
from ras_flow.t2rag.formats.decomposition import format_decomposition, parse_decomposition
from ras_flow.t2rag.formats.resolution import parse_resolution
from recipes.graph_llm.case import Page
from recipes.graph_llm.sources import musique, wiki2
from recipes.graph_llm.sources.texts import Texts
from recipes.t2rag.gold import Gold, of_answered, of_case, of_musique
from recipes.t2rag.rounds import Pages, claimed, play
from recipes.t2rag.wordings import Names, questions

FILMS = {
    "id": "q1",
    "question": "Which film has the director who died first, Salt Road (Film) or Pier House?",
    "answer": "Pier House",
    "support": [["Salt Road (film)", 0], ["Pier House", 0], ["Aino Laine", 0], ["Per Holm", 0]],
    "triples": [
        ["Salt Road", "director", "Aino Laine"],
        ["Pier House", "director", "Per Holm"],
        ["Aino Laine", "date of death", "4 May 1931"],
        ["Per Holm", "date of death", "June 2, 1929"],
    ],
    "docs": [
        {"title": "Salt Road (film)", "sents": ["Salt Road is a film by Aino Laine."]},
        {"title": "Pier House", "sents": ["Pier House is a film.", "Per Holm directed it."]},
        {"title": "Aino Laine", "sents": ["Aino Laine died in Oulu on May 4, 1931."]},
        {"title": "Per Holm", "sents": ["Per Holm died on June 2, 1929."]},
        {"title": "Mill Lane", "sents": ["Mill Lane is a film by Eero Salo."]},
    ],
}
STEPS: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Who founded the company that distributed the film UHF?",
    "answer": "Mike Medavoy",
    "decomp": [
        {"q": "UHF >> distributed by", "a": "Orion Pictures", "doc_id": "UHF (film)_0"},
        {"q": "who founded #1", "a": "Mike Medavoy", "doc_id": "Mike Medavoy_0"},
    ],
}


def gold(row: dict[str, Any] = FILMS) -> Gold:
    [case] = wiki2.read([Row(row, "row")], Texts())
    made = of_case(case, "train")
    assert made
    return made


def test_a_comparison_has_slots_of_their_own_for_each_side() -> None:
    assert format_decomposition(gold().clues).splitlines() == [
        "Salt Road (Film) | director | ?director_a",
        "Pier House | director | ?director_b",
        "?director_a | date of death | ?death_a",
        "?director_b | date of death | ?death_b",
    ]


def test_a_yes_or_no_question_that_names_the_objects_is_made_of_claims() -> None:
    row = FILMS | {
        "question": "Were Aino Laine and Per Holm both born in Oulu?",
        "answer": "yes",
        "support": [["Aino Laine", 0], ["Per Holm", 0]],
        "triples": [
            ["Aino Laine", "place of birth", "Oulu"],
            ["Per Holm", "place of birth", "Oulu"],
        ],
    }
    assert [clue[2] for clue in gold(row).clues] == ["Oulu", "Oulu"]


def test_steps_that_are_not_one_triple_leave_the_question_out() -> None:
    [case] = musique.read([Row(STEPS, "row")], Texts())
    made = of_musique(Row(STEPS, "row"), "train")
    assert made and case.id == made.id
    assert made.clues == (
        ("UHF", "distributed by", "?person_a"),
        ("?person_b", "founded", "?person_a"),
    )
    both = {"q": "what links #1 and #2", "a": "film", "doc_id": "UHF (film)_0"}
    longer = STEPS | {"decomp": [*STEPS["decomp"], both]}
    assert of_musique(Row(longer, "row"), "train") is None


def test_a_slot_is_filled_where_something_shown_states_it_and_nowhere_else() -> None:
    one = gold()
    pages = Pages([*one.pages, *one.context])
    values = {
        slot: v[0]
        for clue, v in zip(one.clues, one.values, strict=True)
        for slot in slots_of(clue)[-1:]
    }
    rounds = [play(one, pages, seed=13, number=number) for number in range(40)]
    filled = 0
    for made in filter(None, rounds):
        read = parse_resolution(made.reply)
        shown = made.view.partition("Question:")[0]
        for value in read.values:
            filled += 1
            assert value.value in shown
            years = {values[value.slot][-4:], value.value[-4:]}
            assert len(years) == 1
            assert f"c{value.clue}: " in made.view
        open_now = [line for line in made.view.splitlines() if line.startswith("c")]
        assert len(read.values) <= len(open_now)
    assert filled > 20
    assert any(made and made.reply == "none" for made in rounds)


@pytest.mark.parametrize(("others", "verdict"), [([], True), (["Oslo"], False)])
def test_a_claim_is_judged_by_what_is_shown(others: list[str], verdict: bool) -> None:
    page = Page("Aino Laine", (("Aino Laine", "born in", "Oulu"),), "Aino Laine was born in Oulu.")
    asked = of_answered("1", "where was Aino Laine born", "Oulu", ["Aino Laine"], "train")
    assert asked
    asked = Gold(**{**asked.__dict__, "pages": (page,)})
    made = []
    for seed in range(12):
        claim = claimed(asked, others, Random(seed))
        if bind(claim.clues[0], {}).spo[2] == (others or ["Oulu"])[0]:
            made.append(play(claim, Pages([page]), seed))
    judged = [v.supported for one in made if one for v in parse_resolution(one.reply).verdicts]
    assert judged and set(judged) == {verdict}


def test_questions_of_our_own_are_clues_that_can_be_searched_for() -> None:
    names = Names(["Salt Road", "Pier House"], ["Per Holm", "Aino Laine"], ["Oulu", "Bergen"])
    some = list(questions(names, 60, seed=1))
    assert some == list(questions(names, 60, seed=1))
    for one in some:
        read = parse_decomposition(format_decomposition(one.clues))
        assert read.problem is None and tuple(read.clues) == one.clues
        named = [part for clue in one.clues for part in clue[::2] if not part.startswith("?")]
        assert all(name in one.question for name in named)
    assert {len(one.clues) for one in some} == {1, 2, 3}
