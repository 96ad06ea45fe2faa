"""What the ids of a knowledge graph's nodes say by themselves."""

from __future__ import annotations

import re
from urllib.parse import unquote

NAMELESS = "·"
"""Stands for a node without a name where a person or a model reads."""

_NAMELESS_ID = re.compile(r"_:.*|(?:.*/)?[mg]\.[0-9a-z_]+", re.DOTALL)


def is_nameless(key: str) -> bool:
    """Tell whether an id says nothing by itself: a blank node's, or one of Freebase's machine ids.

    Such a node has a name only if the graph gives it a label.
    """
    return _NAMELESS_ID.fullmatch(key) is not None


def is_literal(key: str) -> bool:
    """Tell whether an id is that of a literal: its text in double quotes."""
    return len(key) > 1 and key[0] == key[-1] == '"'


def default_name(key: str) -> str:
    """Return what an id says by itself: a literal's text, the last part of an IRI."""
    if is_literal(key):
        return key[1:-1]
    if "://" not in key:
        return key
    return unquote(last_part(key), errors="replace").replace("_", " ") or key


def last_part(iri: str) -> str:
    """Return what stands after an IRI's last slash or hash."""
    return re.split(r"[/#]", iri.rstrip("/#"))[-1]
