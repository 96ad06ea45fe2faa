"""What a question asks for: its words, its relations, and the kind of answer that fits."""

from __future__ import annotations

import re

from ras_flow.formats.normalize import name_words
from ras_flow.state.names import content_words, is_english

_RELATIONS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(\w+) of\b",
        r"['’]s (\w+)",
        r"\bwho (?:first )?(\w+)",
        r"(\w+)(?: \w+)? the same\b",
        r"the same \w+ (\w+)",
        r"(?:where|when|(?:which|what) \w+) (?:did|was|were)\b.* (\w+)\W*$",
    )
]
_VAGUE = frozenset(
    "date day year place name kind type part one some all member number located held called "
    "known".split()
)
"""What facts seldom repeat: "died on 3 May" tells a date of death."""

_LESS = (
    r"first|before|earli\w+|sooner|less|least|few(?:er|est)|"
    r"(?:old|short|small|low|light|slow|near|clos)(?:er|est)"
)
_MORE = (
    r"last|later|latest|after|more|most|\w+er than|"
    r"(?:young|new|long|tall|larg|bigg|high|great|deep|heavi|fast|wid)(?:er|est)"
)
_COMPARES = re.compile(rf"\b(?:({_LESS})|{_MORE})\b", re.IGNORECASE)
_IN_TIME = re.compile(r"first|last|before|after|earl|late|soon|old|young|new", re.IGNORECASE)
_CHOICE = re.compile(
    r"\b(?:or|between|both|oder|ou|или|o|eller|veya)\b|which of|或|还是|または|또는", re.IGNORECASE
)
_YES_OR_NO = (
    "yes no true false ja nein nee oui non sí sì sim não tak nie да нет evet hayır نعم لا "
    "是 是的 不是 否 对 不对 はい いいえ 예 네 아니요"
).replace(" ", "|")
_IS_VERDICT = re.compile(
    rf"[\W_]*(?:(?:{_YES_OR_NO})(?:[,.;:!،，。、；：！]|[\W_]*$)|([a-z])(?:[):]\s|[\W_]*$))",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|long|old|tall|high|deep|far|large|big|heavy|fast|wide)\b|"
    r"\b(?:which|what|same) (?:year|date|percentage|age|height|length)\b",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"\b(?:no|none|zero|once|twice|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|\w+teen|\w+ty|hundred|thousand|million|billion)\b|\d|[^\x00-\x7f]",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:who|whom|whose|what (?:is|was) the (?:\w+ )?name)\b", re.IGNORECASE)


class Question:
    """What is asked.

    Attributes:
        text: The question.
        words: Its content words, and whether each belongs to a name or a number.
        relations: Those that say how things belong together: "mother" in "the mother of Ida".
        english: Whether it is in English, whose function words are known.
        same: Whether it asks if things are the same.
        chooses: Whether it may name its answer itself.
        compares: The words that ask which is more or earlier.
        less: Whether what is less or earlier is asked for.
        in_time: Whether dates are compared.
        counts: Whether a number or a date is asked for.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = content_words(_AMOUNT.sub("", text))
        self.english = is_english(text)
        related = {
            word
            for form in _RELATIONS
            for found in form.findall(text)
            for word in name_words(found)
        }
        self.relations = related - _VAGUE
        self.same = "same" in name_words(text)
        self.chooses = bool(_CHOICE.search(text))
        compares = list(_COMPARES.finditer(text))
        self.compares = {word for found in compares for word in name_words(found[0])}
        self.less = bool(compares and compares[0][1])
        self.in_time = bool(compares and _IN_TIME.match(compares[0][0]))
        self.counts = bool(_AMOUNT.search(text)) or "number" in self.words

    def is_verdict(self, answer: str) -> bool:
        """Tell whether an answer is a yes, a no, or the letter of an option."""
        found = _IS_VERDICT.match(answer)
        letter = found[1] if found else None
        return bool(found) and (not letter or f"\n{letter.upper()}. " in self.text)

    def misfit(self, answer: str) -> str:
        """Say why an answer is not of the kind that is asked for; empty if it may be."""
        if self.counts and not _NUMBER_WORD.search(answer):
            return "The question asks for a number."
        if _NAME.match(self.text) and not any(c.isalpha() and not c.islower() for c in answer):
            return "The question asks for a name."
        return ""
