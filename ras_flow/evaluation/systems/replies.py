"""Reading what models write in the baselines' formats. Total: no text of a model raises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.text import has_word

_ACTION = re.compile(
    r"\b(search|look\s*up|retrieve|finish|final\s+answer)\b[^\S\n]*"
    r"(?:\[([^\]\n]*)\]?|\(([^)\n]*)\)?|[:=][^\S\n]*([^\n]+))",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W*action\W*(?:\d+\W*)?", re.IGNORECASE)
_WRITTEN = re.compile(r"(?:Search|Finish)\[|(?i:final\s+answer)\s*[:=]")
"""What is an action wherever it stands; other words may belong to a sentence."""
_BREAKS = (".", "!", "?", ":", "：", "…", ">", "*", ")")
_SEARCHES = re.compile(r"search|look|retrieve", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"\b(?:(?:so|therefore|thus|hence)[,:]?\s+)?(?:the\s+)?(?:final\s+)?answer\s+(?:is|would\s+be)"
    r"(?:\s*:|\s+(?!not\b))\s*([^\n]*)"
    r"|^[^\w\n]*final\s+answer\W*:\s*([^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_FOLLOW_UP = re.compile(
    r"\bfollow[\s-]*up(?:\s+question)?\s*(?:\d+\s*)?[:：]\s*([^\n]*)", re.IGNORECASE
)
_INTERMEDIATE = re.compile(
    r"\bintermediate\s+answer\s*(?:\d+\s*)?(?:[:：]|\bis\b:?)\s*([^\n]*)", re.IGNORECASE
)
_FINAL = re.compile(r"\bfinal\s+answer\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):]|\(?[a-hA-H][.):])\s*(.+)$")
_INLINE = re.compile(r"\s*\(?\b(?:\d{1,2}|[a-h])\)\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“'(])")
_INITIAL = re.compile(
    r"(?:(?:[A-Z]\.)*[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|Prof|Rev|Gen|Col|Lt|Capt|Sgt|Mt)\."
)
_ENUMERATED = re.compile(r"^\(?\d{1,2}[.):]\s+")


@dataclass(frozen=True)
class Action:
    """An action of ReAct; without a kind the reply held none."""

    kind: Literal["search", "finish"] | None
    text: str = ""


@dataclass(frozen=True)
class SelfAskReply:
    """A reply of Self-Ask; each part is empty where it is not there."""

    intermediate: str = ""
    follow_up: str = ""
    final: str = ""


def parse_action(text: str) -> Action:
    """Read a step of ReAct.

    What stands after "Action" at the start of a line counts first, then what starts a line
    itself, then what follows a sentence or is spelled ``Search[…]``; a search that a sentence
    speaks of ("my first search (…) found") is none. Of several that are equally clear the first
    counts: models like to go on and invent observations. Beside ``Search[…]`` and ``Finish[…]`` it
    takes round brackets, a colon, a missing closing bracket, "lookup" and "retrieve", and a
    conclusion in words ("the answer is …").
    """
    action = _clearest(text)[0]
    answer = "" if action.kind else parse_conclusion(text)
    return Action("finish", answer) if answer else action


def cut_step(text: str) -> str:
    """Return a step of ReAct up to the line of its action; what was invented then is left out."""
    _, end = _clearest(text)
    return text[:end] + text[end:].partition("\n")[0]


def _clearest(text: str) -> tuple[Action, int]:
    """Read the action that is written as one, and where it ends: without one, at the text's end."""
    found = min(_actions(text), key=lambda found: found[0], default=None)
    return (Action(None), len(text)) if found is None else found[1:]


def _actions(text: str) -> Iterator[tuple[int, Action, int]]:
    """Yield what may be actions: how clear each is, 0 being clearest, itself, and its end."""
    at = 0
    while found := _ACTION.search(text, at):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        said = clean_answer(next((part for part in found.groups()[1:] if part), ""))
        rank = _rank(before, found[0])
        if rank is None or not said:
            # What was taken for its text may hold an action.
            at = found.end(1)
            continue
        at = found.end()
        yield rank, Action("search" if _SEARCHES.match(found[1]) else "finish", said), at


def _rank(before: str, written: str) -> int | None:
    """Rank an action by what stands before it in its line; None where it is part of a sentence."""
    if _LABEL.fullmatch(before):
        return 0
    if not has_word(before):
        return 1
    return 2 if _WRITTEN.match(written) or before.rstrip().endswith(_BREAKS) else None


def parse_conclusion(text: str) -> str:
    """Read "So the answer is: …"; empty where the text does not conclude."""
    for found in _CONCLUSION.finditer(text):
        said = clean_answer((found[1] or found[2] or "").strip())
        if has_word(said):
            return said.removesuffix(".").strip()
    return ""


def parse_self_ask(text: str) -> SelfAskReply:
    """Read a reply of Self-Ask."""
    follow_up = _FOLLOW_UP.search(text)
    before = text[: follow_up.start()] if follow_up else text
    intermediate = _INTERMEDIATE.search(before)
    said = clean_answer(intermediate[1]) if intermediate else ""
    rest = _INTERMEDIATE.sub("", before)
    final = parse_conclusion(rest) if not follow_up or _FINAL.search(rest) else ""
    return SelfAskReply(
        intermediate=parse_conclusion(said) or said,
        follow_up=clean_answer(follow_up[1]) if follow_up and not final else "",
        final=final,
    )


def first_line(text: str) -> str:
    """Return the first line with a word in it; empty for a text without words."""
    return next((line for line in text.splitlines() if has_word(line)), "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a reasoning, on one line; empty for a text without words."""
    line = " ".join(first_line(clean_answer(text)).split()).removeprefix("Reasoning:").strip()
    line = _ENUMERATED.sub("", line)
    for end in _SENTENCE_END.finditer(line):
        sentence = line[: end.start()]
        if not _INITIAL.fullmatch(sentence.rpartition(" ")[2]):
            return sentence
    return line


def parse_candidates(text: str, most: int) -> list[str]:
    """Read a list of answers."""
    lines = [line for line in clean_answer(text).splitlines() if has_word(line)]
    numbered = [found[1] for line in lines if (found := _NUMBERED.match(line))]
    if len(numbered) < 2 and lines:
        line = " ".join(" ".join(lines).split())
        inline = [part for part in _INLINE.split(line) if has_word(part)]
        numbered = inline if len(inline) > 1 else numbered
    answers: dict[str, str] = {}
    for said in numbered or lines:
        answer = clean_answer(said).strip(" ;,*")
        if has_word(answer):
            answers.setdefault(answer.casefold(), answer)
    return list(answers.values())[:most]


def parse_verdict(text: str) -> bool:
    """Tell whether a reply says true (or yes); what says neither counts as false."""
    found = re.search(r"\b(true|yes|false|no|not)\b", clean_answer(text), re.IGNORECASE)
    return found is not None and found[1].lower() in ("true", "yes")


def parse_choice(text: str) -> int | None:
    """Read which of two is chosen: 0, 1, or None where the reply does not say."""
    found = re.search(r"\b(1|2|one|two|first|second|former|latter)\b", clean_answer(text), re.I)
    if found is None:
        return None
    return 0 if found[1].lower() in ("1", "one", "first", "former") else 1
