from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.state.citations import cite, cite_passages
from ras_flow.state.kg import merge_triples, to_new_triples
from ras_flow.state.schema import Extracted, Passage, Triple

Q = "The Pick Motor Company's town is located on which river?"


def graph(*hops: dict[str, list[tuple[str, str, str]]]) -> dict[str, Triple]:
    triples: dict[str, Triple] = {}
    for passages in hops:
        found = [
            Extracted(passage=passage, triples=[list(triple) for triple in triples])
            for passage, triples in passages.items()
        ]
        triples = merge_triples(triples, to_new_triples(found))
    return triples


TWO_HOPS = graph(
    {
        "company": [
            ("Pick Motor Company", "industry", "cars"),
            ("Pick Motor Company", "location", "Stamford"),
        ],
        "list": [("Pick Motor Company", "location", "Stamford"), ("Morgan", "industry", "cars")],
    },
    {
        "town": [
            ("Stamford", "population", "20,742"),
            ("Stamford", "located on", "River Welland"),
            ("River Welland", "type", "river"),
            ("River Welland", "mouth", "The Wash"),
        ],
        "company": [("Pick Motor Company", "location", "Stamford")],
    },
)


def cited(answer: str, question: str = Q, triples: dict[str, Triple] = TWO_HOPS) -> list[tuple]:
    found = cite(answer, question, triples, {})
    return [
        (triples[c["triple"]]["predicate"], triples[c["triple"]]["object"], c["passages"])
        for c in found
    ]


LOCATION = ("location", "Stamford", ["company", "list"])
LOCATED_ON = ("located on", "River Welland", ["town"])
TYPE = ("type", "river", ["town"])
MOUTH = ("mouth", "The Wash", ["town"])


@pytest.mark.parametrize(
    "answer",
    ["the river welland.", "Welland", "It is on the River Welland, I think."]
    + ["Pick Motor Company was on the River Welland"],
)
def test_path_from_question_to_answer_then_the_answers_other_triples(answer):
    assert cited(answer) == [LOCATION, LOCATED_ON, TYPE, MOUTH]


def test_an_answer_among_the_questions_entities():
    question = "Which is larger, Stamford or the Wash?"
    assert [predicate for predicate, _, _ in cited("Stamford", question)] == [
        "location",
        "population",
        "located on",
    ]


def test_equal_name_wins_over_containing_names():
    triples = graph({"p": [("France", "capital", "Paris"), ("Paris Hilton", "job", "heiress")]})
    assert [p for p, _, _ in cited("Paris", "What is the capital of France?", triples)] == [
        "capital"
    ]
    assert [p for p, _, _ in cited("Hilton", "Who is an heiress?", triples)] == ["job"]


@pytest.mark.parametrize(
    "answer",
    ["", "Thames", "42", "nd", "20", "Stam", "Stamfordshire", "I do not know", "J. K. Rowling"],
)
def test_no_match_no_citation(answer):
    assert cited(answer) == []


@pytest.mark.parametrize(
    "answer", ["yes", "No.", "TRUE", "false", "B", "(c)", "C) rice", "Yes, they do"]
)
def test_verdicts_and_options_cite_what_the_question_is_about(answer):
    question = "Was the industry of Pick Motor Company cars?"
    assert cited(answer, question) == [
        ("industry", "cars", ["company"]),
        ("location", "Stamford", ["company", "list"]),
    ]
    assert cited(answer, "Is water wet?") == []


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("是的，他是。", "鲁迅是作家吗？"),
        ("네.", "鲁迅은 작家입니까?"),
        ("Ja, er war es.", "War 鲁迅 Schriftsteller?"),
        ("نعم", "هل كان 鲁迅 كاتبا؟"),
        ("是作家吗", "鲁迅是作家吗？"),
    ],
)
def test_verdicts_of_other_languages_are_verdicts(answer: str, question: str) -> None:
    triples = graph({"p": [("鲁迅", "职业", "文学家")]})
    assert len(cited(answer, question, triples)) == (answer != "是作家吗")


def test_the_facts_that_the_question_is_about_come_first_in_any_script() -> None:
    facts = [("鲁迅", f"作品{i}", f"小说{i}") for i in range(9)]
    triples = graph({"p": [*facts, ("鲁迅", "职业", "作家")]})
    assert cited("是", "鲁迅的职业是作家吗？", triples)[0][:2] == ("职业", "作家")


def test_a_verdict_never_matches_a_name():
    triples = graph(
        {"p": [("Dr. No", "is a", "film"), ("B", "is a", "letter"), ("Yes", "is", "x y")]}
    )
    for answer in ("no", "yes", "b", "Yes, it is"):
        assert cited(answer, "Is water wet?", triples) == []


@pytest.mark.parametrize("answer", ["7", "ABC"])
def test_a_number_or_a_short_name_is_no_option(answer: str) -> None:
    triples = graph({"p": [("Lost", "original network", "ABC"), ("Potter", "volumes", "7")]})
    assert [object for _, object, _ in cited(answer, "?", triples)] == [answer]


def test_limits():
    triples = graph({"p": [("Rome", f"relation {i}", f"thing {i}") for i in range(20)]})
    assert len(cited("Rome", "Which city?", triples)) == 8
    assert len(cited("yes", "Is Rome old?", triples)) == 5


NAME = st.sampled_from(["Paris", "Rome", "yes", "a", "Île de France", "1,000", "!!!", "京都", "は"])


