"""Rounds of T²RAG as its resolver meets them, simulated on questions whose facts are known.

A round has the open clues in their current form, the passages that a search for the searchable ones
might bring, and their propositions. The passage of a clue may not be among them, or only its
proposition may be read; a slot is filled in the target if, and only if, something that is shown
states its value, and the clue is searchable by then. Chance comes from the seed and the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ras_flow.formats.hop_reply import Fact
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.tokens import tokenize
from ras_flow.formats.triples import Spo
from ras_flow.indexes.bm25 import best, build_bm25
from ras_flow.state.schema import make_passage
from ras_flow.t2rag.clues import Form, bind, slots_of
from ras_flow.t2rag.formats.resolution import (
    Judged,
    Resolution,
    ResolveRequest,
    Value,
    format_resolution,
    resolve_view,
)
from recipes.graph_llm.case import Page
from recipes.graph_llm.sentences import split_sentences
from recipes.graph_llm.sources.texts import mentions
from recipes.graph_llm.surface import Surface
from recipes.t2rag.gold import Gold

MOST_WORDS = 50
"""Words of a passage that are shown: the sentences around what it is wanted for."""

NEAR = 12


@dataclass(frozen=True)
class Round:
    """What a resolver reads, and what it should write."""

    gold: Gold
    view: str
    reply: str


class Pages:
    """Passages of a split, from which distractors are drawn: those that BM25 finds for a clue."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self.pages = list(dict.fromkeys(page for page in pages if page.text or page.triples))
        self._engine: Any = build_bm25(
            make_passage(page.title, page.text or " ".join(map(" ".join, page.triples)))
            for page in self.pages
        )

    def near(self, query: str, values: Iterable[str], rng: Random) -> list[Page]:
        """Return passages that look like an answer and state none of the values, shuffled."""
        terms = self._engine.get_tokens_ids(tokenize(query)) if self._engine else []
        found = best(self._engine.get_scores_from_ids(terms), NEAR).tolist() if terms else []
        pages = [self.pages[at] for at in found]
        rng.shuffle(pages)
        values = list(values)
        return [page for page in pages if not any(_states(page, value) for value in values)]


@dataclass
class _Shown:
    """A passage of the round: its text cut to a window, if it is shown, and its propositions."""

    page: Page
    text: str
    facts: list[Spo] = field(default_factory=list)


def play(gold: Gold, pages: Pages, seed: int, number: int = 0) -> Round | None:
    """Make one round of a question."""
    rng = Random(f"{seed}\0{gold.source}\0{gold.id}\0{number}")
    surface = Surface(rng, 0.35)
    values = _bound(gold)
    done = _done(gold, values, rng)
    current = {
        slot: values[slot] for at in done for slot in slots_of(gold.clues[at]) if slot in values
    }
    open_clues = [at for at in range(len(gold.clues)) if at not in done]
    if not open_clues:
        return None
    forms = {at: bind(gold.clues[at], current) for at in open_clues}
    shown = _passages(gold, forms, pages, surface, rng)
    texts = rng.choices([0, 1, 2], [20, 40, 40])[0]
    rng.shuffle(shown)
    if rng.random() < 0.6:  # A search often has the right one first.
        wanted = {gold.pages[at].title for at in open_clues}
        shown.sort(key=lambda one: one.page.title not in wanted)
    shown.sort(key=lambda one: not one.text)
    texts = min(texts, sum(bool(one.text) for one in shown))
    reply = _reply(gold, open_clues, current, shown, texts)
    passages = [make_passage(one.page.title, one.text or one.page.title) for one in shown]
    facts = [Fact(fact, (at,)) for at, one in enumerate(shown, 1) for fact in one.facts]
    known = [bind(gold.clues[at], current).spo for at in sorted(done)]
    clues = [forms[at].spo for at in open_clues]
    request = ResolveRequest(gold.question, clues, passages, facts, known, texts)
    return Round(gold, resolve_view(request), format_resolution(reply))


def claimed(gold: Gold, others: Sequence[str], rng: Random) -> Gold:
    """Make a claim of a question of one clue: a true one, or one with another value."""
    subject, relation, object = gold.clues[0]
    value = gold.values[0][0]
    put = rng.choice(others) if others and rng.random() < 0.5 else value
    if normalize_name(put) == normalize_name(value):
        put = value
    clue = (put, relation, object) if subject.startswith("?") else (subject, relation, put)
    question = f"Is it true that {' '.join(clue)}?"
    return Gold(
        gold.source, f"{gold.id}/claim", gold.split, question, (clue,), gold.values, gold.pages
    )


def _bound(gold: Gold) -> dict[str, str]:
    values: dict[str, str] = {}
    for clue, found in zip(gold.clues, gold.values, strict=True):
        if slots := slots_of(clue):
            new = [slot for slot in slots if slot not in values]
            values |= {slot: found[0] for slot in new[-1:]}
    return values


def _done(gold: Gold, values: dict[str, str], rng: Random) -> set[int]:
    """Choose the clues that are resolved already: in half of the rounds some of the first."""
    if len(gold.clues) == 1 or rng.random() < 0.5:
        return set()
    return set(range(rng.randrange(1, len(gold.clues))))


