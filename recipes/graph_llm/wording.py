"""Questions from the shorthand of data sets, and facts from questions with answers. Rules only."""

from __future__ import annotations

import re

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from recipes.graph_llm.relations import ask

_SPACED = re.compile(r"\s+(?=[?,.;:!]|'s\b|n't\b)|(?<=\w) (?='s\b)")
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")
_WH = re.compile(
    r"(who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|"
    r"could|would|will|in|on|at|from|for|to|of|under|during)\b",
    re.I,
)
_PERSON = re.compile(
    r"\b(actor|actress|artist|author|coach|composer|creator|designer|director|filmmaker|founder|"
    r"husband|king|leader|man|member|mother|father|musician|novelist|painter|person|player|"
    r"politician|president|producer|queen|singer|star|wife|winner|woman|writer)\b",
    re.I,
)
_HEAD = re.compile(r"^(?:the\s+)?(.*?)(?:\s+(?:of|that|in|with|who|which|by|for|from|on|at)\b|$)")
_ASKING = re.compile(
    r"^(?:in |on |at |from |for |to |of )?(?:who|whom|whose|what|which|when|where|how)\b"
    r"(?: (?:year|day|date|country|city|state|county|place|person|company|many|much|long))?",
    re.I,
)
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|do|does|did|the|a|an|has|have|had)\b", re.I)
_SUBJECT_ASKED = re.compile(
    r"^(?:who|what|which [\w ]{1,25}?) (?!is\b|are\b|was\b|were\b|do\b|does\b|did\b)"
    r"((?:\w+ed|won|wrote|sang|sings|owns|founded|made|makes|plays|played|wins|leads|led|built|"
    r"runs|ran|has|had|began|won)(?: (?:by|in|on|for|of|to|at))?) (.+)$",
    re.I,
)


def tidy(text: str) -> str:
    """Close the gaps that tokenisation left ("nation 's", "then - girlfriend")."""
    return _HYPHEN.sub("-", _SPACED.sub("", " ".join(text.split())))


def as_question(text: str) -> str:
    """Write a step of a decomposition as a question."""
    text = tidy(text).rstrip(" ?.,")
    if not text:
        return ""
    if not _WH.match(text):
        head = _HEAD.match(text)
        words = (head[1] if head else text).split()
        plural = bool(words) and words[-1].endswith("s") and not words[-1].endswith(("ss", "us"))
        verb = "are" if plural else "is"
        # Phrases of names ("Damon Stoudamire 's cousins") keep their capital.
        named = text[:1].isupper() or text.lower().startswith(("the ", "a ", "an ")) or plural
        who = "Who" if _PERSON.search(" ".join(words)) else "What"
        return f"{who} {verb} {text if named else 'the ' + text}?"
    return text[:1].upper() + text[1:] + "?"


def about(entity: str) -> str:
    """Return the question that is left when every sharper one has failed."""
    return f"What is known about {entity}?"


def shorthand(text: str) -> tuple[str, str] | None:
    """Split MuSiQue's "subject >> relation"; None for a question in words."""
    subject, arrow, relation = text.partition(">>")
    return (tidy(subject), tidy(relation)) if arrow and relation.strip() else None


def fact_of(question: str, answer: str, entities: list[str]) -> tuple[Spo, tuple[str, ...]] | None:
    """Make a triple of an answered question, as an extractor might have found it."""
    if parts := shorthand(question):
        subject, relation = parts
        return (subject, relation, answer), ask(relation, subject)
    text = tidy(question).rstrip(" ?.,")
    phrasings = (as_question(text),)
    if (asked := _SUBJECT_ASKED.match(text)) and not normalize_name(answer).isdecimal():
        return (answer, asked[1], asked[2]), phrasings
    for entity in entities:
        at = text.casefold().find(entity.casefold()) if entity else -1
        if at < 0:
            continue
        subject = text[at : at + len(entity)]
        rest = _ASKING.sub(" ", text[:at]) + " " + text[at + len(entity) :]
        rest = re.sub(r"^\s*'s\b|\B's\b", " ", rest)
        predicate = " ".join(_AUXILIARY.sub(" ", rest).split())
        if predicate:
            return (subject, predicate, answer), (*phrasings, f"{subject} {predicate}")
    return None
