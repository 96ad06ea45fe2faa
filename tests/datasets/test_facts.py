from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.datasets.facts import fact_recall, holds, read_facts, titles_of
from tests.training.triples.samples import fact_rows, write_rows


def test_facts_are_on_the_passage_that_states_them(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "2wiki.jsonl", fact_rows())
    film, person = read_facts(file)
    assert film.passage["title"] == "Salt Road (film)"
    assert film.facts == (("Salt Road", "director", "Aino Laine"),)
    assert person.passage["text"] == "Aino Laine is from Oulu. She directs."
    assert person.facts == (("Aino Laine", "place of birth", "Oulu"),)  # Nobody is not mentioned.
    assert titles_of(file) == {"Salt Road (film)", "Aino Laine", "Maple House 6"}


def test_recall(tmp_path: Path) -> None:
    passages = read_facts(write_rows(tmp_path / "2wiki.jsonl", fact_rows()))
    found = [[("Aino Laine", "directed", "Salt Road")], [("Aino Laine", "likes", "salt")]]
    assert fact_recall(passages, found) == 0.5
    assert fact_recall(passages, [[], []]) == 0
    assert fact_recall([], []) == 1


@pytest.mark.parametrize(
    ("triple", "held"),
    [
        (("William Reeves Eason", "died", "June 9, 1956"), True),
        (("B. Reeves Eason", "was", "director who died on June 9, 1956"), True),
        (("June 9, 1956", "death of", "Eason"), True),
        (("B. Reeves Eason", "died", "1965"), False),
        (("George Cukor", "died", "June 9, 1956"), False),
        (("B. Reeves Eason", "lived", f"{'on ' * 15}June 9, 1956"), False),
    ],
)
def test_soft_matching(triple: tuple[str, str, str], held: bool) -> None:
    assert holds([triple], ("B. Reeves Eason", "date of death", "June 9, 1956")) is held
