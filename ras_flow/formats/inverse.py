"""One fact said from both ends: "A| director| B" and "B| directed| A".

Only predicates that are forms of one word are recognised, and the form has to say which end acts;
anything else may be two facts.
"""

from __future__ import annotations

from ras_flow.formats.normalize import normalize_name

_LEFT_OUT = frozenset("is was are were be been has had have the a an of by".split())
_ENDINGS = ("ors", "ers", "or", "er", "ed", "es", "s", "e", "d", "")
_SYMMETRIC = frozenset({"spouse", "married", "married to", "partner", "sibling", "twin", "borders"})
_LEAST_STEM = 4

Form = tuple[str, bool]
"""What a predicate may be a form of, and whether the one who acts, or is it, is the subject."""


def forms(predicate: str) -> set[Form]:
    """Return what a predicate may be a form of."""
    name = normalize_name(predicate)
    if name in _SYMMETRIC:
        return {(name, True), (name, False)}
    words = name.split()
    told = [word for word in words if word not in _LEFT_OUT]
    if not told:
        return set()
    last = words[-1]
    acts = last == "of" or (last == told[-1] and last.endswith(("ed", "s")))
    if len(told) > 1:
        return {(" ".join(told), acts)}
    stems = {told[0].removesuffix(ending) for ending in _ENDINGS}
    return {(stem, acts) for stem in stems if len(stem) >= _LEAST_STEM}


def inverted(some: set[Form]) -> set[Form]:
    """Return the forms of the same words with the other end as the one who acts."""
    return {(stem, not acts) for stem, acts in some}
