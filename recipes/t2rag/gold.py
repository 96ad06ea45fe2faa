"""Gold clues of questions: which facts answer them, with slots for what is unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ras_flow.datasets.contexts import paragraph_of_step, paragraphs, title_of_step
from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import fill, references
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.training.splits import Split
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sources.texts import mentions
from recipes.graph_llm.wording import fact_of


@dataclass(frozen=True)
class Gold:
    """A question with its clues.

    Attributes:
        values: What fills the slot of each clue; empty for a claim.
        pages: Where each clue's fact stands; pages of no title where that is not known.
        context: Other passages that come with the question.
    """

    source: str
    id: str
    split: Split
    question: str
    clues: tuple[Spo, ...]
    values: tuple[tuple[str, ...], ...] = ()
    pages: tuple[Page, ...] = ()
    context: tuple[Page, ...] = ()


_SLOTS = {
    "date of birth": "birth",
    "date of death": "death",
    "place of birth": "birthplace",
    "place of death": "deathplace",
    "place of burial": "grave",
    "cause of death": "cause",
    "publication date": "date",
    "inception": "date",
    "educated at": "school",
    "award received": "award",
    "children": "child",
    "parents": "parent",
    "followed by": "successor",
    "follows": "predecessor",
    "capital of": "place",
    "capital": "capital",
    "shares border with": "neighbour",
    "member of sports team": "team",
    "headquarters location": "place",
    "cast member": "actor",
}
"""Names of slots by relation, where they are not the relation's first word."""

_SHORTER = {
    "located in the administrative territorial entity": "located in",
    "country of citizenship": "nationality",
    "original language of film or TV show": "language",
    "located in or next to body of water": "located on",
    "contains administrative territorial entity": "contains",
}
_BY = re.compile(r"(\w+?)(?:ed)? by")
_ASKED = re.compile(
    r"\b(who|whom|whose|when|where|how many|how much|which|what)\b(?: (\w+))?", re.I
)
_KINDS = {"who": "person", "whom": "person", "whose": "person", "when": "date", "where": "place"}
_VERBS = frozenset(
    "is are was were do does did has have had can could would will the a an of in on percent kind "
    "type and or to s went came happened caused made many".split()
)
_WHAT = re.compile(r"\s+(?:of )?(?:who|whom|what|which)\b.*")
_UNSAID = re.compile(r"besides|name |list |except", re.I)
_MARK, _SLOT = "Xanswerx", re.compile(r"Xslot(\d+)x")
_NUMBER = "918273645"
"""What stands for an answer that is a number, whose triple has another order."""


def slot_name(relation: str) -> str:
    """Return what the object of a relation is called."""
    label = " ".join(relation.replace("_", " ").split())
    if label in _SLOTS:
        return _SLOTS[label]
    if by := _BY.fullmatch(label):
        return {"found": "founder", "own": "owner", "draft": "drafter"}.get(by[1], "person")
    first = re.match(r"[a-z]{3,}", label)
    plain = first and first[0] not in ("located", "shares", "has", "part", "participant", "member")
    return first[0] if first and plain else "place" if label.startswith("located") else "thing"


def asked_slot(question: str) -> str:
    """Return what a question asks for: a person, a date, or the noun behind "which"."""
    asked = _ASKED.search(question)
    if asked is None:
        return "thing"
    word, noun = asked[1].lower(), (asked[2] or "").lower()
    if word.startswith("how"):
        return "number"
    if word in _KINDS:
        return _KINDS[word]
    return noun if noun.isascii() and noun.isalpha() and noun not in _VERBS else "thing"


def apart(names: Sequence[str]) -> list[str]:
    """Return slots for names, those that come twice as ``?name_a`` and ``?name_b``."""
    counts, seen = Counter(names), Counter[str]()
    slots = []
    for name in names:
        letter = f"_{chr(ord('a') + seen[name])}" if counts[name] > 1 else ""
        seen[name] += 1
        slots.append(f"?{name}{letter}")
    return slots


def in_question(question: str, name: str) -> str:
    """Return a name as a question writes it, with a "(film)" that follows there."""
    bare = name.partition(" (")[0]
    found = re.search(rf"(?<!\w){re.escape(bare)}(?!\w)(?: \([^()]+\))?", question, re.IGNORECASE)
    return found[0] if found else name


def of_case(case: Case, split: Split) -> Gold | None:
    """Make the clues of a question whose steps name subject and relation."""
    needed = {need for step in case.steps for need in step.needs}
    claimed = case.answer.casefold() in ("yes", "no") and all(
        len(step.facts) == 1 and mentions(case.question, step.facts[0][2])
        for at, step in enumerate(case.steps)
        if at not in needed
    )
    slots = apart([slot_name(step.facts[0][1]) for step in case.steps])
    clues: list[Spo] = []
    for at, step in enumerate(case.steps):
        subject, relation, object = step.facts[0]
        if len(step.needs) > 1 or any(need >= at for need in step.needs):
            return None
        known = in_question(case.question, subject)
        start = slots[step.needs[0]] if step.needs else known
        told = claimed and at not in needed
        end = in_question(case.question, object) if told else slots[at]
        clues.append((start, _SHORTER.get(relation, relation), end))
    if not clues:
        return None
    values = tuple(_values(step) for step in case.steps)
    pages = tuple(step.page for step in case.steps)
    return Gold(
        case.source, case.id, split, case.question, tuple(clues), values, pages, case.context
    )


