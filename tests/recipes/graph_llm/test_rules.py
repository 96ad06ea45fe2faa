"""Rules that turn texts, steps and relations into triples and questions."""

from __future__ import annotations

from random import Random

import pytest

from recipes.graph_llm.agenda import Agenda
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sentences import sentence_triples
from recipes.graph_llm.surface import Surface
from recipes.graph_llm.wording import as_question, fact_of

SENTENCES = [
    (
        "Aino Laine",
        "Aino Marja Laine ( ; born 3 May 1921) is a Finnish director.",
        [
            ("Aino Laine", "born", "3 May 1921"),
            ("Aino Marja Laine", "is", "a Finnish director"),
        ],
    ),
    (
        "Ove Dahl",
        "Ove Dahl (7 June 1930 – 1 May 1999) was an actor.",
        [
            ("Ove Dahl", "born", "7 June 1930"),
            ("Ove Dahl", "died", "1 May 1999"),
            ("Ove Dahl", "was", "an actor"),
        ],
    ),
    (
        "Salt Road",
        "It was directed by Aino Laine and won two prizes.",
        [("Salt Road", "was directed by", "Aino Laine"), ("Salt Road", "won", "two prizes")],
    ),
    (
        "Salt Road",
        "Its music was written by Ove Dahl.",
        [("Salt Road's music", "was written by", "Ove Dahl")],
    ),
    (
        "",
        "Pier House -LRB- built 1931 -RRB- , an office building , is located in Halden .",
        [("Pier House", "is located in", "Halden")],
    ),
    (
        "Salt Road",
        "In 1931, after two years, Pier House opened in Halden.",
        [("Pier House", "opened in", "Halden")],
    ),
    (
        "Salt Road",
        f"{'A very long name of a company ' * 3}owns it.",
        [("Salt Road", "owns", "it")],
    ),
    ("Salt Road", f"It won {'a prize, ' * 30}", [("Salt Road", "won", "a prize, " * 17 + "a")]),
    ("x", "A list without any verb", []),
]


@pytest.mark.parametrize(("title", "sentence", "triples"), SENTENCES)
def test_a_sentence_is_read(title: str, sentence: str, triples: list[tuple[str, str, str]]) -> None:
    assert sentence_triples(title, sentence) == triples


QUESTIONS = [
    ("when was Salt Road released", "When was Salt Road released?"),
    ("the founder of Halden Pictures", "Who is the founder of Halden Pictures?"),
    ("members of the Novak Quartet", "What are members of the Novak Quartet?"),
    ("river through Lindau", "What is the river through Lindau?"),
    ("Who wrote it ?", "Who wrote it?"),
    ("", ""),
]


@pytest.mark.parametrize(("step", "question"), QUESTIONS)
def test_a_step_is_written_as_a_question(step: str, question: str) -> None:
    assert as_question(step) == question


def test_what_was_asked_for_least_is_asked_next_and_of_equals_the_first() -> None:
    page = Page("", ())
    steps = [Step((f"{word} one", f"{word} two"), (), page) for word in ("Who", "What", "Where")]
    agenda = Agenda(Case("test", "1", "Q?", "a", tuple(steps)))
    asked = []
    while (plan := agenda.next({0, 1, 2}))[0]:
        target, step = plan
        asked.append((step, target and target.get("subquery")))
        agenda.ask(str(asked[-1][1]), step)
    assert asked == [
        (0, "Who one"),
        (1, "What one"),
        (2, "Where one"),
        (0, "Who two"),
        (1, "What two"),
        (2, "Where two"),
    ]
    assert agenda.next(set()) == ({"label": "SUFFICIENT"}, None)


FACTS = [
    ("Salt Road >> director", "Aino", [], ("Salt Road", "director", "Aino")),
    ("who founded Halden", "Ingrid Moe", [], ("Ingrid Moe", "founded", "Halden")),
    ("Which is the league of Oulu?", "Liiga", ["Oulu"], ("Oulu", "league of", "Liiga")),
    ("where did Aino live in 1950", "Oulu", ["x", "Aino"], ("Aino", "live in 1950", "Oulu")),
]


@pytest.mark.parametrize(("question", "answer", "entities", "triple"), FACTS)
def test_an_answered_question_is_a_triple(
    question: str, answer: str, entities: list[str], triple: tuple[str, str, str]
) -> None:
    made = fact_of(question, answer, entities)
    assert made is not None
    assert made[0] == triple
    assert made[1]


def test_a_surface_is_the_same_for_a_triple_and_varies_between_runs() -> None:
    triple = ("Salt Road (1950 film)", "publication date", "May 3, 1950")
    seen = set()
    for seed in range(50):
        surface = Surface(Random(seed), 0.5)
        assert surface(triple) == surface(triple)
        seen.add(surface(triple))
    assert {s for s, _, _ in seen} == {"Salt Road (1950 film)", "Salt Road"}
    assert {o for _, _, o in seen} == {"May 3, 1950", "3 May 1950"}
    assert {p.lower() for _, p, _ in seen} > {"publication date", "released in"}
    assert Surface(Random(1), 0.0)(triple) == triple
    # Three in ten of the runs that are respelled write all predicates with a capital.
    capital = [Surface(Random(seed), 1.0)(triple)[1][:1].isupper() for seed in range(200)]
    assert 40 <= sum(capital) <= 80
