"""The planner's output: a label, and for [SUBQ] a subquery (paper §3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ras_flow.errors import InputError
from ras_flow.formats.reply import spoken
from ras_flow.formats.text import has_word

if TYPE_CHECKING:
    from ras_flow.state.schema import PlanLabel

MAX_SUBQUERY = 400
"""Characters; a longer subquery is a model that rambles."""

_WORD = r"(sub[ _-]?q(?:uery)?|sufficient|no[ _-]*retrieval|not[ _-]*found)"
_DECORATION = "*_`\"'“”‘’«»"
_NUMBER = r"(?:[\s_#]*\d{1,2})?"
_LABEL = re.compile(rf"[\[［【<]{{1,2}}\s*/?{_WORD}{_NUMBER}\s*[\]］】>]{{1,2}}", re.IGNORECASE)
_TEXT_INSIDE = re.compile(
    rf"[\[［【]\s*(?:{_WORD}{_NUMBER}\s*[:：]|(subq)\s(?![#\d]))"
    r"([^\[\]［］【】\n]*)[\]］】]?",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"{_WORD}[{_DECORATION}\s]*[.!:]?"
    rf"|(sufficient|no[ _-]*retrieval)[{_DECORATION}]*\s*[.!:：–—-][{_DECORATION}]*\s.*",
    re.IGNORECASE,
)
_BARE_SUBQ = re.compile(
    rf"sub[ _-]?q(?:uery)?{_NUMBER}[{_DECORATION}]*\s*[:：](?:[{_DECORATION}]+(?=\s))?(.+)"
    rf"|subq[{_DECORATION}]*\s(.+)",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    rf"\s*(?:(?:[-*•>]|#{{1,6}}|\d{{1,2}}[.)])\s+)?[\s{_DECORATION}]*"
    rf"(?:(?:final\s+)?(?:output|label|plan|answer|decision|action|response)"
    rf"[{_DECORATION}]*\s*:[\s{_DECORATION}]*)?",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:[:：]\s*|[–—-]\s+|(?:sub-?)?(?:question|query)\s*:\s*)+", re.IGNORECASE)
_CLOSING = str.maketrans("“‘«", "”’»")
_WRAPPED = re.compile(
    r"(\*\*|__|[\"'`*])((?:(?!\1).)*)\1|“([^“”]*)”|‘([^‘’]*)’|«([^«»]*)»", re.DOTALL
)
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*\w*\s*")
_RUN_ON = re.compile(r"\s*(?:retrieved graph information\s*:|\[prev_)", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u200b\ufeff\ud800-\udfff]")
_ESCAPE = re.compile(r"(?<!\\)\\+(?=[\[\]_])")

_NO_LABEL = (
    "There is no label in it. Start with exactly one of [SUBQ], [SUFFICIENT] or [NO_RETRIEVAL]."
)
_CONFLICT = "It has several different labels. Write exactly one of them, and nothing else."
_NO_SUBQUERY = "There is no subquery after [SUBQ]. Write one search question on the same line."
_TOO_LONG = f"The subquery is too long. Ask one short question, at most {MAX_SUBQUERY} characters."


@dataclass(frozen=True)
class ParsedPlan:
    """What was read from a planner's output.

    Attributes:
        label: The decision; None when the output is not usable.
        subquery: The subquery of a usable [SUBQ], one line without labels; otherwise empty.
        problem: Why the output is not usable, worded for the model; None when it is usable.
        wants_subquery: The label is [SUBQ], even if the subquery is not usable. That alone counts
            for the first plan, whose subquery is the main question.
    """

    label: PlanLabel | None
    subquery: str = ""
    problem: str | None = None
    wants_subquery: bool = False


def format_plan(label: PlanLabel, subquery: str = "") -> str:
    """Write a plan: the training target, and the form of the prompt's examples."""
    if label != "SUBQ":
        if subquery:
            raise InputError(f"A [{label}] plan has no subquery; leave it off or use SUBQ.")
        return f"[{label.replace('_FOUND', ' FOUND')}]"
    cleaned = clean_subquery(subquery)
    if not is_askable(cleaned):
        raise InputError(
            f"A [SUBQ] plan needs a subquery of 1 to {MAX_SUBQUERY} characters that has a word; "
            f"this one has {len(cleaned)} once cleaned: {cleaned[:80]!r}."
        )
    return f"[SUBQ] {cleaned}"


