"""What each rule for what enters the graph is worth."""

from __future__ import annotations

from ras_flow.datasets.facts import FactPassage
from ras_flow.formats.quality import RULES
from ras_flow.parts import Extraction
from ras_flow.state.schema import make_passage as passage
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import passage_of
from recipes.triples.rules import effects_of_rules


def test_each_rule_is_measured_alone_and_left_out() -> None:
    example = Example(
        "1", "s", "Ann", "Ann is a cook. She met Bo on May 4, 1950.",
        (("Ann", "met", "Bo"), ("Ann", "met on", "May 4, 1950")),
    )  # fmt: skip
    film = passage("Salt Road", "Salt Road is a film by Aino Laine.")
    stated = FactPassage(film, (("Salt Road", "director", "Aino Laine"),))
    other = FactPassage(passage("Not made", "x"), (("a", "b", "c"),))
    made = {
        passage_of(example)["id"]: Extraction(
            [("She", "met", "Bo"), ("Ann", "met on", "May 4, 1950")]
        ),
        film["id"]: Extraction(
            [("The film", "by", "Aino Laine"), ("Salt Road", "is", "salt road")]
        ),
    }
    found = {effect.rules: effect for effect in effects_of_rules(made, [example], [stated, other])}
    none, everything = found["no rule"], found["all rules"]
    assert (none.triples, none.left_out, none.changed, none.pronouns) == (4, 0, 0, 1)
    assert (none.match.measures[2], none.found, none.facts) == (0.5, 0, 1)
    assert (everything.triples, everything.left_out, everything.changed) == (3, 1, 2)
    assert (everything.match.measures[2], everything.found, everything.pronouns) == (1, 1, 0)
    assert (found["only: pronoun"].match.measures[2], found["only: pronoun"].found) == (1, 1)
    assert (found["all but: pronoun"].match.measures[2], found["all but: pronoun"].found) == (
        0.5,
        0,
    )
    assert found["only: subject as object"].left_out == 1
    assert len(found) == 2 + 2 * len(RULES)
