"""Names of a knowledge graph's nodes: which nodes have one, and how each gets one of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain, count, groupby

import numpy as np
import numpy.typing as npt

from ras_flow.formats.node_ids import default_name, is_literal
from ras_flow.formats.normalize import name_key, normalize_name
from ras_flow.formats.text import scrub
from ras_flow.formats.triples import MAX_FIELD, clean_field

_RDFS, _SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
LABEL_RELATIONS = frozenset(
    [f"{_RDFS}label", f"{_SKOS}prefLabel", "http://schema.org/name", "https://schema.org/name"]
)
ALIAS_RELATIONS = frozenset(
    [f"{_SKOS}altLabel", "http://schema.org/alternateName", "https://schema.org/alternateName"]
)
"""Relations that name things; the graph does not keep them as facts."""

_LONGEST_SUFFIX = 100


def clean_name(text: str) -> str:
    """Return a name as the triple format holds it; a longer text is cut."""
    # The cut in front: a literal may be a whole book.
    cleaned = clean_field(scrub(text[: 4 * MAX_FIELD]))
    return cleaned if len(cleaned) <= MAX_FIELD else cleaned[: MAX_FIELD - 1].rstrip() + "…"


def form_hashes(names: Iterable[str]) -> npt.NDArray[np.uint64]:
    """Return the hashes of names' normalised forms, by which names are looked up."""
    forms = (normalize_name(name).encode(errors="replace") for name in names)
    return np.frombuffer(b"".join(blake2b(form, digest_size=8).digest() for form in forms), "<u8")


def make_unique(
    names: list[str],
    ids: Sequence[str],
    weights: npt.NDArray[np.int64],
    forms: npt.NDArray[np.uint64],
) -> None:
    """Give each of a graph's nodes a name of its own, in place.

    Names that a question's graph would merge (:func:`name_key`) are told apart: the entity with
    the most edges (``weights``) keeps the plain one, others add what their id says, as in
    "Paris (Q830149)". ``forms`` are the names' :func:`form_hashes`.
    """
    order = np.argsort(forms, kind="stable")
    ordered = forms[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    groups: dict[int, list[int]] = {}
    for at in order[np.union1d(same, same + 1)].tolist():
        groups.setdefault(int(forms[at]), []).append(at)
    made: set[np.uint64] = set()

    def is_free(name: str) -> bool:
        [form] = form_hashes([name])
        at = np.searchsorted(ordered, form)
        return form not in made and not (at < len(ordered) and ordered[at] == form)

    for group in groups.values():
        keyed = sorted(
            (name_key(names[at]), is_literal(ids[at]), -int(weights[at]), ids[at], at)
            for at in group
        )
        for _, merged in groupby(keyed, key=lambda one: one[0]):
            numbers = count(2)
            for *_, at in list(merged)[1:]:
                ends = chain(_suffixes(ids[at], names[at]), numbers)
                names[at] = next(filter(is_free, (f"{names[at]} ({end})" for end in ends)))
                made.update(form_hashes([names[at]]))


def _suffixes(key: str, name: str) -> list[str]:
    """Return what tells a node's name apart, the shortest first."""
    if is_literal(key):
        return ["text"]
    short = clean_name(default_name(key))
    ends = [short, clean_name(key)]
    return [end for end in ends if end and end != name and len(end) <= _LONGEST_SUFFIX]
