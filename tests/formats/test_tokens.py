from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.tokens import tokenize, words_of


@pytest.mark.parametrize(
    "text, terms",
    [
        ("The Who's 1,000 songs", ["the", "who", "s", "1", "000", "songs"]),
        ("Beyoncé ÅNGSTRÖM İstanbul", ["beyonce", "angstrom", "istanbul", "aangstroem"]),
        ("ﬁne ㈱ Ｆｕｌｌ", ["fine", "株", "full"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Йод ёж", ["йод", "еж"]),
        ("Достое́вский Љубо̀мир", ["достоевский", "љубомир"]),
        ("מֹשֶׁה בֶּן־עַמְרָם", ["משה", "בן", "עמרם"]),
        ("القُرْآن محـــمد", ["القران", "محمد"]),
        ("ΑΘΉΝΑ Αθήνα", ["αθηνα", "αθηνα"]),
        (
            "Łódź Sørensen Đà Nẵng Þór Æthelred",
            "lodz sorensen da nang thor aethelred soerensen".split(),
        ),
        ("C, C++ and C#; a+b, x#5", "c c++ and c# a b x 5".split()),
        ("Flight LH-400-A, 1999-2001", "flight lh 400 a 1999 2001 lh400a".split()),
        (
            "setLogLevel iPhone McDonald",
            "setloglevel iphone mcdonald set log level i phone".split(),
        ),
        ("👩\u200d💻❤️ 🇫🇮🇸🇪", ["👩", "💻", "❤", "🇫🇮", "🇸🇪"]),
        ("_Hamlet_, snake_case", ["hamlet", "snake", "case"]),
        ("Donau\xaddampf\xadschiff", ["donaudampfschiff"]),
        ("한국어 문서 강 KBS는", ["한국", "국어", "문서", "강", "kbs", "는"]),
        ("東京都abc", ["東", "京", "都", "東京", "京都", "abc"]),
        ("がく", ["が", "く", "がく"]),
        ("… — !?", []),
        ("“Don’t” — Beyoncé’s, 1999–2001", "don t beyonce s 1999 2001".split()),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    "written, typed",
    [
        ("Пётр Ёлкин", "Петр Елкин"),
        ("إبراهيم عيسى", "ابراهيم عيسي"),
        ("سورة", "سوره"),
        ("یاسمین کریمی", "ياسمين كريمي"),
        ("نیم‌روز", "نیمروز"),
        ("১৯৭১ ۱۹۷۱ १९७१", "1971 1971 1971"),
        ("Großstraße", "Grossstrasse"),
        ("Jürgen Köhler", "Juergen Koehler"),
        ("Aalborg Århus", "Aarhus"),
        ("Trần Thị Mỹ Đức", "Tran Thi My Duc"),
        ("AB-12", "AB12"),
        ("AB-12", "AB-12"),
    ],
)
def test_what_a_person_types_finds_what_is_written(written: str, typed: str) -> None:
    assert set(tokenize(written)) >= set(tokenize(typed))


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_case_and_punctuation_do_not_matter(text: str) -> None:
    assert words_of(text.upper().replace(".", "!")) == words_of(text)


@given(st.text(max_size=60))
def test_terms_are_never_blank(text: str) -> None:
    assert all(term.strip() for term in tokenize(text))


@pytest.mark.parametrize("letter", ["é", "漢"])
def test_a_long_word_takes_linear_time(letter: str) -> None:
    started = time.process_time()
    tokenize(letter * 100_000)
    assert time.process_time() - started < 5, "quadratic time would take minutes"