@given(
    st.lists(st.tuples(NAME, NAME, NAME), max_size=12),
    st.one_of(NAME, st.text(max_size=10)),
    st.one_of(NAME, st.text(max_size=10)),
)
def test_citations_are_known_and_none_twice(found, answer, question):
    triples = graph({"p": found})
    citations = cite(answer, question, triples, {})
    ids = [citation["triple"] for citation in citations]
    assert len(ids) == len(set(ids)) <= 8
    assert set(ids) <= set(triples)
    assert all(citation["passages"] == ["p"] for citation in citations)
    assert cite(answer, question, triples, {}) == citations


def test_a_name_that_is_not_in_the_graph_is_not_supported_by_a_common_noun_in_it() -> None:
    triples = graph({"p": [("Danube", "instance of", "river")]})
    assert cite("River Aach", "Which river flows through Warsaw?", triples, {}) == []
    assert len(cite("a wide river", "What is the Danube?", triples, {})) == 1


@pytest.mark.parametrize(
    ("answer", "objects"),
    [
        ("维斯瓦河", ["维斯瓦河"]),
        ("是维斯瓦河。", ["维斯瓦河"]),
        ("它在京都，不在东京。", ["京都"]),
        ("河", []),
        ("是", []),
    ],
)
def test_names_are_found_where_words_have_no_spaces(answer: str, objects: list[str]) -> None:
    triples = graph({"p": [("华沙", "河流", "维斯瓦河"), ("金阁寺", "位于", "京都")]})
    assert [object for _, object, _ in cited(answer, "哪条？", triples)] == objects
    passage = Passage(id="p", title="维斯瓦河", text="维斯瓦河流经华沙。")
    found = cite_passages(answer, "哪条？", {"p": passage})
    assert bool(found) == ("维斯瓦河" in answer)


@pytest.mark.parametrize(
    ("answer", "question", "objects"),
    [
        ("서울", "김소월은 어디에서 태어났습니까?", ["서울", "대한민국"]),
        ("서울에서 태어났다.", "김소월은 어디에서 태어났습니까?", ["서울", "대한민국"]),
        ("남서울", "어디에서 태어났습니까?", []),
        ("강원도에서 태어났다.", "어디에서 태어났습니까?", []),
        ("Roma", "Qual è la capitale dell'Italia?", ["Roma"]),
        ("l'Italia", "?", ["Roma"]),
        ("Ankara'da", "Atatürk’ün öldüğü yer neresi?", ["Ankara"]),
        ("他1881年出生于绍兴", "鲁迅出生在哪里?", ["绍兴", "1881年", "浙江"]),
        ("في القاهرة عام 1911", "أين ولد نجيب محفوظ؟", ["القاهرة", "1911"]),
    ],
)
def test_names_are_found_as_other_languages_write_them(
    answer: str, question: str, objects: list[str]
) -> None:
    facts = [
        ("서울", "국가", "대한민국"),
        ("김소월", "출생지", "서울"),
        ("한강", "종류", "강"),
        ("Italia", "capitale", "Roma"),
        ("Atatürk", "öldüğü yer", "Ankara"),
        ("绍兴", "位于", "浙江"),
        ("鲁迅", "出生于", "绍兴"),
        ("鲁迅", "出生年", "1881年"),
        ("نجيب محفوظ", "مكان الميلاد", "القاهرة"),
        ("نجيب محفوظ", "سنة الميلاد", "1911"),
    ]
    assert [object for _, object, _ in cited(answer, question, graph({"p": facts}))] == objects


def test_names_of_two_letters_are_too_short_to_be_found_in_a_sentence() -> None:
    triples = graph({"p": [("Ob", "flows to", "Kara Sea"), ("Don", "flows to", "Azov")]})
    assert [object for _, object, _ in cited("It is the Don there", "?", triples)] == ["Azov"]
    assert cited("It is the Ob there", "?", triples) == []
    assert len(cited("Ob", "?", triples)) == 1


def test_passages_that_are_kept_as_text_are_cited_best_first() -> None:
    texts = ["It is old."] * 7 + ["It is old and large."] + ["It is old."] * 2
    passages = {
        f"p{i}": Passage(id=f"p{i}", title="Rome", text=text) for i, text in enumerate(texts)
    }

    def ids(answer: str, question: str) -> list[list[str]]:
        return [one["passages"] for one in cite_passages(answer, question, passages)]

    assert ids("Rome", "Which city is large?") == [["p7"], *([f"p{i}"] for i in range(7))]
    assert ids("yes", "Is Rome large?") == [["p7"], *([f"p{i}"] for i in range(4))]
    assert ids("yes", "Is it so?") == []


def test_passages_that_are_kept_as_text_support_a_verdict_in_any_script() -> None:
    texts = {"p0": "绍兴位于浙江省。", "p1": "鲁迅是中国著名作家。", "p2": "서울은 수도이다."}
    passages = {id: Passage(id=id, title="", text=text) for id, text in texts.items()}

    def ids(answer: str, question: str) -> list[str]:
        return [one["passages"][0] for one in cite_passages(answer, question, passages)]

    assert ids("是的", "鲁迅是中国作家吗？") == ["p1"]
    assert ids("네", "서울이 수도입니까?") == ["p2"]
    assert ids("是的", "水是湿的吗？") == []


def test_a_long_answer_is_looked_through_in_no_time() -> None:
    names = [f"Person {number}" for number in range(6000)]
    triples = graph({"p": [(name, "knows", "Ada Lovelace") for name in names]})
    began = process_time()
    cited = cite("It was Person 17. " + "So much is known. " * 3000, Q, triples, {})
    assert process_time() - began < 4, "it took a quarter of a minute"
    assert [triples[citation["triple"]]["subject"] for citation in cited] == ["Person 17"]