def of_musique(row: Row, split: Split) -> Gold | None:
    """Make the clues of a MuSiQue question, if each of its steps is one triple."""
    parts = row.rows("decomp" if row.has("decomp") else "question_decomposition")
    answers = [part.first_text("a", "answer") for part in parts]
    asked = [part.first_text("q", "question") for part in parts]
    given = [Page(t, (), " ".join(text.split())) for t, text in paragraphs(row)]
    made: list[Spo] = []
    pages: list[Page] = []
    for at, (part, raw) in enumerate(zip(parts, asked, strict=True)):
        number = paragraph_of_step(part)
        page = given[number] if number is not None and 0 <= number < len(given) else None
        pages.append(page or Page(title_of_step(part), ()))
        spo = _step(raw, at, answers[at], pages[-1].title)
        if spo is None:
            return None
        made.append(spo)
    slots = apart([_slot_of(raw) for raw in asked])
    clues = tuple(_with_slots(spo, slots, at) for at, spo in enumerate(made))
    if not all(_said(clue, row.text("question")) for clue in clues):
        return None
    used = {page.title for page in pages}
    return Gold(
        "musique",
        row.text("id"),
        split,
        row.text("question"),
        clues,
        tuple((answer,) for answer in answers),
        tuple(pages),
        tuple(page for page in given if page.title not in used),
    )


def of_steps(row: Row, split: Split) -> Iterable[Gold]:
    """Make a question of one fact of each step of a MuSiQue question that is in words."""
    parts = row.rows("decomp" if row.has("decomp") else "question_decomposition")
    results = {at: part.first_text("a", "answer") for at, part in enumerate(parts)}
    for at, part in enumerate(parts):
        raw = part.first_text("q", "question")
        if ">>" in raw or len(raw.split()) < 4:
            continue
        names = [results[number] for number in sorted(references(raw)) if number in results]
        question = fill(raw, results)
        gold = of_answered(f"{row.text('id')}/{at}", question, results[at], names, split)
        if gold:
            yield gold


def of_answered(
    id: str, question: str, answer: str, names: Sequence[str], split: Split, source: str = "steps"
) -> Gold | None:
    """Make the one clue of an answered question that names what it asks about."""
    spo = _made(question, answer, names)
    if spo is None:
        return None
    clue = _with_slots(spo, [f"?{asked_slot(question)}"], 0)
    written = question[:1].upper() + question[1:].rstrip(" ?.") + "?"
    if not _said(clue, question):
        return None
    return Gold(source, id, split, " ".join(written.split()), (clue,), ((answer,),))


def _values(step: Step) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fact[2] for fact in step.facts))


def _slot_of(raw: str) -> str:
    return slot_name(raw.rpartition(">>")[2].strip()) if ">>" in raw else asked_slot(raw)


def _step(raw: str, at: int, answer: str, title: str) -> Spo | None:
    numbers = sorted(references(raw))
    if len(numbers) > 1 or any(number >= at for number in numbers):
        return None
    marks = {number: f"Xslot{number}x" for number in numbers}
    return _made(fill(raw, marks), answer, [*marks.values(), title, title.partition(" (")[0]])


def _made(question: str, answer: str, names: Sequence[str]) -> Spo | None:
    """Make a triple of a question, with a mark for what it asks for."""
    mark = _NUMBER if normalize_name(answer).isdecimal() else _MARK
    capitals = re.findall(
        r"(?<=[a-z,] )[A-Z][\w.'’-]*(?: (?:of |the |and )?[A-Z\d][\w.'’-]*)*", question
    )
    found = fact_of(question, mark, [*names, *sorted(capitals, key=len, reverse=True)])
    if found is None:
        return None
    subject, relation, object = found[0]
    relation = _WHAT.sub("", _SHORTER.get(relation, relation))
    usable = relation[:1].isalnum() and len(relation.split()) <= 8 and not _UNSAID.match(relation)
    if not usable or mark not in (subject, object) or " " not in f"{relation} {question}":
        return None
    return subject.replace(mark, _MARK), relation, object.replace(mark, _MARK)


def _with_slots(spo: Spo, slots: Sequence[str], at: int) -> Spo:
    subject, relation, object = (
        _SLOT.sub(lambda mark: slots[int(mark[1])], part).replace(_MARK, slots[at]) for part in spo
    )
    return subject, relation, object


def _said(clue: Spo, question: str) -> bool:
    """Tell whether a question says most of what a clue names, and its slots are whole fields."""
    said = set(normalize_name(question).split())
    for part in (clue[0], clue[2]):
        words = normalize_name(re.sub(r"\?\w+", " ", part)).split()
        if words and sum(word in said for word in words) < 0.6 * len(words):
            return False
    slots = [part for part in clue if "?" in part]
    return len(slots) < 3 and all(re.fullmatch(r"\?\w+", part) for part in slots)
