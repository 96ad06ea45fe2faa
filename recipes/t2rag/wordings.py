"""Questions in other shapes than the data sets have: one fact, claims, comparisons, longer chains.

Nearly all of 2Wiki's questions have one of three shapes. So names of its training questions are
asked for in ways of our own; what these names really are does not matter, only which clues a
question is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from ras_flow.formats.triples import Spo
from recipes.t2rag.gold import Gold, apart


class Names(NamedTuple):
    """Names to ask about."""

    works: Sequence[str]
    people: Sequence[str]
    places: Sequence[str]


class _Deed(NamedTuple):
    """What a person does with a thing: ``wrote``, ``written``, ``write``, ``author``."""

    past: str
    participle: str
    plain: str
    agent: str


_DEEDS = [
    _Deed(*words.split("|"))
    for words in (
        "designed|designed|design|designer",
        "designed|designed|design|architect",
        "built|built|build|builder",
        "founded|founded|found|founder",
        "invented|invented|invent|inventor",
        "discovered|discovered|discover|discoverer",
        "wrote|written|write|author",
        "wrote|written|write|writer",
        "directed|directed|direct|director",
        "composed|composed|compose|composer",
        "painted|painted|paint|painter",
        "produced|produced|produce|producer",
        "created|created|create|creator",
        "sang|sung|sing|singer",
        "developed|developed|develop|developer",
        "published|published|publish|publisher",
        "owned|owned|own|owner",
        "led|led|lead|leader",
        "edited|edited|edit|editor",
        "performed|performed|perform|performer",
    )
]

_OF_PEOPLE = [
    tuple(one.split("|"))
    for one in (
        "Where was X born?|place of birth|birthplace",
        "In which city was X born?|place of birth|city",
        "In which town was X born?|place of birth|town",
        "What is the place of birth of X?|place of birth|birthplace",
        "In what country was X born?|country of birth|country",
        "When was X born?|date of birth|birth",
        "In which year was X born?|year of birth|year",
        "When did X die?|date of death|death",
        "In which year did X die?|year of death|year",
        "Where did X die?|place of death|deathplace",
        "In which city did X die?|place of death|city",
        "Where is X buried?|place of burial|grave",
        "How did X die?|cause of death|cause",
        "At which university did X study?|studied at|university",
        "Which school did X attend?|educated at|school",
        "Where did X study?|educated at|school",
        "Whom did X marry?|spouse|spouse",
        "Who is the spouse of X?|spouse|spouse",
        "Who was the father of X?|father|father",
        "Who is X's mother?|mother|mother",
        "What is the nationality of X?|nationality|nationality",
        "Which country is X from?|nationality|country",
        "Which award did X win?|award received|award",
        "How many children did X have?|number of children|number",
        "Where did X work?|employer|employer",
        "What was the occupation of X?|occupation|occupation",
        "How tall is X?|height|height",
        "Which team does X play for?|plays for|team",
        "Which instrument does X play?|instrument|instrument",
        "To which party does X belong?|member of party|party",
    )
]
"""Questions about a person, with the relation that they ask for and a slot's name."""

_OF_PLACES = [
    tuple(one.split("|"))
    for one in (
        "In which country is X?|country|country",
        "What is the population of X?|population|number",
        "How many people live in X?|population|number",
        "When was X founded?|founded in|date",
        "Which river flows through X?|<flows through|river",
        "On which river does X lie?|lies on river|river",
        "What is the capital of X?|capital|capital",
        "Who is the mayor of X?|mayor|mayor",
        "What is the highest mountain of X?|highest mountain|mountain",
        "Which language is spoken in X?|language|language",
        "What is the area of X?|area|area",
        "Which state borders X?|shares border with|state",
    )
]
"""As for people; "<" has the place as the object."""

_OF_WORKS = [
    tuple(one.split("|"))
    for one in (
        "When was X published?|publication date|date",
        "In what year was X released?|released in|year",
        "When was X built?|built in|date",
        "In which year was X opened?|opened in|year",
        "Where was X built?|built in|place",
        "In which town was X made?|made in|town",
        "Where is X?|location|place",
        "How long is X?|length|length",
        "How high is X?|height|height",
        "How many parts does X have?|number of parts|number",
        "What is X named after?|named after|name",
        "In which language is X?|language|language",
        "Which company made X?|made by|company",
        "What genre is X?|genre|genre",
        "Who played the lead in X?|lead actor|actor",
        "Which prize did X win?|won|prize",
    )
]

