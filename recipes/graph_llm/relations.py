"""How Wikidata's relations are asked for, and how extractors write them.

Data sets name relations as Wikidata does ("place of birth"); people ask "Where was X born?", and
extractors write "born in". Without both, a model would learn to match labels instead of meaning.
"""

from __future__ import annotations

from typing import NamedTuple

from ras_flow.formats.triples import Spo


class Relation(NamedTuple):
    """A relation in words; ``X`` is the subject.

    Attributes:
        questions: Ways to ask for the object, the best first.
        predicates: What extractors write between subject and object, beside the label.
        inverse: What they write when they turn the triple around.
    """

    questions: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()


def _r(questions: str, predicates: str = "", inverse: str = "") -> Relation:
    parts = [tuple(filter(None, text.split("|"))) for text in (questions, predicates, inverse)]
    return Relation(*parts)


RELATIONS: dict[str, Relation] = {
    "director": _r(
        "Who directed X?|Who is the director of X?", "directed by|was directed by", "directed"
    ),
    "date of birth": _r(
        "When was X born?|What is the date of birth of X?", "born on|born|was born on|birth date"
    ),
    "date of death": _r(
        "When did X die?|What is the date of death of X?", "died on|died|death date"
    ),
    "place of birth": _r(
        "Where was X born?|What is the place of birth of X?", "born in|was born in|birthplace"
    ),
    "place of death": _r(
        "Where did X die?|What is the place of death of X?", "died in|death place"
    ),
    "place of burial": _r(
        "Where is X buried?|What is the place of burial of X?", "buried in|was buried at"
    ),
    "cause of death": _r("How did X die?|What was the cause of death of X?", "died of|died from"),
    "father": _r("Who is the father of X?|Who was X's father?", "son of|child of", "father of"),
    "mother": _r("Who is the mother of X?|Who was X's mother?", "child of", "mother of"),
    "parents": _r("Who are the parents of X?|Who is a parent of X?", "child of", "parent of"),
    "spouse": _r(
        "Who is the spouse of X?|Who was X married to?",
        "married to|married|husband or wife",
        "married",
    ),
    "sibling": _r("Who is a sibling of X?|Who is X's brother or sister?", "brother or sister"),
    "child": _r("Who is a child of X?|Who is X's son or daughter?", "parent of", "child of"),
    "children": _r("Who are the children of X?|Who is a child of X?", "parent of", "child of"),
    "country": _r("In which country is X?|What country is X located in?", "located in|is in"),
    "country of citizenship": _r(
        "What is the nationality of X?|What is X's country of citizenship?",
        "nationality|citizen of|is from",
    ),
    "nationality": _r("What is the nationality of X?|Which country is X from?", "citizen of"),
    "country of origin": _r(
        "Which country is X from?|What is the country of origin of X?", "produced in|from"
    ),
    "publication date": _r(
        "When was X released?|What is the release date of X?", "released in|published in|year"
    ),
    "inception": _r("When was X founded?|When was X established?", "founded in|established in"),
    "performer": _r(
        "Who performed X?|Who is the performer of X?", "performed by|song by|sung by", "performed"
    ),
    "composer": _r("Who composed X?|Who is the composer of X?", "composed by|music by", "composed"),
    "author": _r("Who wrote X?|Who is the author of X?", "written by", "wrote"),
    "screenwriter": _r("Who wrote the script of X?|Who wrote X?", "written by", "wrote"),
    "educated at": _r("Where was X educated?|Where did X study?", "studied at|attended"),
    "employer": _r("Who employed X?|Where did X work?", "worked for|employed by", "employed"),
    "award received": _r("Which award did X receive?|What did X win?", "won|received|awarded"),
    "founded by": _r("Who founded X?|Who is the founder of X?", "founder", "founded"),
    "producer": _r("Who produced X?|Who is the producer of X?", "produced by", "produced"),
    "publisher": _r("Who published X?|Who is the publisher of X?", "published by", "published"),
    "creator": _r("Who created X?|Who is the creator of X?", "created by", "created"),
    "developer": _r("Who developed X?|Who is the developer of X?", "developed by", "developed"),
    "manufacturer": _r("Who manufactures X?|Who makes X?", "made by|built by", "manufactures"),
    "occupation": _r("What is the occupation of X?|What does X do?", "worked as|was a"),
    "profession": _r("What is the profession of X?|What does X do?", "worked as|was a"),
    "gender": _r("What is the gender of X?|Is X male or female?", "is"),
    "religion": _r("What is the religion of X?|Which faith does X follow?", "follows"),
    "ethnicity": _r("What is the ethnicity of X?", "ethnic group|is of descent"),
    "institution": _r("Which institution did X attend?|Where did X study?", "studied at"),
    "location": _r("Where is X located?|What is the location of X?", "located in"),
    "place of detention": _r("Where was X imprisoned?", "imprisoned in|was held in"),
    "located in the administrative territorial entity": _r(
        "In which administrative area is X?|Where is X located?", "located in|is in|part of"
    ),
    "shares border with": _r("What borders X?|What does X share a border with?", "borders"),
    "member of sports team": _r(
        "Which team does X play for?|Which sports team is X a member of?", "plays for|player of"
    ),
    "operator": _r("Who operates X?|What is the operator of X?", "operated by", "operates"),
    "headquarters location": _r(
        "Where is the headquarters of X?|Where is X based?", "headquartered in|based in"
    ),
    "record label": _r(
        "What is the record label of X?|Which label is X signed to?", "signed to|released on"
    ),
    "capital": _r("What is the capital of X?|Which city is the capital of X?", "has capital"),
    "capital of": _r("What is X the capital of?|Whose capital is X?", "is capital of"),
    "winner": _r("Who won X?|Who was the winner of X?", "won by", "won"),
    "member of": _r("What is X a member of?|Which group is X part of?", "belongs to", "includes"),
    "part of": _r("What is X part of?|What does X belong to?", "belongs to", "includes"),
    "work location": _r("Where did X work?|Where was X active?", "worked in|active in"),
    "located on terrain feature": _r("Where is X located?|Which land is X on?", "located on"),
    "cast member": _r("Who starred in X?|Who is in the cast of X?", "stars|starring", "starred in"),
    "owned by": _r("Who owns X?|Who is the owner of X?", "owner|belongs to", "owns"),
    "licensed to broadcast to": _r(
        "Where is X licensed to broadcast?|Which city does X serve?", "serves"
    ),
    "followed by": _r("What followed X?|What came after X?", "succeeded by", "follows"),
    "follows": _r("What came before X?|What does X follow?", "preceded by", "followed by"),
    "mouth of the watercourse": _r("Where does X end?|What does X flow into?", "flows into"),
    "original language of film or TV show": _r("In which language is X?", "language"),
    "has part": _r("What is part of X?|What does X include?", "includes", "part of"),
    "part of the series": _r("Which series is X part of?", "belongs to the series"),
    "located in or next to body of water": _r(
        "Which body of water is X next to?|What water is X on?", "located on"
    ),
    "contains administrative territorial entity": _r(
        "Which place does X contain?|What lies within X?", "contains", "located in"
    ),
    "location of formation": _r("Where was X formed?|Where was X founded?", "formed in"),
    "participant in": _r("What did X take part in?", "took part in"),
    "instance of": _r("What is X?|What kind of thing is X?", "is|is a"),
    "named after": _r("What is X named after?|Who is X named after?", "takes its name from"),
    "distributed by": _r("Who distributed X?|Who is the distributor of X?", "distributor"),
    "continent": _r("On which continent is X?", "located in"),
    "member of political party": _r("Which party does X belong to?", "party"),
    "league": _r("Which league does X play in?", "plays in"),
    "movement": _r("Which movement was X part of?", "associated with"),
    "sport": _r("Which sport does X play?|What is the sport of X?", "plays"),
    "military branch": _r("Which military branch did X serve in?", "served in"),
    "languages spoken, written or signed": _r("Which language does X speak?", "speaks"),
    "instrument": _r("Which instrument does X play?", "plays"),
    "drafted by": _r("Who drafted X?", "was drafted by", "drafted"),
    "crosses": _r("What does X cross?", "spans"),
    "residence": _r("Where does X live?|Where did X live?", "lives in"),
}
"""By label, as in Wikidata; PathQuestion has some of its own."""


def ask(predicate: str, subject: str) -> tuple[str, ...]:
    """Return questions for the object of a triple, the best first; at least two."""
    label = " ".join(predicate.replace("_", " ").split())
    known = RELATIONS.get(label, Relation(()))
    asked = [question.replace("X", subject) for question in known.questions]
    if not asked:
        asked = [f"What is the {label} of {subject}?"]
    asked.append(f"{subject} {label}")
    return tuple(dict.fromkeys(asked))


def spellings(triple: Spo) -> list[Spo]:
    """Return what else an extractor may write for a triple, its own wording left out."""
    subject, predicate, object = triple
    known = RELATIONS.get(predicate, Relation(()))
    forward = [(subject, words, object) for words in known.predicates]
    return forward + [(object, words, subject) for words in known.inverse]