def parse_plan(text: str) -> ParsedPlan:
    """Read a planner's output. Never raises.

    A label counts in brackets ("[SUBQ]", "[ subq ]", "[SUBQ: who ...]") at the start of a line or
    after anything but a word: "this is not [SUFFICIENT]" only mentions it. It counts as a bare
    word on the first line, alone or with a reason ("Sufficient: the graph ..."); "SUBQ: who ..."
    also on the last. Thoughts, code fences, emphasis, quotes and prefixes such as "Output:" are
    ignored. Reading ends where the model plays on alone ("Retrieved Graph Information: ...").
    No label, different labels, and a [SUBQ] without a usable text are problems; of several [SUBQ]
    the first with a text counts.
    """
    lines = [line for line in visible(spoken(text)).split("\n") if not FENCE.fullmatch(line)]
    found: list[tuple[PlanLabel, str]] = []
    at_start = True
    for number, line in enumerate(lines):
        if found and _RUN_ON.match(line):
            break
        here = _bracketed(line) or (_bare(line) if at_start else [])
        if here and not here[-1][1]:
            here[-1] = (here[-1][0], _next_text(lines, number + 1))
        found += here
        at_start = at_start and _PREFIX.fullmatch(line) is not None
    if not found:
        last = next((line for line in reversed(lines) if line.strip()), "")
        found = [plan for plan in _bare(last) if plan[1]]
    labels = {label for label, _ in found}
    if not labels:
        return ParsedPlan(None, problem=_NO_LABEL)
    if len(labels) > 1:
        return ParsedPlan(None, problem=_CONFLICT)
    [label] = labels
    if label != "SUBQ":
        return ParsedPlan(label)
    subquery = next((rest for _, rest in found if has_word(rest)), "")
    if not 0 < len(subquery) <= MAX_SUBQUERY:
        problem = _TOO_LONG if subquery else _NO_SUBQUERY
        return ParsedPlan(None, problem=problem, wants_subquery=True)
    return ParsedPlan("SUBQ", subquery, wants_subquery=True)


def is_askable(subquery: str) -> bool:
    """Tell whether a plan can ask this: cleaned, it has a word in it and is not too long."""
    cleaned = clean_subquery(subquery)
    return has_word(cleaned) and len(cleaned) <= MAX_SUBQUERY


def clean_subquery(text: str) -> str:
    """Bring a subquery into the form in which plans hold it."""
    line = " ".join(visible(text).split())
    label = _LABEL.search(line)
    return _unwrap(line[: label.start()] if label else line)


def visible(text: str) -> str:
    """Drop invisible characters and Markdown escapes; unify line ends and brackets."""
    text = _INVISIBLE.sub("", _NEWLINE.sub("\n", text))
    return _TEXT_INSIDE.sub(r"[\1\2] \3", _ESCAPE.sub("", text))


def _bracketed(line: str) -> list[tuple[PlanLabel, str]]:
    found: list[tuple[PlanLabel, str]] = []
    matches = list(_LABEL.finditer(line))
    starts = [match.start() for match in matches] + [len(line)]
    before = 0
    for number, match in enumerate(matches):
        lead = line[before : match.start()]
        before = match.end()
        words = lead.rstrip(_DECORATION + " \t")
        if words and words[-1].isalnum():
            continue
        opening = lead[len(lead.rstrip(_DECORATION)) :]
        closing = _closing(opening)
        rest = line[before : starts[number + 1]].strip().removeprefix(":")
        rest = rest[len(closing) :] if rest.startswith(closing) else rest.removesuffix(closing)
        found.append((_label(match[1]), _unwrap(rest)))
    return found


def _bare(line: str) -> list[tuple[PlanLabel, str]]:
    rest = _PREFIX.sub("", line, count=1).rstrip()
    if match := _BARE.fullmatch(rest.rstrip(_DECORATION + " \t")):
        return [(_label(match[1] or match[2]), "")]
    opening = "".join(mark for mark in line[: len(line) - len(rest)] if mark in _DECORATION)
    if match := _BARE_SUBQ.fullmatch(rest):
        subquery = clean_subquery(match[1] or match[2])
        return [("SUBQ", clean_subquery(subquery.removesuffix(_closing(opening))))]
    return []


def _closing(opening: str) -> str:
    return opening[::-1].translate(_CLOSING)


def _label(word: str) -> PlanLabel:
    initial = word[:2].lower()
    if initial == "no":
        return "NOT_FOUND" if word[2].lower() == "t" else "NO_RETRIEVAL"
    return "SUFFICIENT" if word[2].lower() == "f" else "SUBQ"


def _next_text(lines: list[str], start: int) -> str:
    line = next((lines[i] for i in range(start, len(lines)) if lines[i].strip()), "")
    return "" if _RUN_ON.match(line) else clean_subquery(line)


def _unwrap(text: str) -> str:
    """Strip prefixes, and quotes or emphasis that enclose the whole."""
    text = " ".join(text.split())
    while True:
        inner = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
        if wrapped := _WRAPPED.fullmatch(inner):
            inner = next(group for group in wrapped.groups()[1:] if group is not None)
        inner = inner.strip()
        if inner == text:
            return text
        text = inner
