"""A branch as Turtle."""

from __future__ import annotations

import re
from itertools import groupby

from ras_flow.formats.escapes import UNSEEN
from ras_flow.runs.document import RunDocument
from ras_flow.runs.export.rdf import PREFIXES, Literal, facts_of

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = re.compile(rf'["\\\n{UNSEEN}]')


def to_turtle(document: RunDocument, branch: int | None = None) -> str:
    """Write a branch as Turtle; see :mod:`ras_flow.runs.export.rdf` for what is in it."""
    lines = [f"@prefix {name}: <{address}> ." for name, address in PREFIXES.items()]
    for subject, facts in groupby(facts_of(document, branch), key=lambda fact: fact[0]):
        said = [f"{_term(predicate)} {_term(object)}" for _, predicate, object in facts]
        lines += ["", f"{_term(subject)} " + " ;\n    ".join(said) + " ."]
    return "\n".join(lines) + "\n"


def _term(term: str | Literal) -> str:
    if isinstance(term, Literal):
        return f'"{_SPECIAL.sub(_escape, term.text)}"'
    return f"<{term}>" if term.startswith("urn:") else term


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"