_PLACE_OF = [
    tuple(one.split("|"))
    for one in (
        "the city where X was born|people|place of birth|city",
        "the town in which X was born|people|place of birth|town",
        "the birthplace of X|people|place of birth|birthplace",
        "the city where X died|people|place of death|city",
        "the country X comes from|people|nationality|country",
        "the city where X is|works|located in|city",
        "the town where X was built|works|built in|town",
        "the country where X was made|works|country of origin|country",
        "the place where X is buried|people|place of burial|place",
    )
]
"""Descriptions of places, of whom they speak, the relation, a slot's name."""

_COMPARED = [
    tuple(one.split("|"))
    for one in (
        "Who was born first, X or Y?|people|date of birth|birth",
        "Who died later, X or Y?|people|date of death|death",
        "Who is older, X or Y?|people|date of birth|birth",
        "Which came out first, X or Y?|works|publication date|date",
        "Which is longer, X or Y?|works|length|length",
        "Which is older, X or Y?|works|inception|date",
        "Is X taller than Y?|works|height|height",
        "Was X born before Y?|people|date of birth|birth",
        "Did X die later than Y?|people|date of death|death",
        "Which has more inhabitants, X or Y?|places|population|number",
        "Is X larger than Y?|places|area|area",
        "Are X and Y from the same country?|people|nationality|country",
        "Were X and Y born in the same city?|people|place of birth|city",
        "Do X and Y have the same author?|works|author|author",
        "Are X and Y in the same country?|places|country|country",
    )
]

_CLAIMS = [
    tuple(one.split("|"))
    for one in (
        "Was X born in Y?|people|place of birth|places",
        "Did X die in Y?|people|place of death|places",
        "Is X from Y?|people|nationality|places",
        "Was X married to Y?|people|spouse|people",
        "Is X the father of Y?|people|child|people",
        "Is X in Y?|works|located in|places",
        "Was X made in Y?|works|made in|places",
        "Is X named after Y?|works|named after|people",
        "Does X lie in Y?|places|located in|places",
        "Did X live in Y?|people|lived in|places",
    )
]


def questions(names: Names, count: int, seed: int) -> Iterator[Gold]:
    """Yield questions of our own, the same for the same seed."""
    rng = Random(f"{seed}\0t2rag")
    kinds: list[tuple[Callable[[Names, Random], tuple[str, list[Spo]]], int]] = [
        (_one_fact, 4),
        (_of_maker, 5),
        (_of_place, 3),
        (_three, 3),
        (_compared, 2),
        (_claim, 3),
    ]
    makers, weights = zip(*kinds, strict=True)
    for number in range(count):
        question, clues = rng.choices(makers, weights)[0](names, rng)
        yield Gold("worded", f"worded-{number}", "train", question, tuple(clues))