def _passages(
    gold: Gold, forms: dict[int, Form], pages: Pages, surface: Surface, rng: Random
) -> list[_Shown]:
    shown: dict[str, _Shown] = {}
    lucky = rng.random() < 0.3
    for at, form in forms.items():
        page, found = gold.pages[at], gold.values[at]
        searched = form.kind != "fuzzy"
        if rng.random() < (0.8 if searched else 0.85 if lucky else 0.05):
            text = _window(page, found[0]) if _says(page.text, found[0]) else ""
            one = shown.setdefault(page.title, _Shown(page, text))
            if not text or rng.random() < 0.75:
                one.facts += [surface(fact) for fact in _facts(gold, at, found)]
    wanted = rng.choice([1, 2, 3, 3])
    near = [page for page in gold.context if rng.random() < 0.7]
    values = [value for at in forms for value in gold.values[at]]
    near = [page for page in near if not any(_states(page, value) for value in values)]
    for form in forms.values():
        if form.kind != "fuzzy" and len(near) < 8:
            near += pages.near(form.query, values, rng)
    for page in near:
        if len(shown) >= wanted:
            break
        shown.setdefault(page.title, _Shown(page, _window(page, "")))
    listed = list(shown.values())
    for one in listed:
        others = [fact for fact in one.page.triples if not any(_holds(fact, v) for v in values)]
        others = [fact for fact in others if len(" ".join(fact).split()) < 16]
        one.facts += rng.sample(others, min(len(others), rng.randrange(3)))
        rng.shuffle(one.facts)
    return [one for one in listed if one.text or one.facts]


def _facts(gold: Gold, at: int, found: Sequence[str]) -> list[Spo]:
    """Return the propositions that state a clue's values."""
    values = _bound(gold)
    subject, relation, object = bind(gold.clues[at], values).spo
    own = [fact for fact in gold.pages[at].triples if any(_holds(fact, v) for v in found)]
    own = [fact for fact in own if _about(fact, subject, object)]
    if not slots_of(gold.clues[at]):
        return own[:1] or [(subject, relation, found[0])]
    if own:
        return own[: len(found)]
    if slots_of(gold.clues[at])[-1:] == [gold.clues[at][2]]:
        return [(subject, relation, value) for value in found]
    return [(subject, relation, object)]


def _reply(
    gold: Gold,
    open_clues: Sequence[int],
    current: dict[str, str],
    shown: Sequence[_Shown],
    texts: int,
) -> Resolution:
    filled: list[Value] = []
    judged: list[Judged] = []
    known = dict(current)
    for number, at in enumerate(open_clues, 1):
        form = bind(gold.clues[at], known)
        stated = [
            (value, place)
            for value in gold.values[at]
            for place in [_place(gold.pages[at], value, shown, texts)]
            if place
        ]
        if form.kind == "resolved":
            claim = not slots_of(gold.clues[at])
            if claim and stated:
                said = normalize_name(" ".join(form.spo))
                supported = any(f" {normalize_name(v)} " in f" {said} " for v, _ in stated)
                judged.append(Judged(number, supported, (stated[0][1][0],)))
            continue
        if form.kind != "searchable":
            continue
        for value, (place, written) in stated:
            filled.append(Value(number, form.open[0], written, (place,)))
            known.setdefault(form.open[0], value)
    return Resolution(filled, judged)


def _place(page: Page, value: str, shown: Sequence[_Shown], texts: int) -> tuple[int, str] | None:
    """Return the number of the passage that is seen to state a value, and how it writes it."""
    for number, one in enumerate(shown, 1):
        if one.page.title != page.title:
            continue
        if number <= texts and one.text and (written := _written(one.text, value)):
            return number, written
        for fact in one.facts:
            if written := _written(fact[2], value) or _written(fact[0], value):
                return number, written
    return None


def _written(text: str, value: str) -> str:
    """Return a value as a text writes it, a date also with its day in front; empty without it."""
    for form in _forms(value):
        found = re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
        if found:
            return found[0]
    return ""


def _forms(value: str) -> list[str]:
    value = " ".join(value.split())
    forms = [value, value.partition(" (")[0]]
    if date := re.fullmatch(r"(\w+) (\d{1,2}), (\d{3,4})", value):
        forms.append(f"{date[2]} {date[1]} {date[3]}")
    if date := re.fullmatch(r"(\d{1,2}) (\w+) (\d{3,4})", value):
        forms.append(f"{date[2]} {date[1]}, {date[3]}")
    return forms


def _says(text: str, value: str) -> bool:
    return bool(text and _written(text, value))


def _states(page: Page, value: str) -> bool:
    return mentions(page.text, value) or any(_holds(fact, value) for fact in page.triples)


def _holds(fact: Spo, value: str) -> bool:
    return mentions(f"{fact[0]} | {fact[2]}", value)


def _about(fact: Spo, subject: str, object: str) -> bool:
    words = set(normalize_name(f"{subject} {object}").split())
    said = normalize_name(f"{fact[0]} {fact[2]}").split()
    return sum(word in said for word in words) >= 0.6 * len(words) and len(said) < 16


def _window(page: Page, value: str) -> str:
    """Return the sentences of a passage around the one that states a value."""
    sentences = split_sentences(page.text)
    if not sentences:
        return ""
    at = next((n for n, one in enumerate(sentences) if value and _written(one, value)), 0)
    first = last = at
    words = len(sentences[at].split())
    while first or last + 1 < len(sentences):
        step = first - 1 if first else last + 1
        more = len(sentences[step].split())
        if words + more > MOST_WORDS:
            break
        words, first, last = words + more, min(first, step), max(last, step)
    return " ".join(" ".join(sentences[first : last + 1]).split()[: 2 * MOST_WORDS])
