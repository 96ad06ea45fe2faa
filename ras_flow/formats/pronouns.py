"""Words that stand for something else: a fact about "he" is a fact about nobody."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.titles import qualifier, short_title, speaks_of
from ras_flow.formats.tokens import tokenize

_KINDS = tuple(
    frozenset(kind.split())
    for kind in (
        "it its itself",
        "he him his himself",
        "she her hers herself",
        "they them their theirs themselves",
        *("它", "他", "她", "他们 她们 它们"),
        *("彼", "彼女", "彼ら"),
        *("оно", "он его", "она её", "они их"),
        *("هو", "هي", "هم"),
    )
)
"""Pronouns that can stand for what a passage is about, by what they stand for. Pronouns of other
languages in Latin letters are left out: they are names in English ("Elle", "Er")."""

PRONOUNS = frozenset(
    "i me my we us our you your this that these those who whom whose which what one someone "
    "somebody something everyone everybody nobody".split()
).union(*_KINDS)

_NOTHING = frozenset(
    "unknown none null nil nothing tbd tba unspecified undefined unbekannt inconnu desconocido "
    "sconosciuto неизвестно 未知 不明 不詳".split()
) | {"n a", "no data", "no information"}
_NOTHING_SAID = re.compile(
    r"not (?:applicable|available|disclosed|given|known|mentioned|provided|specified|stated)"
)
_NO_VALUE = " -–—−?？.…_*/"

_WORD = re.compile(r"\w+")
_DESCRIPTION = re.compile(r"(?:the|this) ([a-z-]+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z]|\s*$)|[。！？]")

_OPENING = 500
"""Characters in which a first sentence is looked for."""


def is_pronoun(name: str, *, as_object: bool = False) -> bool:
    """Tell whether a name is nothing but a pronoun."""
    return _pronoun(name, as_object) != ""


def means_title(name: str, title: str, text: str, *, as_object: bool = False) -> bool:
    """Tell whether a name stands for what a passage is about, that is for its title.

    The text has to speak of the title as of a name. A pronoun stands for it if the text uses it and
    no other kind more often: in a passage about a film, a lone "he" is somebody else. "The film"
    and "this film" do if the title says so, as in "Salt Road (film)", or if the first sentence has
    both the title and "a … film".
    """
    pronoun = _pronoun(name, as_object)
    kind = next((kind for kind in _KINDS if pronoun in kind), None) if pronoun else None
    if kind:
        return kind in _main_kinds(text) and speaks_of(text, title)
    described = _DESCRIPTION.fullmatch(name.strip())
    return (
        described is not None
        and _is_a(described[1].casefold(), title, text)
        and speaks_of(text, title)
    )


def means_nothing(name: str) -> bool:
    """Tell whether a name stands for nothing, as "unknown", "N/A" and "-" do."""
    words = normalize_name(name)
    return not name.strip(_NO_VALUE) or words in _NOTHING or bool(_NOTHING_SAID.fullmatch(words))


@lru_cache(maxsize=4)
def _main_kinds(text: str) -> list[frozenset[str]]:
    """Return the kinds of pronouns that a text uses most, if any."""
    words = Counter(tokenize(text))
    counts = [sum(words[pronoun] for pronoun in kind) for kind in _KINDS]
    most = max(counts)
    return [kind for kind, count in zip(_KINDS, counts, strict=True) if count == most > 0]


def _is_a(noun: str, title: str, text: str) -> bool:
    if noun in map(str.casefold, _WORD.findall(qualifier(title))):
        return True
    text = text[:_OPENING]
    end = _SENTENCE_END.search(text)
    first = text[: end.start()] if end else text
    at = f" {normalize_name(first)} ".find(f" {normalize_name(short_title(title))} ")
    between = r"(?:(?!of |in |by |for |at |to |and |the |who )[\w'-]+ ){0,6}"
    says = re.compile(rf"\ban? {between}{re.escape(noun)}\b", re.IGNORECASE)
    return at >= 0 and bool(says.search(first))


def _pronoun(name: str, as_object: bool) -> str:
    """Return a name in lower case if it is a pronoun, else the empty text."""
    name = name.strip(" .,;:'\"")
    is_name = name[:1].isupper() if as_object else len(name) > 1 and name.isupper()
    small = name.casefold()
    if is_name or (as_object and small == "one"):
        return ""
    return small if small in PRONOUNS else ""
