"""What each rule for what enters the graph is worth, on output that was kept.

A rule of :mod:`ras_flow.formats.quality` is switched on alone and off alone; nothing is extracted
for it. A rule helps where it makes better what it is for, and costs no fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ras_flow.datasets.facts import FactPassage, holds
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.quality import RULES, Rule
from ras_flow.formats.triples import Spo
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage
from ras_flow.support.markdown import table
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import passage_of, refined
from ras_flow.training.triples.scores import Match, match_triples, summed


@dataclass
class Effect:
    """The figures of some rules on some texts.

    Attributes:
        rules: Which rules.
        triples: Triples that enter the graph.
        left_out: Triples that do not.
        changed: Triples that enter it otherwise than they were extracted.
        match: Normalised triples against the reference triples of the untouched part.
        found: Answer-bearing facts that were found.
        facts: Answer-bearing facts in all.
        pronouns: Triples whose subject is a pronoun.
    """

    rules: str
    triples: int = 0
    left_out: int = 0
    changed: int = 0
    match: Match = Match()
    found: int = 0
    facts: int = 0
    pronouns: int = 0


def effects_of_rules(
    made: Mapping[str, Extraction],
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
) -> list[Effect]:
    """Measure the rules."""
    choices: dict[str, Mapping[str, Rule]] = {"no rule": {}}
    choices |= {f"only: {name}": {name: rule} for name, rule in RULES.items()}
    choices["all rules"] = RULES
    for out in RULES:
        choices[f"all but: {out}"] = {name: rule for name, rule in RULES.items() if name != out}
    return [_effect(name, chosen, made, examples, facts) for name, chosen in choices.items()]


def effects_table(effects: Sequence[Effect]) -> str:
    """Write figures as a table of Markdown."""
    head = "rules,triples,left out,changed,P,R,F1,facts found,pronoun subjects".split(",")
    rows = [
        [
            *(one.rules, one.triples, one.left_out, one.changed),
            *(f"{value:.4f}" for value in one.match.measures),
            *(f"{one.found} of {one.facts}", one.pronouns),
        ]
        for one in effects
    ]
    return table(head, rows)


def _effect(
    name: str,
    rules: Mapping[str, Rule],
    made: Mapping[str, Extraction],
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
) -> Effect:
    effect = Effect(name)

    def kept(passage: Passage) -> list[Spo]:
        before = made[passage["id"]].triples
        after = refined(made[passage["id"]], passage, rules).triples
        effect.triples += len(after)
        effect.left_out += len(before) - len(after)
        effect.changed += len([triple for triple in after if triple not in before])
        effect.pronouns += sum(is_pronoun(subject) for subject, _, _ in after)
        return after

    for example in examples:
        passage = passage_of(example)
        if passage["id"] in made:
            match = match_triples(kept(passage), example.triples)["normalised"]
            effect.match = summed([effect.match, match])
    for stated in facts:
        if stated.passage["id"] in made:
            triples = kept(stated.passage)
            effect.facts += len(stated.facts)
            effect.found += sum(holds(triples, fact) for fact in stated.facts)
    return effect
