"""Which facts a passage states."""

from __future__ import annotations

import pytest

from ras_flow.formats.stated import is_stated

TITLE, TEXT = "Salt Road (film)", "Salt Road is a film that the Norwegian Per Holm made in 1987."


@pytest.mark.parametrize(
    ("spo", "stated"),
    [
        (("Salt Road (film)", "directed by", "Per Holm"), True),
        (("Salt Road", "year", "1987"), True),
        (("SALT ROAD", "is a", "Film"), True),
        (("Per Holm", "one of", "Norwegians"), True),
        (("Per Holm", "profession", "film director"), True),
        (("Salt Road", "directed by", "Aino Laine"), False),
        (("Salt Road", "year", "1988"), False),
        (("director", "of", "the work"), False),
        (("norwegian", "made", "film"), True),
    ],
)
def test_names_and_numbers_must_stand_in_the_passage(
    spo: tuple[str, str, str], stated: bool
) -> None:
    assert is_stated(spo, TITLE, TEXT) is stated


def test_scripts_without_capitals_are_compared_by_their_words() -> None:
    assert is_stated(("塩の道", "監督", "佐藤健"), "塩の道", "佐藤健が監督した映画。")
    assert not is_stated(("砂の城", "監督", "林"), "塩の道", "佐藤健が監督した映画。")
