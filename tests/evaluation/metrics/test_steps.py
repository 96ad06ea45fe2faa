from __future__ import annotations

import pytest

from ras_flow.evaluation.metrics.steps import (
    Found,
    is_found,
    label_accuracy,
    recall_by_hop,
    subquery_f1,
)
from ras_flow.evaluation.question import Support
from ras_flow.state.schema import Passage, make_passage

GOLD = [
    Support("Salt Road", subquery="Who directed Salt Road?"),
    Support("Aino Laine", subquery="When was Aino Laine born?"),
    Support("Oulu"),
]


def test_a_planner_should_go_on_until_all_support_is_found() -> None:
    assert label_accuracy(["SUBQ", "SUFFICIENT"], [False, True]) == 1.0
    assert label_accuracy(["SUFFICIENT"], [False]) == 0.0
    assert label_accuracy(["SUBQ", "SUBQ"], [True, True, True]) == 0.0
    assert label_accuracy([None, "SUFFICIENT"], [False, True]) == 0.5
    # After a search, [NO_RETRIEVAL] ends it too.
    assert label_accuracy(["SUBQ", "NO_RETRIEVAL"], [False, True]) == 1.0
    assert label_accuracy(["NO_RETRIEVAL"], [False]) == 0.0
    assert label_accuracy([], [True]) is None


def test_subqueries_are_paired_with_the_gold_ones() -> None:
    asked = ["When was Aino Laine born?", "Who directed Salt Road?"]
    assert subquery_f1(asked, GOLD) == 1.0
    # One that is missing, and one too many.
    assert subquery_f1(asked[:1], GOLD) == pytest.approx(2 / 3)
    assert subquery_f1([*asked, "Is it wet?"], GOLD) == pytest.approx(4 / 5)
    # The same one twice is paired once.
    assert subquery_f1([asked[0], asked[0]], GOLD[1:]) == pytest.approx(2 / 3)
    # A step that rests on two documents is one.
    assert subquery_f1(asked, [*GOLD, GOLD[0]]) == 1.0


def test_the_best_pairing_counts_and_not_the_first() -> None:
    gold = [Support("", subquery="aino laine"), Support("", subquery="aino laine born")]
    # Taken greedily, "aino laine born" would go to the first and leave nothing for "born".
    assert subquery_f1(["aino laine born", "laine"], gold) == pytest.approx((1 + 2 / 3) * 2 / 4)


def test_subqueries_without_gold_or_without_any() -> None:
    assert subquery_f1(["Who?"], [Support("Oulu")]) is None
    assert subquery_f1([], GOLD) == 0.0


FILM = Support("Salt Road (film)", "It was directed by Aino Laine.")
PERSON = Support("Aino Laine", "Aino Laine was born on 3 May 1921.")


def passage(title: str, text: str = "") -> Passage:
    return make_passage(title, text)


TITLED = passage("Salt Road (film)", "Salt Road is a 1950 film.")
SAYING = passage(
    "Films of 1950", "Salt Road, a film. It was directed by  Aino Laine. It won a prize."
)
OTHER = passage("Oulu", "Oulu is a city.")


def test_support_is_found_by_title_or_by_text() -> None:
    assert is_found(FILM, [OTHER, TITLED]) and not is_found(FILM, [SAYING])
    assert is_found(FILM, [OTHER, SAYING], by="text") and not is_found(FILM, [TITLED], by="text")


def test_text_is_found_where_no_spaces_part_sentences() -> None:
    support = Support("", "กรุงเทพเป็นเมืองหลวงของไทย")
    found = passage("", "ทุกคนรู้ว่ากรุงเทพเป็นเมืองหลวงของไทยมานานแล้ว")
    assert is_found(support, [found], by="text") and not is_found(support, [OTHER], by="text")


def test_a_piece_of_a_supporting_paragraph_counts_as_it() -> None:
    whole = Support("Oulu", "Oulu is a city in Finland. It lies on the Gulf of Bothnia.")
    assert is_found(whole, [passage("Oulu", "It lies on the Gulf of Bothnia.")], by="text")
    assert is_found(whole, [passage("Oulu", "Is a city in Finland")], by="text")
    assert not is_found(whole, [passage("Oulu", "A city in Finland")], by="text")
    assert not is_found(whole, [passage("Oulu", "It is a city.")], by="text")
    assert not is_found(whole, [passage("Oulu", "Finland")], by="text")


def test_two_sentences_of_one_document_are_one_title() -> None:
    again = Support(FILM.title, "It was shot in Oulu.")
    assert recall_by_hop([FILM, again, PERSON], [[TITLED]]) == [Found(0.5, False)]


def test_what_is_not_known_is_not_judged() -> None:
    subquery = Support("", subquery="Who directed it?")
    assert recall_by_hop([FILM, subquery], [[TITLED]]) == [Found(1.0, True)]
    assert recall_by_hop([Support("", "Oulu is in Finland.")], [[OTHER]]) == [Found(0.0, False)]
    assert recall_by_hop([subquery], [[TITLED]]) is None
    assert not is_found(subquery, [passage("")])
    assert recall_by_hop([FILM], []) == []


def test_recall_adds_up_from_hop_to_hop() -> None:
    hops = [[OTHER], [TITLED, OTHER], [passage("Aino Laine")]]
    by_hop = recall_by_hop([FILM, PERSON], hops)
    assert by_hop == [Found(0.0, False), Found(0.5, False), Found(1.0, True)]
