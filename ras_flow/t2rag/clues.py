"""Clues as text: which slots they have, what they say once slots are bound, what to search for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import count
from typing import Literal, NamedTuple

from ras_flow.formats.answer import says_unknown
from ras_flow.formats.normalize import name_key, normalize_name
from ras_flow.formats.text import has_word
from ras_flow.formats.triples import MAX_FIELD, Spo
from ras_flow.state.kg import as_spo
from ras_flow.t2rag.records import Fills

Kind = Literal["resolved", "searchable", "fuzzy"]

_SLOT = re.compile(r"(?<!\S)(\?\w+)")
"""A final "?" is punctuation: "What Price Hollywood?"."""
_PLACEHOLDER = re.compile(r"[\s\"'`*_<{(\[]*[?？]+[<{]?[ ]?(\w*)[\s\"'`*_>})\].,;:]*")
"""A field that is a placeholder, whatever a model wrote around it."""
_EDGES = " \t.,;:-–—()[]\"'"


class Form(NamedTuple):
    """A clue once slots are bound.

    Attributes:
        spo: Its fields; open slots are written as ``?name``.
        open: Its open slots, each once.
        blanks: How many of its fields have an open slot.
        query: What it says without its open slots, as one sentence.
    """

    spo: Spo
    open: tuple[str, ...]
    blanks: int
    query: str

    @property
    def kind(self) -> Kind:
        """Return how far it is from being a fact (paper 4.3, step 1); fields count."""
        return "resolved" if not self.blanks else "searchable" if self.blanks == 1 else "fuzzy"


def slots_of(spo: Spo) -> list[str]:
    """Return the slots of a clue, each once."""
    return list(dict.fromkeys(slot for part in spo for slot in _SLOT.findall(part)))


def bind(spo: Spo, values: Mapping[str, str]) -> Form:
    """Put values into a clue's slots; a value's own "?name" opens none."""
    written, known, open_slots, blanks = [], [], [], 0
    for field in spo:
        pieces = _SLOT.split(field)  # Slots stand at the odd places.
        left = [slot for slot in pieces[1::2] if slot not in values]
        open_slots += left
        blanks += bool(left)
        whole = [values.get(one, one) if at % 2 else one for at, one in enumerate(pieces)]
        said = _joined("" if at % 2 and pieces[at] in left else one for at, one in enumerate(whole))
        written.append(_joined(whole))
        known.append(said.strip(_EDGES) if left else said)
    query = " ".join(filter(has_word, known))
    return Form(as_spo(written), tuple(dict.fromkeys(open_slots)), blanks, query)


def clue_id(spo: Spo) -> str:
    """Return 16 hex digits that are the same for the same fields and slots."""
    return _digest(
        "\x1f".join(one if at % 2 else name_key(one) for at, one in enumerate(_SLOT.split(field)))
        for field in spo
    )


def fill_id(slot: str, value: str, given: Mapping[str, str]) -> str:
    """Return 16 hex digits that are the same for the same value under the same bindings."""
    return _digest([slot, name_key(value), *sorted(given.values())])


def placeholder(field: str) -> str | None:
    """Return the slot that a field is, "?" for one without a name; None for any other field."""
    found = _PLACEHOLDER.fullmatch(field)
    return f"?{found[1].casefold()}" if found else None


def tidied(spo: Spo) -> Spo:
    """Write the placeholders of a clue as slots: ``?``, ``?name``, or text with `` ?name``."""
    return as_spo(
        [placeholder(part) or _SLOT.sub(lambda slot: slot[0].casefold(), part) for part in spo]
    )


def named(clues: Iterable[Spo], taken: Iterable[str] = ()) -> list[Spo]:
    """Give each bare ``?`` a name of its own."""
    clues = list(clues)
    taken = {slot for spo in clues for slot in slots_of(spo)}.union(taken)
    free = (slot for n in count(1) if (slot := f"?x{n}") not in taken)
    return [as_spo([next(free) if part == "?" else part for part in spo]) for spo in clues]


def says_something(spo: Spo) -> bool:
    """Tell whether each field has a letter or digit, or is a bare placeholder, and is short."""
    return all(
        (part == "?" or any(map(str.isalnum, part))) and len(part) <= MAX_FIELD for part in spo
    )


def is_value(text: str, slots: Iterable[str] = ()) -> bool:
    """Tell whether a text can fill a slot: it says something, and is not itself a placeholder."""
    if not has_word(text) or len(text) > MAX_FIELD or says_unknown(text):
        return False
    slot = placeholder(text)
    return slot is None or not (slot == "?" or slot in slots)


def match(form: Form, spo: Spo) -> dict[str, str] | None:
    """Read a triple as a clue of which more slots are filled; None where it is about another."""
    values: dict[str, str] = {}
    for asked, said in zip(form.spo, spo, strict=True):
        pieces = _SLOT.split(asked)
        slots = [piece for piece in pieces[1::2] if piece in form.open]
        if not slots:
            if normalize_name(asked) != normalize_name(said):
                return None
        elif len(slots) == 1 and placeholder(said) is None:
            before, after = asked.split(slots[0], 1)
            value = said.removeprefix(before).removesuffix(after).strip()
            if is_value(value, form.open):
                values[slots[0]] = value
    return values


def chosen_fills(fills: Fills, choices: Mapping[str, str]) -> dict[str, str]:
    """Return the fill of each slot that has one.

    A person's choice comes first; else the fill that most clues, then most passages, then the
    earliest round found. One that was found under another value of a slot than the chosen one does
    not count: slots are settled one after the other, those that depend on no other first.
    """

    def rank(id: str) -> tuple[int, int, int]:
        fill = fills[id]
        return -len(fill["clues"]), -len(fill["passages"]), fill["round"]

    chosen = {slot: id for slot, id in choices.items() if id in fills}
    while True:
        found: dict[str, str] = {}
        for id, fill in fills.items():
            slot, holds = fill["slot"], chosen.items() >= fill["given"].items()
            if slot not in chosen and holds:
                best = found.setdefault(slot, id)
                found[slot] = min(best, id, key=rank)
        if not found:
            return chosen
        chosen |= found


def _joined(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _digest(parts: Iterable[str]) -> str:
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:16]
