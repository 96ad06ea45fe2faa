from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics.retrieval import Found, is_found, recall_by_hop
from ras_flow.evaluation.question import Support
from ras_flow.state.schema import Passage, make_passage

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


TITLES = st.sampled_from(["b c", "b", "c", "d", ""])


@given(st.lists(TITLES, max_size=4), st.lists(st.lists(TITLES, max_size=3), max_size=4))
def test_recall_never_falls_and_ends_as_that_of_all_passages(
    titles: list[str], hops: list[list[str]]
) -> None:
    support = [Support(title) for title in titles]
    retrieved = [[passage(title) for title in hop] for hop in hops]
    by_hop = recall_by_hop(support, retrieved)
    if by_hop is None:
        assert not any(titles)
        return
    recalls = [found.recall for found in by_hop]
    assert recalls == sorted(recalls)
    if hops:
        wanted = set(titles) - {""}
        got = wanted & {title for hop in hops for title in hop}
        assert by_hop[-1] == Found(len(got) / len(wanted), got == wanted)
