"""Triples of sentences by rules, for texts whose triples no model has extracted.

An open extractor in small: a sentence is cut at its first verb; a pronoun as subject is the title;
dates behind a name become "born" and "died"; further verbs after "and" start further triples. What
it writes looks like what small extractors write, including their faults: long objects, shallow
predicates. Where a better extraction of the very same text is at hand, converters use that.
"""

from __future__ import annotations

import re

from ras_flow.datasets.wording import untokenize
from ras_flow.formats.sentences import english_spans
from ras_flow.formats.triples import Spo, clean_field

MAX_OBJECT = 160
"""Characters; a longer object is cut at its last comma or word."""

_DATE = r"(?:c\. ?)?(?:\d{1,2} )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, ?)?\d{3,4}(?: BC| AD)?"
_LIFE = re.compile(rf"\(([^()]*?)({_DATE})\s*[–—-]\s*({_DATE})\s*\)")
_BORN = re.compile(rf"\(([^()]*?)born[^()\d]*?({_DATE})[^()]*\)")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)")
_PRONOUN = re.compile(r"(he|she|it|they|this|these|there|his|her|its|their|who|which)\b", re.I)
_OWNED = re.compile(r"(his|her|its|their)\s+", re.I)
_PAST = (
    "became|began|brought|built|came|drew|fought|found|gave|got|grew|had|has|have|held|includes|"
    "kept|knew|led|left|lies|lost|made|makes|means|met|owns|plays|ran|remains|rose|sang|sat|saw|"
    "serves|sold|spent|spoke|stands|starred|stars|stood|taught|takes|told|took|went|won|wrote|"
    "contains|consists|lives|runs|belongs|features|produces|follows|begins|ends|uses|employs"
)
_ADVERB = r"(?:also|still|now|not|never|only|originally|currently|usually|often|then|\w+ly)"
_BE = rf"(?:is|are|was|were|has been|have been|had been|will be|can be|may be)(?: {_ADVERB})?"
_PREPOSITION = r"(?: (?:by|in|on|at|as|to|from|of|for|with|into|near|between|under|after))?"
_PARTICIPLE = r"(?:\w+ed|known|born|written|made|built|held|set|won|sung|led|shot|run|found|given)"
_VERB = re.compile(
    rf"(?<=\s)({_BE} {_PARTICIPLE}{_PREPOSITION}|{_BE}"
    rf"|(?:can|may|does not|do not|did not|cannot) \w+{_PREPOSITION}"
    rf"|(?:{_ADVERB} )?(?:{_PAST}|[a-z]+[a-z]ed){_PREPOSITION})(?=\s)"
)
_NEXT = re.compile(
    rf",? and (?:was |is )?(?=(?:{_PAST}|[a-z]{{3,}}ed|was|is|were|are)\s)|; "
    r"|, (?:but|while|which|who)\s"
)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences."""
    words = " ".join(text.split())
    return [words[start:end] for start, end in english_spans(words)]


def sentence_triples(title: str, sentence: str) -> list[Spo]:
    """Read a sentence."""
    sentence = untokenize(sentence).strip().rstrip(".")
    found: list[Spo] = []
    who = title or sentence.split("(")[0].strip(" ,")
    if match := _LIFE.search(sentence):
        found += [(who, "born", match[2]), (who, "died", match[3])]
    elif match := _BORN.search(sentence):
        found.append((who, "born", match[2]))
    body = _PARENTHESIS.sub("", sentence)
    subject = title
    for number, clause in enumerate(_NEXT.split(body)):
        clause = f" {clause.strip(' ,')} "
        verb = _VERB.search(clause)
        if not verb:
            continue
        before = clause[: verb.start()].strip(" ,")
        if number == 0:
            subject = _subject(before, title)
        object = _short(clause[verb.end() :].strip(" ,"))
        found.append((subject, verb[1], object))
    cleaned = [(clean_field(s), clean_field(p), clean_field(o)) for s, p, o in found]
    return [triple for triple in dict.fromkeys(cleaned) if all(triple)]


def _subject(before: str, title: str) -> str:
    """Choose the subject: what stands before the verb, with pronouns resolved."""
    if "," in before:
        first, _, last = before.partition(",")
        opener = re.match(
            r"(in|on|at|after|before|during|since|by|from|as|with|for)\b", first, re.I
        )
        before = last.rpartition(",")[2].strip() if opener else first.strip()
    if title and (owned := _OWNED.match(before)):
        return f"{title}'s {before[owned.end() :]}"
    if not before or _PRONOUN.match(before) or len(before) > 80:
        return title or before[:80]
    return before


def _short(object: str) -> str:
    if len(object) <= MAX_OBJECT:
        return object
    cut = object[:MAX_OBJECT]
    return cut[: max(cut.rfind(","), cut.rfind(" "), 1)]