def _one_fact(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    if rng.random() < 0.5:
        deed, work = rng.choice(_DEEDS), rng.choice(names.works)
        form = rng.choice(
            ["Who {past} X?", "Who {past} X?", "By whom was X {participle}?"]
            + ["Who was the {agent} of X?", "Who is X's {agent}?", "Which person {past} X?"]
        )
        asked = form.format(**deed._asdict()).replace("X", work, 1)
        return asked, [(work, _by(deed, form, rng), f"?{deed.agent}")]
    some, forms = rng.choice(
        [(names.people, _OF_PEOPLE), (names.places, _OF_PLACES), (names.works, _OF_WORKS)]
    )
    name, told = rng.choice(some), rng.choice(forms)
    return told[0].replace("X", name, 1), [_asked(told, name, f"?{told[2]}")]


def _of_maker(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    """Ask about the person who made something."""
    described, clue = _maker(names, rng)
    form = rng.choice(_OF_PEOPLE)
    slot = f"?{form[2]}"
    return _joined(form[0], described, rng), [clue, _asked(form, clue[2], slot)]


def _of_place(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    place = rng.choice(_PLACE_OF)
    name = rng.choice(names.people if place[1] == "people" else names.works)
    form = rng.choice(_OF_PLACES)
    first, last = apart([place[3], form[2]])
    asked = form[0].replace("X", place[0].replace("X", name, 1), 1)
    return asked, [(name, place[2], first), _asked(form, first, last)]


def _three(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    described, clue = _maker(names, rng)
    if rng.random() < 0.5:
        place = rng.choice([one for one in _PLACE_OF if one[1] == "people"])
        form = rng.choice(_OF_PLACES)
        middle, last = apart([place[3], form[2]])
        asked = form[0].replace("X", place[0].replace("X", described, 1), 1)
        return asked, [clue, (clue[2], place[2], middle), _asked(form, middle, last)]
    kin = rng.choice(["father", "mother", "spouse", "brother", "sister", "son", "teacher"])
    form = rng.choice([one for one in _OF_PEOPLE if one[2] not in (kin, "birth")])
    asked = form[0].replace("X", f"the {kin} of {described}", 1)
    return asked, [clue, (clue[2], kin, f"?{kin}"), _asked(form, f"?{kin}", f"?{form[2]}")]


def _compared(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    form = rng.choice(_COMPARED)
    one, other = rng.sample(list(getattr(names, form[1])), 2)
    slots = apart([form[3], form[3]])
    asked = _filled(form[0], one, other)
    if form[1] == "works" and rng.random() < 0.3:
        deed = rng.choice(_DEEDS)
        asked = f"Do {one} and {other} have the same {deed.agent}?"
        slots, relation = apart([deed.agent] * 2), f"{deed.participle} by"
        return asked, [(one, relation, slots[0]), (other, relation, slots[1])]
    return asked, [(one, form[2], slots[0]), (other, form[2], slots[1])]


def _claim(names: Names, rng: Random) -> tuple[str, list[Spo]]:
    if rng.random() < 0.4:
        deed, work, person = rng.choice(_DEEDS), rng.choice(names.works), rng.choice(names.people)
        form = rng.choice(
            ["Did Y {plain} X?", "Was X {participle} by Y?", "Is Y the {agent} of X?"]
        )
        asked = _filled(form.format(**deed._asdict()), work, person)
        return asked, [(work, _by(deed, form, rng), person)]
    if rng.random() < 0.3:
        described, clue = _maker(names, rng)
        place = rng.choice(names.places)
        asked, relation = rng.choice(
            [("Is X from Y?", "nationality"), ("Was X born in Y?", "place of birth")]
        )
        return _filled(asked, described, place), [clue, (clue[2], relation, place)]
    claim = rng.choice(_CLAIMS)
    one, other = rng.choice(getattr(names, claim[1])), rng.choice(getattr(names, claim[3]))
    return _filled(claim[0], one, other), [(one, claim[2], other)]


def _maker(names: Names, rng: Random) -> tuple[str, Spo]:
    deed, work = rng.choice(_DEEDS), rng.choice(names.works)
    form = rng.choice(
        ["the {agent} of X", "the {agent} of X", "X's {agent}", "the person who {past} X"]
        + ["the man who {past} X", "the woman who {past} X"]
    )
    described = form.format(**deed._asdict()).replace("X", work, 1)
    return described, (work, _by(deed, form, rng), f"?{deed.agent}")


def _by(deed: _Deed, form: str, rng: Random) -> str:
    """Return the relation from a thing to its maker, in the words of its question."""
    named = "{agent}" in form and rng.random() < 0.5
    return deed.agent if named else f"{deed.participle} by"


def _asked(form: Sequence[str], known: str, slot: str) -> Spo:
    relation = form[1]
    return (slot, relation[1:], known) if relation.startswith("<") else (known, relation, slot)


def _joined(form: str, described: str, rng: Random) -> str:
    """Put a description into a question; a relative clause may stand at its end."""
    head, who, clause = described.partition(" who ")
    if who and rng.random() < 0.5 and form.startswith(("In which", "At which", "Where was")):
        return f"{form.replace('X', head, 1).rstrip('?')} who {clause}?"
    return form.replace("X", described, 1)


def _filled(form: str, one: str, other: str) -> str:
    before, _, rest = form.partition("X")
    if "Y" in before:
        return before.replace("Y", other, 1) + one + rest
    return before + one + rest.replace("Y", other, 1)
