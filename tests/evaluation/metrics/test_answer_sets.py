"""Set metrics against the published rules, written out here on their own."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics import answer_sets
from ras_flow.evaluation.metrics.answer_sets import (
    hit,
    hit_at_1,
    listed_answers,
    micro_f1,
    set_f1,
    strict_f1,
)
from ras_flow.evaluation.question import Question

NAMES = [
    "Paris",
    "Paris, France",
    "France",
    "the Seine",
    "Bonn",
    "1990-03-29",
    "1990",
    "North Bonn",
]
ASKED = ["Which rivers are there?", "Where is it?", "When was it?", "What languages do they speak?"]
SETS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5)
ROWS = st.lists(st.tuples(st.sampled_from(ASKED), SETS, SETS), min_size=1, max_size=4)


def of(asked: str, gold: list[str]) -> Question:
    return Question("1", asked, tuple(gold), answer_sets=tuple((name,) for name in gold))


class Published:
    """One question by SubgraphRAG's rules: sorted by length, contained, each prediction once."""

    def __init__(self, asked: str, gold: list[str], said: list[str]) -> None:
        asked = asked.lower()
        self.loose = bool(
            re.search("when|(what|which) year|where|sport|what countr|language", asked)
        )
        gold = sorted(set(gold), key=lambda name: (-len(name), gold.index(name)))
        if "when" in asked or "what year" in asked:
            gold = [re.sub(r"^(\d+)-.*", r"\1", name) for name in gold]
        self.gold, self.said = gold, list(dict.fromkeys(said))
        left = sorted(self.said, key=lambda name: -len(name))
        self.right = 0
        for name in gold:
            for at, one in enumerate(left):
                if self.same(one, name):
                    self.right += 1
                    del left[at]
                    break

    def same(self, said: str, name: str) -> bool:
        return self.bare(name) in self.bare(said) or (
            self.loose and self.bare(said) in self.bare(name)
        )

    @staticmethod
    def bare(text: str) -> str:
        kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())

    def f1(self) -> float:
        precision, recall = self.right / len(self.said), self.right / len(self.gold)
        return 2 * precision * recall / (precision + recall) if self.right else 0.0


@given(ROWS)
def test_published_rules(rows: list[tuple[str, list[str], list[str]]]) -> None:
    texts = ["\n".join(f"ans: {name}" for name in said) for _, _, said in rows]
    questions = [of(asked, gold) for asked, gold, _ in rows]
    others = [Published(*row) for row in rows]
    for text, question, other in zip(texts, questions, others, strict=True):
        assert set_f1(text, question) == pytest.approx(other.f1())
        pairs = [(one, name) for one in other.said for name in other.gold]
        assert hit(text, question) == any(other.same(*pair) for pair in pairs)
        first = [other.same(one, name) for one, name in pairs if one == other.said[0]]
        assert hit_at_1(text, question) == any(first)
        assert strict_f1(text, question) <= 1
    right, said, gold = (
        sum(len(value) if isinstance(value, list) else value for value in values)
        for values in zip(*((one.right, one.said, one.gold) for one in others), strict=True)
    )
    assert micro_f1(texts, questions) == pytest.approx(2 * right / (said + gold))


def test_what_a_text_lists() -> None:
    assert listed_answers("Let me see.\nans: Io\nans: Europa\nans: Io") == ["Io", "Europa"]
    assert listed_answers("ans: none") == []
    assert listed_answers("Io\n\nEuropa\n") == ["Io", "Europa"]
    moons = of("Which moons?", ["Io", "Europa"])
    assert hit("It must be Io, I think.", moons) == 1 and hit("ans: none\nIo", moons) == 0
    assert set_f1("", moons) == hit_at_1("", moons) == micro_f1([""], [moons]) == 0


def test_names_of_one_answer_count_once_and_strictness() -> None:
    question = Question("1", "Which?", ("NYC",), answer_sets=(("New York City", "NYC"), ("Bonn",)))
    assert set_f1("NYC\nNew York City\nBonn", question) == pytest.approx(0.8)
    assert strict_f1("NYC\nBonn", question) == 1
    assert (set_f1("the city of Bonn", question), strict_f1("the city of Bonn", question)) == (
        pytest.approx(2 / 3),
        0,
    )
    assert answer_sets.gold_groups(Question("1", "Which?", ("NYC", "New York"))) == [
        ("NYC", "New York")
    ]
