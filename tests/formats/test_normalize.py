from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ras_flow.formats.normalize import (
    has_name,
    name_key,
    normalize_name,
    normalize_question,
    token_f1,
)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Beyoncé", "Beyonce"),
        ("Beyonce\u0301", "BEYONCÉ"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("Straße", "STRASSE"),
        ("The Beatles", "Beatles"),
        ("  the\tBeatles ", "“The Beatles”"),
        ("(The) Beatles", "beatles"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "OBrien"),
        ("1990's", "1990s"),
        ("J.K. Rowling", "J. K. Rowling"),
        ("J. R. R. Tolkien", "JRR Tolkien"),
        ("U.S.A.", "USA"),
        ("Spider-Man", "Spider Man"),
        ("New_York", "New York"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("Yahoo!", "Yahoo"),
        ("**Paris**", "Paris"),
        ("Paris (Texas)", "Paris, Texas"),
        ("IBM™", "IBM"),
        ("1,000", "1000"),
        ("1,000,000.5", "1000000.5"),
        ("-1,000", "−1000"),
        ("1899–1925", "1899 - 1925"),
        (".5", "0.5"),
        ("½", "1/2"),
        ("10⁵", "10^5"),
        ("H₂O", "H2O"),
        ("Ｔｏｋｙｏ", "Tokyo"),
        ("zero\u200bwidth", "zerowidth"),
        ("İstanbul", "Istanbul"),
        ("DİYARBAKIR", "Diyarbakır"),
        ("Diyarbakır", "Diyarbakir"),
        ("Lech Wałęsa", "Lech Walesa"),
        ("Malmö Ærø", "Malmo AERO"),
        ("Достое\u0301вский", "Достоевский"),
        ("الْقَاهِرَة", "القاهـــرة"),
        ("יְרוּשָׁלַיִם", "ירושלים"),
        ("Фёдор", "Федор"),
        ("إيمان القاضي", "ايمان القاضى"),
        ("شیرین کیانی", "شيرين كياني"),
        ("۱۲٫۵", "12.5"),
        ("१९४७", "1947"),
    ],
)
def test_spellings_of_one_name_join(a, b):
    assert normalize_name(a) == normalize_name(b)


@pytest.mark.parametrize(
    "names",
    [
        ["Electrons", "electrons", "“Electrons”"],
        ["the Eiffel Tower", "Eiffel Tower", "The Eiffel tower"],
        ["Lord Of the Rings", "Lord of the Rings"],
        ["UNICEF", "Unicef"],
        ["Spider-Man", "spider man"],
        ["U.S.", "US"],
        ["İzmir", "Izmir"],
        ["Großglockner", "Grossglockner"],
        ["Достое\u0301вский", "Достоевский"],
        ["Артём", "Артем"],
        ["مدرسة", "مدرسه"],
        ["۴۰ MW", "40 MW"],
        ["`--config`", "--config", "(--config)"],
    ],
)
def test_names_that_are_safely_one_are_one_entity(names):
    assert len(set(map(name_key, names))) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["MW", "mW", "Mw"],
        ["7 MeV", "7 meV"],
        ["3 Mbar", "3 mbar"],
        ["CO", "Co", "co"],
        ["pH", "PH", "Ph"],
        ["US", "us"],
        ["NASA", "nasa"],
        ["Lê Hoa", "Lê Hoà", "Lê Hoá"],
        ["Đức", "Đực"],
        ["año", "ano"],
        ["--quiet", "-quiet", "quiet"],
        ["docs/", "docs"],
        [".npmrc", "npmrc"],
        ["_key", "key", "Key_"],
        ["MAX_RETRIES", "max_retries", "max retries"],
        ["getItem", "getitem"],
        ["run()", "run"],
        ["a/b/c", "a b c"],
        ["std::move", "std move"],
        ["config.toml", "config toml"],
    ],
)
def test_names_that_may_be_two_things_are_two_entities(names):
    assert len(set(map(name_key, names))) == len(names)


