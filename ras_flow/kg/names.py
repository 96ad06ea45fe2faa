"""Names of a knowledge graph's nodes: which nodes have one, and how each gets one of its own."""

from __future__ import annotations

import re

NAMELESS = "·"
"""Stands for a node without a name where a person or a model reads."""

_NAMELESS_ID = re.compile(r"_:.*|(?:.*/)?[mg]\.[0-9a-z_]+", re.DOTALL)


def is_nameless(key: str) -> bool:
    """Tell whether an id says nothing by itself: a blank node's, or one of Freebase's machine ids.

    Such a node has a name only if the graph gives it a label.
    """
    return _NAMELESS_ID.fullmatch(key) is not None
