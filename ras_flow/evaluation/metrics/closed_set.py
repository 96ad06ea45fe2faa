"""Accuracy on closed sets: which option, or which verdict, an answer names (eq. 13).

What is compared is the option or verdict that is read from the answer, never its text: normalising
the option "A" would leave nothing, and nothing is in every answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ras_flow.evaluation.metrics.short_answers import normalize_answer
from ras_flow.evaluation.question import Question
from ras_flow.formats.answer import clean_answer

_BLANKS = re.compile(r"\s{2,}")
_MARKS = " \t\n*_`\"'()[]{}.:;,!"
_BEFORE = r"[\s*_`\"'(\[:]*"
_ENDS = r"(?=\s*(?:$|[.,:;!)\]*_\"'\n]|because\b|since\b))"
_NO_NOUN = (
    r"(?:or|and|is|isn|was|has|had|does|did|would|could|should|must|seems|appears|looks|sounds|"
    r"makes|fits|matches|describes|explains|states|says|gives|shows|because|since|as)\b(?!-)"
)
_CAPITAL = rf"(?:[B-Z]|A(?!\s+(?!{_NO_NOUN})\w)|(?<=[\w,;] )A(?! [A-Z]))\b"
"""A letter that is no article: an "A" counts inside a sentence, unless a title begins with it, or
before a word that follows no article."""
_ANSWER = re.compile(
    rf"\banswer(?:\s+(?:is|would be|should be))?\s*:?{_BEFORE}(?:(?:option|choice)\s+{_BEFORE})?"
    rf"(?:({_CAPITAL})|([A-Za-z])\b{_ENDS})",
    re.MULTILINE,
)
_OPTION = re.compile(r"\b(?:[Oo]ption|[Cc]hoice)[\s*_`\"'(\[:]+([A-Z])\b")
_RIGHT = re.compile(
    r"(?<![\w'’])([A-Z])[)\]*\"']*\s+is\s+(?:the\s+)?(?:(?:correct|right|best)\s+)?"
    r"(?:answer|option|choice|one)\b"
)
_OPENING = re.compile(rf"{_BEFORE}([A-Za-z])(?:\s*[.:)\]*]|\s+[-–—]\s|,?\s+(?:because|since|as)\b)")
_LETTER = re.compile(rf"(?<![\w'’]){_CAPITAL}(?!['’])")

_VERDICTS = {
    "yes": True,
    "true": True,
    "correct": True,
    "supports": True,
    "supported": True,
    "no": False,
    "false": False,
    "untrue": False,
    "incorrect": False,
    "wrong": False,
    "refutes": False,
    "refuted": False,
}
_LOOSE = frozenset({"yes", "no"})
"""Words that mean something else inside a sentence ("there is no evidence")."""

_OR = r"(?:\s+or\s+|\s*/\s*)"
_CHOICE = re.compile(rf"\b(?:true{_OR}false|false{_OR}true|yes{_OR}no|no{_OR}yes)\b")
_NEGATED = re.compile(
    r"\b(?:not|cannot|never)\s+(?:be\s+)?(?:an?\s+|the\s+)?(?:\w+ly\s+)?"
    r"(true|correct|supported|false|incorrect|wrong)\b"
)
_DOUBTED = re.compile(r"\b(?:not the case|no (?:\w+ )?(?:evidence|proof|indication))\b[^.,;]*")
"""What is said to be no fact, or not known to be one."""

_OPPOSITE = {True: "false", False: "true"}
_JUDGED = re.compile(r"\banswer(?:\s+is)?\W*(\w+)")


def read_option(prediction: str, options: Mapping[str, str]) -> str | None:
    """Read which option an answer names.

    In turn: the letter alone, whatever marks are around it; the text of an option alone; the last
    letter that is announced ("the answer is B"); the letter that has a line for itself; the letter
    that opens the answer ("B. water", "B because"); the one that is said to be right ("C is the
    answer"); the one that is called an option ("Option B fits"); the one option whose text is in
    the answer; the one capital letter that stands alone. An "A" that may be an article does not
    count.
    """
    # The patterns try all ways to share blanks out; a small model may write thousands of them.
    said = _BLANKS.sub(lambda found: "\n" if "\n" in found[0] else " ", clean_answer(prediction))
    whole = normalize_answer(said)
    same = [letter for letter, text in options.items() if whole and normalize_answer(text) == whole]
    answered = _letters([a or b for a, b in _ANSWER.findall(said)], options)[-1:]
    opening = _OPENING.match(said)
    opened = _letters([opening[1]] if opening else [], options)
    for found in (
        _letters([said.strip(_MARKS)], options),
        same,
        answered,
        _letters([line.strip(_MARKS) for line in said.splitlines()], options),
        opened,
        _letters(_RIGHT.findall(said), options),
        _letters(_OPTION.findall(said), options),
        _named(whole, options),
        _letters(_LETTER.findall(said), options),
    ):
        if found:
            return found[0] if len(set(found)) == 1 else None
    return None


def option_accuracy(prediction: str, question: Question) -> float:
    """Return 1 if the answer names the right option, else 0 (ARC, appendix E.2)."""
    return float(read_option(prediction, question.options) == question.answers[0])


def read_verdict(prediction: str) -> bool | None:
    """Read whether an answer says true or false, yes or no, supports or refutes.

    The last word that is announced counts ("the answer is no"); else the word that the answer
    begins with; else what it says anywhere, if that is one and the same, and not of what there is
    "no evidence" for.
    """
    said = clean_answer(prediction).lower().replace("’", "'").replace("n't", " not")
    said = _DOUBTED.sub(" ", _CHOICE.sub(" ", said))
    said = _NEGATED.sub(lambda found: _OPPOSITE[_VERDICTS[found[1]]], said)
    words = re.findall(r"\w+", said)
    for first in (_JUDGED.findall(said)[-1:], words[:1]):
        if first and first[0] in _VERDICTS:
            return _VERDICTS[first[0]]
    counted = [word for word in words[:-1] if word not in _LOOSE] + words[-1:]
    verdicts = {_VERDICTS[word] for word in counted if word in _VERDICTS}
    return verdicts.pop() if len(verdicts) == 1 else None


def verdict_accuracy(prediction: str, question: Question) -> float:
    """Return 1 if the answer gives the gold verdict, else 0 (PubHealth, FEVER, StrategyQA)."""
    verdict = read_verdict(prediction)
    return float(verdict is not None and verdict == read_verdict(question.answers[0]))


def _letters(found: list[str], options: Mapping[str, str]) -> list[str]:
    return [letter.upper() for letter in found if letter.upper() in options]


def _named(whole: str, options: Mapping[str, str]) -> list[str]:
    """Return the options whose words an answer has; one within another does not count."""
    texts = {letter: f" {normalize_answer(text)} " for letter, text in options.items()}
    found = [k for k, text in texts.items() if text.strip() and text in f" {whole} "]
    return [
        letter
        for letter in found
        if not any(
            texts[letter] in texts[other] for other in found if texts[other] != texts[letter]
        )
    ]
