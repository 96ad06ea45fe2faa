"""Rules for what enters the graph, applied to the triples of one passage at a time.

They come after the cache, which keeps triples as they were extracted: a changed rule needs no new
extraction. Each looks at one passage alone: whatever a passage makes a model write, the triples of
other passages stay as they are. Measurements: benchmarks/results/extraction.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ras_flow.formats.headings import topic
from ras_flow.formats.normalize import name_key, normalize_name
from ras_flow.formats.pronouns import is_pronoun, means_nothing, means_title
from ras_flow.formats.titles import full_name, own_title, short_title
from ras_flow.formats.triples import Spo

Rule = Callable[[Sequence[Spo], str, str], list[Spo]]
"""Triples, title and text of a passage to the triples that stay, in their order."""

_LEFT_OUT = frozenset("is was are were be been has had have the a an of by".split())
_ENDINGS = ("ors", "ers", "or", "er", "ed", "es", "s", "e", "d", "")
_SYMMETRIC = frozenset({"spouse", "married", "married to", "partner", "sibling", "twin", "borders"})
_LEAST_STEM = 4

Form = tuple[str, bool]
"""What a predicate may be a form of, and whether the one who acts, or is it, is the subject."""


@dataclass(frozen=True)
class Refined:
    """What of a passage's triples enters the graph.

    Attributes:
        triples: The triples, in their order.
        left_out: How many are not among them, by the rule that left them out.
    """

    triples: list[Spo]
    left_out: dict[str, int] = field(default_factory=dict)


def leave_out_nothing(triples: Sequence[Spo], title: str, text: str) -> list[Spo]:
    """Leave out triples with "unknown" or "-" for a name, but in a passage of that title."""
    own = normalize_name(short_title(title))
    nothing = {
        name for name in _names_in(triples) if means_nothing(name) and normalize_name(name) != own
    }
    return [spo for spo in triples if nothing.isdisjoint((spo[0], spo[2]))]


def name_the_title(triples: Sequence[Spo], title: str, text: str) -> list[Spo]:
    """Write the title for "it", "she" or "the film"; leave out what another pronoun says.

    The title is written without its "(film)" where other triples write it so. A title that is a
    pronoun itself ("Her (film)") is written whole.
    """
    short = normalize_name(short_title(title))
    name = _written(title, triples)

    def resolved(part: str, *, as_object: bool) -> str | None:
        pronoun = is_pronoun(part)
        its_own = pronoun and normalize_name(part) == short
        if its_own or means_title(part, title, text, as_object=as_object):
            return name
        return None if pronoun and is_pronoun(part, as_object=as_object) else part

    subjects = {subject: resolved(subject, as_object=False) for subject, _, _ in triples}
    named = ((subjects[s], p, resolved(o, as_object=True)) for s, p, o in triples)
    return [(s, p, o) for s, p, o in named if s is not None and o is not None]


def name_in_short(triples: Sequence[Spo], title: str, text: str) -> list[Spo]:
    """Write the title for the full name with which the text opens, but not where that is told."""
    full = name_key(full_name(title, text))
    if not full:
        return list(triples)
    name = _written(title, triples)

    def short(part: str) -> str:
        return name if name_key(part) == full else part

    shortened = (
        (short(subject), predicate, short(object)) for subject, predicate, object in triples
    )
    return [
        old if name_key(new[0]) == name_key(new[2]) else new
        for old, new in zip(triples, shortened, strict=True)
    ]


def leave_out_loops(triples: Sequence[Spo], title: str, text: str) -> list[Spo]:
    """Leave out triples whose object is their subject."""
    return [spo for spo in triples if name_key(spo[0]) != name_key(spo[2])]


def join_inverses(triples: Sequence[Spo], title: str, text: str) -> list[Spo]:
    """Leave out what an earlier triple said from the other end."""
    kept: list[Spo] = []
    said: dict[tuple[str, str], set[Form]] = {}
    for subject, predicate, object in triples:
        found, one, other = forms(predicate), name_key(subject), name_key(object)
        if found.isdisjoint(said.get((one, other), ())):
            said.setdefault((other, one), set()).update(inverted(found))
            kept.append((subject, predicate, object))
    return kept


def forms(predicate: str) -> set[Form]:
    """Return what a predicate may be a form of.

    Only forms of one word are told, and the form has to say which end acts; others may be two
    facts: "A| director| B" and "B| directed| A" are one.
    """
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


RULES: Mapping[str, Rule] = {
    "nothing": leave_out_nothing,
    "pronoun": name_the_title,
    "full name": name_in_short,
    "subject as object": leave_out_loops,
    "inverse": join_inverses,
}
"""The rules in their order, by the reason for which they leave triples out."""


def refine(
    triples: Iterable[Spo], title: str, text: str, rules: Mapping[str, Rule] = RULES
) -> Refined:
    """Apply the rules to a passage's triples."""
    kept, title = list(triples), topic(title, text)
    left_out: dict[str, int] = {}
    for reason, rule in rules.items():
        before = len(kept)
        kept = rule(kept, title, text)
        if len(kept) < before:
            left_out[reason] = before - len(kept)
    return Refined(kept, left_out)


def _written(title: str, triples: Iterable[Spo]) -> str:
    """Return the title, without its "(film)" where triples write it so, unless it is a pronoun."""
    names = set(map(normalize_name, _names_in(triples)))
    short = normalize_name(short_title(title))
    own = own_title(title)
    return own if short not in names or is_pronoun(short) else short_title(own)


def _names_in(triples: Iterable[Spo]) -> set[str]:
    return {part for subject, _, object in triples for part in (subject, object)}