@pytest.mark.parametrize(
    "names",
    [
        ["C", "C+", "C++", "C#"],
        ["3.5", "35", "3,5", "3 5", "3:5", "3/5", "3-5"],
        ["5", "-5", ".5", "-.5", "5%", "$5", "-$5", "5°", "<5"],
        ["1,5", "15", "1.5"],
        ["1,000", "1,00", "1,0000", "0,125", "125"],
        ["12,34,567", "1234567"],
        ["10⁵", "105", "10⁻⁵", "10₅"],
        ["3½", "31/2", "½3", "1/23"],
        ["①2", "12"],
        ["O", "O-", "O+"],
        ["1990", "1990-", "-1990"],
        ["A. Milne", "Milne", "B. Milne"],
        ["A-10", "10", "B-10"],
        ["The A-Team", "Team", "A. B. Team"],
        ["A&E", "E", "A"],
        ["A* search", "search"],
        ["A-ha", "ha"],
        ["й", "и"],
        ["か", "が"],
        ["कि", "की", "क"],
        ["!!!", "!", "...", "+", "the", "™", "_"],
    ],
)
def test_different_names_stay_apart(names):
    assert len({normalize_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("letter", ["a", "д", "ก", "é", "½"])
def test_a_stack_of_thousands_of_marks_takes_no_time(letter):
    marks = "\u0302\u0315"
    same = normalize_name(letter + marks * 20_000) == normalize_name(letter + marks * 15)
    assert same


NAMES = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="aAbk1250.,-–−'’&+#/()$:% ^½²⁵⁻₂ eé\u0301_¨", max_size=15),
    st.text(alphabet="аиق\u0301\u064e\u200b\xadøþÆı.'’- ", max_size=12),
)


@given(NAMES)
@example("a. (b)")
@example("3 ,-5")
@example("\ud800")
@example("а\u200b\u0301")
@example("д" + "\u0344" * 40)
@example("д" + "\u0315\u0302" * 40)
@example("℠®")
def test_normalizing_twice_changes_nothing(text):
    for form in (normalize_name, name_key):
        assert form(form(text)) == form(text)


@given(
    NAMES, st.sampled_from([str.title, str.lower, str.capitalize, "the {}".format, "“{}”".format])
)
@example("/A-", "“{}”".format)
def test_names_of_one_entity_are_found_as_one(text, respell):
    if name_key(text) == name_key(respell(text)):
        assert normalize_name(text) == normalize_name(respell(text))


WORD = st.text(alphabet="abdefghmàéõстпйαβ", min_size=3, max_size=9)


@given(st.lists(WORD, min_size=1, max_size=3))
def test_the_capital_of_a_word_that_begins_a_sentence_does_not_count(words):
    name = " ".join(words)
    assert name_key(name[0].upper() + name[1:]) == name_key(name)


@given(
    st.sampled_from(["W", "Pa", "eV", "bit", "Hz"]),
    st.sampled_from("mMkKpPgG"),
    st.integers(1, 999),
)
def test_units_that_case_tells_apart_stay_apart(unit, prefix, number):
    one, other = (f"{number} {letter}{unit}" for letter in (prefix, prefix.swapcase()))
    assert name_key(one) != name_key(other)


@given(NAMES)
def test_never_empty_for_a_visible_name(text):
    if any(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp") for c in text):
        assert normalize_name(text) and name_key(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_numbers_never_collide(number):
    for other in (number * 10, number / 10, -number, number + 1):
        if other != number:
            assert normalize_name(f"{number:f}") != normalize_name(f"{other:f}")


@given(st.integers(-(10**12), 10**12))
def test_grouped_numbers_join_their_plain_form(number):
    assert normalize_name(f"{number:,}") == str(number)


def test_repeated_questions_are_recognised():
    asked = normalize_question("Where is the Pick Motor Company located?")
    assert normalize_question("where is Pick Motor Company located") == asked
    assert normalize_question("  WHERE is a Pick  Motor Company “located” ?") == asked
    assert normalize_question("Where is the Pick Motor Company?") != asked
    assert normalize_question("Who won in 1.5?") != normalize_question("Who won in 15?")
    assert normalize_question("What is vitamin A?") != normalize_question("What is vitamin?")


@given(NAMES, NAMES)
def test_token_f1_is_symmetric(a, b):
    assert token_f1(a, b) == token_f1(b, a)
    assert token_f1(a, a) == 1


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("She was born in Narvik.", "narvik", True),
        ("She was born in Narviken.", "Narvik", False),
        ("", "", False),
        ("爱因斯坦出生于德国乌尔姆，后来移居瑞士。", "乌尔姆", True),
        ("爱因斯坦出生于1879年。", "1879", True),
        ("人口18791人", "1879", False),
        ("15年", "5年", False),
        ("夏目漱石は江戸で生まれた", "江戸", True),
        ("彼はNASAで働いた", "NASA", True),
        ("เมืองหลวงของไทยคือกรุงเทพมหานคร", "กรุงเทพ", True),
        ("이순신은 한성에서 태어났다.", "한성", True),
        ("그는 NASA에서 일했다", "NASA", True),
        ("남한성에서", "한성", False),
        ("Она родилась в Ульме", "Ульм", False),
        ("It was directed by A. Jagannathan.", "A. Jagannathan", True),
    ],
)
def test_a_name_is_found_as_words_in_any_script(text: str, name: str, found: bool) -> None:
    assert has_name(text, name) is found
