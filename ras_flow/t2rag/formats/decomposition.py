"""A question's clues as text, one a line: ``subject | predicate | ?name``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ras_flow.formats.hop_reply import facts_of
from ras_flow.formats.plan import visible
from ras_flow.formats.reply import spoken
from ras_flow.formats.triples import Spo, clean_field, parse_triples
from ras_flow.t2rag.clues import bind, clue_id, named, says_something, tidied

MOST_CLUES = 16
"""Clues of one question at most; a longer list is a model that rambles."""

LONGEST = 64_000
_LEAD = re.compile(
    r"[\s>*_`#-]*(?:(?:triples?|clues?|c)\s*#?\d*\s*[:.)]|\d{1,2}[.)])*[\s*_`]*\|?(.*?)\|?\s*",
    re.IGNORECASE,
)
_BAR = re.compile(r"\s*[|｜]+\s*")
_HEADERS = ("subject", "predicate", "object")

_NONE = "It has no line of the form: subject | predicate | object."
_UNNAMED = (
    "The unknowns of {clue!r} have no names. Name each unknown, as ?director, and use the same "
    "name wherever you mean the same one."
)
_FUZZY = (
    "Every line has two unknowns or more, so that no search can begin: use the question's names."
)


@dataclass(frozen=True)
class Decomposition:
    """What was read from a decomposition.

    Attributes:
        clues: Its clues, each once, every placeholder with a name.
        problem: Why it should be asked for again, worded for the model.
        surplus: Clues beyond the limit, which were left out.
    """

    clues: Sequence[Spo] = ()
    problem: str | None = None
    surplus: int = 0


def format_decomposition(clues: Iterable[Spo]) -> str:
    """Write clues: the training target, and the form of the prompt's examples."""
    return "\n".join(map(format_clue, clues))


def format_clue(spo: Spo) -> str:
    """Write a clue on one line."""
    return " | ".join(_BAR.sub("/", clean_field(field)) for field in spo)


def parse_decomposition(text: str) -> Decomposition:
    """Read clues; never raises.

    Lines with two bars count, whatever stands between them (reasoning, headings, bullets); without
    any, triples in the form of extractors, or named fields, as "Subject: …".
    """
    shown = visible(spoken(text[:LONGEST]))
    lines = shown.split("\n")
    found = [fact.spo for line in lines for fact in facts_of(_bare(line))]
    usable = list(filter(_is_clue, map(tidied, found or parse_triples(shown).triples)))
    vague = next((spo for spo in usable if spo.count("?") > 1), None)
    clues = list({clue_id(spo): spo for spo in named(usable)}.values())
    problem = None
    if not clues:
        problem = _NONE
    elif vague is not None:
        problem = _UNNAMED.format(clue=format_clue(vague))
    elif all(bind(spo, {}).kind == "fuzzy" for spo in clues):
        problem = _FUZZY
    return Decomposition(clues[:MOST_CLUES], problem, max(0, len(clues) - MOST_CLUES))


def _bare(line: str) -> str:
    lead = _LEAD.fullmatch(line)
    return lead[1] if lead else line


def _is_clue(spo: Spo) -> bool:
    """Tell whether something is known and said in it of two things; no table's header."""
    known = bind(named([spo])[0], {}).query
    two = spo[0] != spo[2] or spo[0] == "?" or not spo[0].startswith("?")
    said = says_something(spo) and tuple(map(str.casefold, spo)) != _HEADERS
    return bool(said and known and two)
