"""Whether documents support an answer, and what of them is cited for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.answer import UNKNOWN_ANSWER
from ras_flow.state.kg import merge_triples, to_new_triples, triple_id
from ras_flow.state.schema import Extracted, Passage, Triple
from ras_flow.state.support import Verdict, admit, judge, verify

HANDBOOK = {
    "Handbook › Offices": "Artek has offices in Lisbon and Oslo.\n"
    "Office: Lisbon; Office manager: Tomás Ferreira; Desks: 24\n"
    "Office: Oslo; Office manager: Kari Nordby; Desks: 80\n"
    "Office: Bergen; Office manager: -; Desks: 12",
    "Handbook › Holidays": "Employees have 30 days of holiday a year. Unused days move to March.",
    "Artek": "Artek is a maker of furniture. It was founded in Helsinki in 1935 by Alvar Aalto, "
    "Aino Aalto, Maire Gullichsen and Nils-Gustav Hahl.",
    "Alvar Aalto": "Alvar Aalto was an architect. He was born in Kuortane in 1898.",
    "Aino Aalto": "Aino Aalto was a designer. She was born in Helsinki in 1894.",
}
FACTS = {
    "Artek": [
        ("Artek", "is a", "maker of furniture"),
        ("Artek", "founded in", "Helsinki"),
        ("Artek", "founded by", "Alvar Aalto"),
        ("Artek", "founded by", "Maire Gullichsen"),
    ],
    "Alvar Aalto": [
        ("Alvar Aalto", "occupation", "architect"),
        ("Alvar Aalto", "was born in", "Kuortane"),
        ("Alvar Aalto", "date of birth", "1898"),
    ],
    "Aino Aalto": [
        ("Aino Aalto", "occupation", "designer"),
        ("Aino Aalto", "date of birth", "1894"),
        ("Aino Aalto", "was born in", "Helsinki"),
    ],
}


def passages(texts: dict[str, str]) -> dict[str, Passage]:
    return {title: Passage(id=title, title=title, text=text) for title, text in texts.items()}


def graph(facts: dict[str, list[tuple[str, str, str]]]) -> dict[str, Triple]:
    found = [
        Extracted(passage=passage, triples=[list(fact) for fact in each])
        for passage, each in facts.items()
    ]
    return merge_triples({}, to_new_triples(found))


def asked(answer: str, question: str) -> Verdict:
    return judge(answer, question, graph(FACTS), passages(HANDBOOK))


def cited(verdict: Verdict) -> list[str]:
    """Return objects of cited facts, and titles of cited sentences."""
    return [one["object"] or one["title"] for one in verdict.citations]


@pytest.mark.parametrize(
    ("answer", "question", "evidence"),
    [
        ("Kuortane", "Where was Alvar Aalto born?", ["Kuortane"]),
        ("the Kuortane.", "Where was Alvar Aalto born?", ["Kuortane"]),
        ("In Kuortane, I think.", "Where was Alvar Aalto born?", ["Kuortane"]),
        ("Tomás Ferreira", "Who is the office manager of Lisbon?", ["Handbook › Offices"]),
        ("30", "How many days of holiday do employees have?", ["Handbook › Holidays"]),
        ("12", "How many desks does the office in Bergen have?", ["Handbook › Offices"]),
        ("30 days", "How many days of holiday do employees have?", ["Handbook › Holidays"]),
        ("Alvar Aalto and Maire Gullichsen", "Who founded Artek?", ["Artek"]),
        ("Aino Aalto", "Who was born first, Alvar Aalto or Aino Aalto?", ["1898", "1894"]),
        ("yes", "Was Alvar Aalto an architect?", ["architect"]),
        ("no", "Was Alvar Aalto born before Aino Aalto?", ["1898", "1894"]),
        ("no", "Were Alvar Aalto and Aino Aalto born in the same town?", ["Kuortane", "Helsinki"]),
        (
            "Artek's founder Alvar Aalto was born in Kuortane. He was an architect.",
            "Who founded Artek?",
            ["Alvar Aalto", "Kuortane"],
        ),
    ],
)
def test_an_answer_that_the_documents_state_is_supported_by_what_states_it(
    answer: str, question: str, evidence: list[str]
) -> None:
    verdict = asked(answer, question)
    assert verdict.supported and cited(verdict) == evidence


@pytest.mark.parametrize(
    ("answer", "question", "said"),
    [
        ("Berlin", "What is the capital of France?", "Berlin"),
        ("Helsinki", "What is the capital of France?", "france"),
        ("SIMPLE", "What is the phone number of the Lisbon office?", "number"),
        ("3", "How many employees were fired in 2023?", "3"),
        ("30", "How many employees were fired in 2023?", "2023"),
        ("Kari Nordby", "Who is the office manager of Porto?", "porto"),
        ("Kari Nordby", "Who is the office manager of Bergen?", "empty"),
        ("Desks: 12", "Who is the office manager of Bergen?", "empty"),
        ("Artek", "Who founded Artek?", "repeats"),
        ("Alvar Aalto and Steve Jobs", "Who founded Artek?", "Steve Jobs"),
        ("Aino Aalto", "Who was born first, Aino Aalto or Steve Jobs?", "compared"),
        ("Alvar Aalto", "Who was born first, Alvar Aalto or Aino Aalto?", "otherwise"),
        ("yes", "Was Alvar Aalto born before Aino Aalto?", "otherwise"),
        ("yes", "Were Alvar Aalto and Aino Aalto born in the same town?", "otherwise"),
        (
            "Yes: Alvar Aalto, an architect, was born in Kuortane in 1898. Aino Aalto, a designer, "
            "was born in Helsinki in 1894.",
            "Was Alvar Aalto born before Aino Aalto?",
            "otherwise",
        ),
        (
            "Artek is a maker of furniture that Alvar Aalto and Aino Aalto founded in Helsinki.",
            "How many people work at Artek?",
            "number",
        ),
        ("Kuortane", "Who founded Artek?", "beyond"),
        ("Kuortane", "Where was the wife of Alvar Aalto born?", "wife"),
        ("an architect", "Who was born in Kuortane?", "name"),
        ("in Kuortane", "How many architects founded Artek?", "number"),
        ("Kari Nordby", "Who is the office manager of Lisbon?", "lisbon"),
        ("", "Who founded Artek?", "no answer"),
        ("unknown", "Who founded Artek?", "found no answer"),
        (
            "| Office | Office manager | | Lisbon | Tomás Ferreira | | Oslo | Kari Nordby |",
            "Who is the office manager of Lisbon?",
            "table",
        ),
        (" ".join(["Lisbon Tomás Ferreira 24 Oslo Kari Nordby 80"] * 6), "Who leads Oslo?", "list"),
    ],
)
def test_an_answer_that_nothing_leads_to_is_not_supported(
    answer: str, question: str, said: str
) -> None:
    verdict = asked(answer, question)
    assert not verdict.supported and said in verdict.support


def test_a_comparison_needs_a_value_though_no_fact_names_one_of_the_two() -> None:
    facts = {"Yards": [("MS Petrel", "built at", "Lunde Yard")]}
    text = "The MS Petrel was built at Lunde Yard. The MS Tern was built there too."
    found = graph(facts), passages({"Yards": text})
    verdict = judge("yes", "Is the MS Tern older than the MS Petrel?", *found)
    assert not verdict.supported and "compared" in verdict.support


def test_what_nobody_looked_up_is_not_supported_by_the_documents() -> None:
    verdict = judge("7", "How many days are there in a week?", {}, {})
    assert not verdict.supported and "No document" in verdict.support


def test_a_path_is_cited_from_the_question_to_the_answer_and_nothing_else_of_its_entities() -> None:
    verdict = asked("Kuortane", "In which town was the architect born who founded Artek?")
    assert verdict.supported and cited(verdict) == ["Alvar Aalto", "Kuortane"]
    [founded, born] = verdict.citations
    assert born == {
        "triple": triple_id("Alvar Aalto", "was born in", "Kuortane"),
        "passages": ["Alvar Aalto"],
        "subject": "Alvar Aalto",
        "predicate": "was born in",
        "object": "Kuortane",
        "title": "Alvar Aalto",
        "source": "",
        "sentence": "He was born in Kuortane in 1898.",
    }
    assert founded["sentence"].startswith("It was founded in Helsinki")


@pytest.mark.parametrize(
    ("author", "question", "supported"),
    [
        ("Nguyễn Văn Ánh", "What is the occupation of the author of Blue River?", False),
        ("Nguyễn Văn Ánh", "What is the occupation of Nguyễn Văn Ánh?", False),
        ("Nguyễn Văn Ánh", "What is the occupation of Nguyễn Văn Anh?", True),
        ("Nguyễn Văn Ánh", "What is the occupation of Nguyen Van Anh?", True),
        ("Nguyễn Văn Anh", "What is the occupation of the author of Blue River?", True),
    ],
)
@pytest.mark.parametrize("extracted", [True, False])
def test_people_whose_names_differ_in_accents_are_two(
    author: str, question: str, supported: bool, extracted: bool
) -> None:
    texts = {
        "Blue River": f"{author} is the author of Blue River.",
        "Nguyễn Văn Anh": "Nguyễn Văn Anh had the occupation of a surgeon.",
    }
    facts = {
        "Blue River": [("Blue River", "written by", author)],
        "Nguyễn Văn Anh": [("Nguyễn Văn Anh", "occupation", "surgeon")],
    }
    found = graph(facts if extracted else {})
    assert judge("surgeon", question, found, passages(texts)).supported == supported


def test_symbols_that_differ_in_letter_case_are_two() -> None:
    facts = {"Furnace": [("furnace", "emits", "CO")], "Cobalt": [("Co", "kind", "metal")]}
    question = "What is the kind of what the furnace emits?"
    assert not judge("metal", question, graph(facts), {}).supported


def test_a_passage_is_cited_by_the_sentence_that_states_the_answer() -> None:
    given = passages(HANDBOOK)
    given["Handbook › Offices"]["source"] = "handbook.pdf#page=3"
    [one] = judge("Kari Nordby", "Who is the office manager of Oslo?", {}, given).citations
    assert (one["triple"], one["passages"]) == ("", ["Handbook › Offices"])
    assert one["sentence"] == "Office: Oslo; Office manager: Kari Nordby; Desks: 80"
    assert one["source"] == "handbook.pdf#page=3"


@pytest.mark.parametrize(
    ("answer", "question", "supported"),
    [
        ("绍兴", "鲁迅出生在哪里?", True),
        ("是的", "鲁迅是作家吗？", True),
        ("东京", "鲁迅出生在哪里?", False),
        ("서울", "김소월은 어디에서 태어났습니까?", True),
        ("Kuortane", "Wo wurde Alvar Aalto geboren?", True),
        ("القاهرة", "أين ولد نجيب محفوظ؟", True),
    ],
)
def test_support_is_found_in_other_languages(answer: str, question: str, supported: bool) -> None:
    texts = {
        "鲁迅": "鲁迅是中国作家。他出生在绍兴。",
        "김소월": "김소월은 서울에서 태어났다.",
        "نجيب محفوظ": "ولد نجيب محفوظ في القاهرة.",
        "Alvar Aalto": "Alvar Aalto kam in Kuortane zur Welt.",
    }
    assert judge(answer, question, {}, passages(texts)).supported == supported


def test_facts_that_a_model_cites_are_checked_and_those_beside_the_point_left_out() -> None:
    given: Any = ("Who founded Artek?", graph(FACTS), passages(HANDBOOK))
    founder = triple_id("Artek", "founded by", "Maire Gullichsen")
    good = verify("Maire Gullichsen", *given, cited=[founder, "Handbook › Holidays", "made up"])
    assert good.supported and [one["triple"] for one in good.citations] == [founder]
    text = verify("Nils-Gustav Hahl", *given, cited=["Artek"])
    assert text.supported and cited(text) == ["Artek"]
    found = verify("Maire Gullichsen", *given, cited=["Handbook › Holidays"])
    assert found.supported and cited(found) == ["Maire Gullichsen"], "what is right is found"
    assert not verify("Steve Jobs", *given, cited=[founder]).supported


def test_a_run_that_may_say_so_says_that_the_documents_do_not_say() -> None:
    wrong = asked("Berlin", "What is the capital of France?")
    answer, verdict = admit("Berlin", wrong, told_to=False)
    assert answer == UNKNOWN_ANSWER and "Berlin" in verdict.support and not verdict.citations
    assert admit("Berlin", wrong, told_to=True) == ("Berlin", wrong), "the model was free to"
    right = asked("Kuortane", "Where was Alvar Aalto born?")
    assert admit("Kuortane", right, told_to=False) == ("Kuortane", right)
    none = asked("The documents do not mention it.", "Who founded Artek?")
    assert admit("The documents do not mention it.", none, told_to=True)[0] == UNKNOWN_ANSWER


NAMES = st.sampled_from(
    ["Artek", "Aalto", "yes", "a", "Île de France", "1,000", "!!!", "京都", "#"]
)
TEXTS = st.one_of(NAMES, st.text(max_size=40))


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=8), TEXTS, TEXTS, TEXTS)
def test_anything_can_be_judged(
    facts: list[tuple[str, str, str]], text: str, answer: str, question: str
) -> None:
    triples, texts = graph({"p": facts}), passages({"p": text})
    verdict = judge(answer, question, triples, texts)
    assert 0 <= verdict.score <= 1 and verdict.support
    ids = [one["triple"] or one["sentence"] for one in verdict.citations]
    assert len(ids) == len(set(ids))
    assert verify(answer, question, triples, texts, cited=["p", *triples]).score <= 1
    assert judge(answer, question, triples, texts) == verdict


LOCKS = {
    "Deploy": "The lock of a run is a session-level advisory lock: PgBouncer in transaction mode "
    "breaks it. Allow two connections per process.",
    "Pumps": "Pumps are greased every spring by the crew that winters on the island.",
}


@pytest.mark.parametrize(
    ("answer", "supported"),
    [
        ("Avoid transaction mode, since it breaks the session-level advisory lock.", True),
        ("Avoid statement mode, since it drops prepared queries after each commit.", False),
        ("Pumps are greased every spring by the crew that winters there.", False),
    ],
)
def test_an_explanation_is_supported_by_the_passage_that_states_its_words(
    answer: str, supported: bool
) -> None:
    question = "We put PgBouncer in front of our database. What must we avoid, and why?"
    assert judge(answer, question, {}, passages(LOCKS)).supported is supported
