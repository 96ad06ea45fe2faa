"""What enters the graph: rules on the triples of one passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.pronouns import PRONOUNS, is_pronoun
from ras_flow.formats.quality import RULES, Refined, forms, inverted, refine
from ras_flow.formats.triples import Spo

FILM = (
    "Salt Road (1950 film)",
    "Salt Road is a Finnish drama film from May 4, 1950, directed by Aino Laine. It sold 23,000 "
    "tickets. He was paid little, but its music was praised.",
)
PERSON = (
    "Aino Laine",
    "Aino Laine was a Finnish director. She was born in Oulu. Her first film was Salt Road; she "
    "said of it that he had written most of it.",
)


def only(triple: Spo, about: tuple[str, str]) -> Spo | None:
    """Return what becomes of a single triple."""
    made = refine([triple], *about)
    assert len(made.triples) + sum(made.left_out.values()) == 1
    return made.triples[0] if made.triples else None


@pytest.mark.parametrize(
    ("part", "about", "stands_for"),
    [
        ("it", FILM, "Salt Road (1950 film)"),
        ("itself", FILM, "Salt Road (1950 film)"),
        ("the film", FILM, "Salt Road (1950 film)"),
        ("This film", FILM, "Salt Road (1950 film)"),
        ("The film", ("Salt Road", FILM[1]), "Salt Road"),
        ("she", PERSON, "Aino Laine"),
        ("the director", PERSON, "Aino Laine"),
        ("he", FILM, None),  # the text says "it" more often: somebody else
        ("it", PERSON, None),
        ("they", FILM, None),  # the text has no such word
        ("who", FILM, None),
        ("it", ("", FILM[1]), None),
        ("the director", FILM, "the director"),  # of the film; a name may be meant
        ("the music", FILM, "the music"),
        ("the film", PERSON, "the film"),
        ("US", FILM, "US"),
        ("WHO", FILM, "WHO"),
        ("Her", ("Her (film)", "Her is a film. It is long."), "Her (film)"),
        ("It", ("It", "It is a novel of 1986."), "It"),
        ("he", ("His Girl Friday", "彼は映画監督です。"), None),
        ("他", ("鲁迅", "鲁迅是作家，他出生于绍兴。"), "鲁迅"),
        ("她", ("鲁迅", "鲁迅是作家，他出生于绍兴。"), None),
        ("彼女", ("樋口一葉", "樋口一葉は作家。彼女は東京で生まれた。"), "樋口一葉"),
        ("она", ("Пушкин", "Он родился в Москве."), None),
        ("هو", ("نجيب محفوظ", "نجيب محفوظ كاتب، هو ولد في القاهرة."), "نجيب محفوظ"),
    ],
)
def test_who_is_meant(part: str, about: tuple[str, str], stands_for: str | None) -> None:
    expected = (stands_for, "met", "Bo") if stands_for else None
    assert only((part, "met", "Bo"), about) == expected
    expected = ("Bo", "met", stands_for) if stands_for else None
    assert only(("Bo", "met", part), about) == expected


@pytest.mark.parametrize(
    ("part", "about", "as_subject"),
    [
        ("It", FILM, "Salt Road (1950 film)"),
        ("She", PERSON, "Aino Laine"),
        ("He", FILM, None),
        ("Us", ("Jordan Peele", "Jordan Peele directed Us."), None),
        ("I", ("Iodine", "Iodine has the symbol I."), None),
        ("One", ("U2", "One is a single by U2."), None),
        ("one", ("Mars Express", "It had one lander."), None),
    ],
)
def test_an_object_with_a_capital_is_a_name_and_one_a_number(
    part: str, about: tuple[str, str], as_subject: str | None
) -> None:
    assert only(("Bo", "met", part), about) == ("Bo", "met", part)
    assert only((part, "met", "Bo"), about) == (as_subject and (as_subject, "met", "Bo"))


@pytest.mark.parametrize(
    ("title", "text", "about"),
    [
        ("Handbook › Pumps › RX-7", "The RX-7 is a pump. It weighs 9 kg.", "RX-7"),
        ("Handbook › Pumps › RX-7", "The small pump stands left. It weighs 9 kg.", None),
        ("Handbook", "This handbook describes pumps. It has 9 parts.", None),
        ("notes", "Bo notes that it rains. It rains.", None),
        ("Annual Report 2020", "The firm's annual report of 2020 is out. It is long.", None),
        ("Meeting Notes", "Meeting in Oulu. It was long.", None),
        ("Photodiode", "A photodiode is a junction. It gives current.", "Photodiode"),
        (
            "Oulu-class ship",
            'The "Oulu" class were four ships. It was built in 1909.',
            "Oulu-class ship",
        ),
        ("Cai Renholm", "In 1920 it took Renholm to Oulu. It rained.", "Cai Renholm"),
    ],
)
def test_a_pronoun_is_resolved_to_a_name_that_the_text_speaks_of(
    title: str, text: str, about: str | None
) -> None:
    assert only(("It", "met", "Bo"), (title, text)) == (about and (about, "met", "Bo"))


def test_a_passage_about_what_is_called_unknown_keeps_its_facts() -> None:
    fact = ("Unknown", "year", "2011")
    assert only(fact, ("Unknown (2011 film)", "Unknown is a film.")) == fact


def test_the_title_is_written_as_the_other_triples_write_it() -> None:
    made = refine([("Salt Road", "country", "Finland"), ("It", "year", "1950")], *FILM)
    assert made == Refined([("Salt Road", "country", "Finland"), ("Salt Road", "year", "1950")])


@pytest.mark.parametrize(
    ("title", "opening", "part", "expected"),
    [
        ("Aino Laine", "Aino Maria Laine (born 1911)", "Aino Maria Laine", "Aino Laine"),
        ("Aino Laine", "Aino Maria Laine was", "aino maria laine", "Aino Laine"),
        ("Al Lee (actor)", "Sir Al Ray Lee, a", "Sir Al Ray Lee", "Al Lee (actor)"),
        ("Russ Meyer", "Russell Albion Meyer(", "Russell Albion Meyer", "Russ Meyer"),
        ("Georg W. Holm", "Georg Walter Holm is", "Georg Walter Holm", "Georg W. Holm"),
        ("Aino Laine", "Aino Maria Laine was", "Aino Maria", "Aino Maria"),
        ("Aino Laine", "Aino Laine and Leda Laine are", "Leda Laine", "Leda Laine"),
        ("Ed Laine", "Edgar Laine is", "Edgar Laine", "Edgar Laine"),  # may be another one
        ("Oulu", "Salt Oulu is", "Salt Oulu", "Salt Oulu"),
        ("Ice sheet", "The Greenland ice sheet is", "The Greenland ice sheet",
         "The Greenland ice sheet"),
        ("Aino Laine", "The wife of Aino Laine was", "The wife of Aino Laine",
         "The wife of Aino Laine"),
        ("Văn Ánh", "Nguyễn Văn Ánh is", "Nguyễn Văn Anh", "Nguyễn Văn Anh"),
        ("Aino Laine", "Aino van der Laine was", "Aino van der Laine", "Aino Laine"),
        ("History of Rome", "Rome was", "Rome", "Rome"),
        ("New York", "New York City is", "New York City", "New York City"),
        ("", "Aino Maria Laine was", "Aino Maria Laine", "Aino Maria Laine"),
    ],
)  # fmt: skip
def test_full_names(title: str, opening: str, part: str, expected: str) -> None:
    about = title, f"{opening} a person of note."
    assert only((part, "met", "Bo"), about) == (expected, "met", "Bo")
    assert only(("Bo", "met", part), about) == ("Bo", "met", expected)


@pytest.mark.parametrize("subject", ["Aino Laine", "aino laine"])
def test_a_full_name_that_is_told_stays(subject: str) -> None:
    told = (subject, "full name", "Aino Maria Laine")
    assert only(told, ("Aino Laine", "Aino Maria Laine is a person of note.")) == told


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("director", "directed", True),
        ("directed by", "directed", True),
        ("is directed by", "has directed", True),
        ("author", "authored", True),
        ("composer", "composed", True),
        ("capital", "is the capital of", True),
        ("parent", "parent of", True),
        ("spouse", "spouse", True),
        ("mother", "mother", False),  # a contradiction
        ("directed by", "directed by", False),
        ("directed", "produced", False),
        ("father", "mother of", False),
        ("place of birth", "born in", False),
        ("is", "of", False),
        ("父", "父", False),
    ],
)
def test_inverse_duplicates(one: str, other: str, same: bool) -> None:
    assert (not forms(one).isdisjoint(inverted(forms(other)))) == same
    both = [("Ann", one, "the Bay"), ("bay", other, "ann")]
    kept = Refined(both[:1], {"inverse": 1}) if same else Refined(both)
    assert refine(both, "", "") == kept
    elsewhere = [("Ann", one, "the Bay"), ("Cove", other, "Ann")]
    assert refine(elsewhere, "", "") == Refined(elsewhere)


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        (("the Aurora", "is", "AURORA"), "subject as object"),
        (("It", "is", "the film"), "subject as object"),
        (("nobody", "met", "B"), "pronoun"),
        (("Salt Road", "budget", "N/A"), "nothing"),
        (("Salt Road", "budget", "not specified"), "nothing"),
        (("Salt Road", "prize", "None"), "nothing"),
        (("Salt Road", "budget", "—"), "nothing"),
        (("?", "met", "Bo"), "nothing"),
        (("Salt Road", "автор", "неизвестно"), "nothing"),
    ],
)
def test_what_is_left_out_has_a_reason(triple: Spo, reason: str) -> None:
    good = ("Mira", "met", "Bo")
    assert refine([good, triple, good], *FILM) == Refined([good, good], {reason: 1})


WORD = st.one_of(
    st.sampled_from(sorted(PRONOUNS)),
    st.sampled_from(
        "Salt Road|the film|Aino|May 4|1950|4, 1950|23|000|May 4, 1950|It|US|Salt Road (1950 film)"
        "|director|directed|directed by|spouse|B".split("|")
    ),
    st.text(max_size=8),
)
TRIPLES = st.lists(st.tuples(WORD, WORD, WORD), max_size=8)
ABOUT = st.one_of(st.sampled_from([FILM, PERSON]), st.tuples(st.text(max_size=20), st.text()))


@given(TRIPLES, ABOUT)
def test_rules_on_anything(triples: list[Spo], about: tuple[str, str]) -> None:
    title, text = about
    made = refine(triples, title, text)
    assert refine(made.triples, title, text) == Refined(made.triples)
    assert len(made.triples) + sum(made.left_out.values()) == len(triples)
    assert set(made.left_out) <= set(RULES) and all(made.left_out.values())
    given_parts = {part for triple in triples for part in triple}
    for subject, predicate, object in made.triples:
        assert predicate in given_parts
        for part in (subject, object):
            assert part in given_parts or part in title or part in text
            nobody = is_pronoun(part, as_object=part is object)
            assert not nobody or normalize_name(part) in normalize_name(title)
        assert normalize_name(subject) != normalize_name(object)


@given(TRIPLES, ABOUT)
def test_what_stays_is_in_its_order(triples: list[Spo], about: tuple[str, str]) -> None:
    numbered = [(subject, f"{i} {p}", object) for i, (subject, p, object) in enumerate(triples)]
    places = [int(p.split()[0]) for _, p, _ in refine(numbered, *about).triples]
    assert places == sorted(places)
