"""Facts that rows of tables and lists state by themselves."""

from __future__ import annotations

import pytest

from ras_flow.formats.headings import topic
from ras_flow.formats.rows import read_rows


@pytest.mark.parametrize(
    ("text", "facts", "rest"),
    [
        (
            "Mills in 1920\nMill: Kvern; Town: Halden; Wheels: 3\nMill: Sag; Town: -; Wheels: 2\n\n"
            "The others were closed.",
            ["Kvern | Town | Halden", "Kvern | Wheels | 3", "Sag | Wheels | 2"],
            "The others were closed.",
        ),
        (
            "Write to us:\n- Phone: 47 18; ext. 4\n- E-mail: a@b.example\n- Fax: -",
            ["The mill | Phone | 47 18; ext. 4", "The mill | E-mail | a@b.example"],
            "",
        ),
        (
            "-: Kvern: the old; Town: Halden; -: closed; Wheels: 3",
            ["Kvern: the old | Town | Halden", "Kvern: the old | Wheels | 3"],
            "",
        ),
        ("Note: closed", [], "Note: closed"),
        (
            "PX-5: It weighs 4 kg.\nPX-9: It weighs 9.",
            [],
            "PX-5: It weighs 4 kg.\nPX-9: It weighs 9.",
        ),
        ("```\na: b; c: d\n```", [], "```\na: b; c: d\n```"),
        (
            "He said: no; and left: he was tired of it.",
            [],
            "He said: no; and left: he was tired of it.",
        ),
    ],
)
def test_rows_are_read_without_a_model(text: str, facts: list[str], rest: str) -> None:
    found, left = read_rows(text, "The mill")
    assert ([" | ".join(fact) for fact in found], left) == (facts, rest)


@pytest.mark.parametrize(
    ("title", "text", "about"),
    [
        ("Handbook › Pumps › PX-9", "It weighs 12 kg.", "PX-9"),
        ("Alvar Aalto › Early life", "He was born in Kuortane.", "Alvar Aalto"),
        ("Architects › Aalto", "Aalto was born in Kuortane.", "Aalto"),
        ("Handbook › Offices", "It opens at nine.", "Offices"),
        ("Plain title", "It opens at nine.", "Plain title"),
    ],
)
def test_what_a_passage_is_about(title: str, text: str, about: str) -> None:
    assert topic(title, text) == about
