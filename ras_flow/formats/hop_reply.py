"""What a model replies that reads a hop in one call: facts of its passages, and one step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import FENCE, MAX_SUBQUERY, clean_subquery, is_askable, visible
from ras_flow.formats.reply import spoken
from ras_flow.formats.triples import MAX_FIELD, Spo, clean_field, parse_triples

StepLabel = Literal["SUBQ", "ANSWER", "NOT_FOUND", "NO_RETRIEVAL"]

MOST_SUBQUERIES = 3
MOST_FACTS = 64

_FIELDS = ("subject", "predicate", "object")

_LABELS: dict[str, StepLabel] = {
    "SUBQ": "SUBQ",
    "SEARCH": "SUBQ",
    "ANSWER": "ANSWER",
    "NOTFOUND": "NOT_FOUND",
    "NORETRIEVAL": "NO_RETRIEVAL",
}
_JSON_STEPS: dict[str, StepLabel] = {
    "answer": "ANSWER",
    "not_found": "NOT_FOUND",
    "no_retrieval": "NO_RETRIEVAL",
}
_LABEL = re.compile(
    r"(sub[ _-]?q(?:uery)?|search|(?:final[ _-]*)?answer|not[ _-]*found|no[ _-]*retrieval)",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"[\s>*_`\"'#-]*+(?:\d{{1,2}}[.)]\s+)?[*_`\"']*+"
    rf"(?:[\[［【<]+\s*{_LABEL.pattern}[\s_#]*+\d{{0,2}}\s*(?:[\]］】>]+[*_`\"']*\s*[:：–—-]*|[:：])"
    rf"|{_LABEL.pattern}[\s_#]*+\d{{0,2}}[*_`\"']*+\s*[:：])(.*)",
    re.IGNORECASE | re.DOTALL,
)
_NUMBERS = r"\d{1,3}(?:\s*(?:[,;&–-]|and)\s*\d{1,3})*"
_NOUN = r"(?:passages?|sources?|nos?\.?)"
_GROUP = rf"(?:[\[［【]\s*+{_NOUN}?\s*{_NUMBERS}\s*[\]］】]|\(\s*{_NOUN}\s*{_NUMBERS}\s*\))"
_CITED = re.compile(
    rf"(?<!\s)\s*+(?<!\w){_GROUP}|{_GROUP}(?=[\s.,;]*$)", re.IGNORECASE | re.MULTILINE
)
"""Numbers of passages; not the "[0]" of "a[0]", nor the year of "Lola (1981)"."""
_ENDING = re.compile(rf"((?<!\s)(?:\s*+{_GROUP})+)[\s.,;*_`]*$", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]*\.")
_LEADING = re.compile(rf"^\s*(?:[-*•>]\s+)?(?:\d{{1,2}}[.)]\s+)?[\[［【]({_NUMBERS})[\]］】]\s*")
_BULLET = re.compile(r"^\s*(?:[-*•>]|\d{1,2}[.)])\s+")
_SPACED_BAR = re.compile(r"(?<!\s)\s++[|｜]\s+")  # A "|" in a name has no spaces around it.
_BAR = re.compile(r"\s*[|｜]\s*")
_NEXT = re.compile(r"(?<=[\]］】)])\s*[;；]\s*")
"""What parts the facts of one subject, each of which ends with its passages' numbers."""
_MARKED = re.compile(r"\bS\s*[>＞].*\bP\s*[>＞]")

_NO_STEP = (
    "It has no step. After the facts write [ANSWER], [NOT FOUND], or up to three lines of [SUBQ]."
)
_NO_TEXT = "There is nothing after [{label}]. Write it on the same line."
_ASKED = "What it searches for was searched for already: {subquery!r}."


@dataclass(frozen=True)
class Fact:
    """A fact, and the numbers of the passages that are said to state it; none where none are."""

    spo: Spo
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class HopReply:
    """What was read from a reply.

    Attributes:
        facts: Its facts, in their order.
        label: Its step; None where no step is usable.
        subqueries: What to search for, up to three; for SUBQ alone.
        text: The answer, or what comes nearest to it; without a step, what stands beside the facts.
        numbers: Passages that the answer rests on.
        raw: The step as it was written.
        problem: Why no step is usable, worded for the model.
    """

    facts: Sequence[Fact] = ()
    label: StepLabel | None = None
    subqueries: Sequence[str] = ()
    text: str = ""
    numbers: Sequence[int] = ()
    raw: str = ""
    problem: str | None = None


@dataclass
class _Step:
    label: StepLabel
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def parse_hop_reply(text: str, searched: Callable[[str], bool] = lambda _: False) -> HopReply:
    """Read facts and step; never raises.

    Facts count wherever they stand: before or after the step, in a fence, as bullets, grouped by
    subject, or in the form of extractors. Of several steps the first kind counts, since a model
    that goes on after it plays its reader. ``searched`` tells whether a subquery was asked before.
    """
    facts, steps, rest = _read(text)
    reply = HopReply(facts[:MOST_FACTS])
    if not steps:
        said, numbers = cited_numbers(rest)
        return replace(reply, text=clean_answer(said), numbers=numbers, problem=_NO_STEP)
    return _decide(reply, steps, searched)


def read_facts(text: str) -> list[Fact]:
    """Read the facts of a reply, in any form; those of extractors have no numbers."""
    facts, _, _ = _read(text)
    return facts or [Fact(spo) for spo in parse_triples(spoken(text)).triples]


def facts_as_json(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Return facts in the form of :data:`ras_flow.prompts.extractor.FACTS`."""
    return [
        {**dict(zip(_FIELDS, fact.spo, strict=True)), "passages": list(fact.numbers)}
        for fact in facts
    ]


def cited_numbers(text: str) -> tuple[str, list[int]]:
    """Take the numbers in brackets out of an answer."""
    numbers = [number for found in _CITED.findall(text) for number in _numbers(found)]
    bare = _CITED.sub("", text).strip()
    ending = _ENDING.search(text)
    if ending and "." in text[ending.end(1) :] and _SENTENCE.fullmatch(bare):
        bare = bare[:-1]  # "River Aach [1]." is not a sentence.
    return bare, list(dict.fromkeys(numbers))


def _decide(reply: HopReply, steps: Sequence[_Step], searched: Callable[[str], bool]) -> HopReply:
    label = steps[0].label
    text = "\n".join(steps[0].lines).strip()
    raw = f"[{label.replace('_', ' ')}] {text}".strip()
    if label == "SUBQ":
        chosen = []
        for step in steps:
            if step.label != label:
                break
            chosen.append(clean_subquery(" ".join(step.lines)))
        usable: dict[str, str] = {}
        for one in filter(is_askable, chosen):
            usable.setdefault(normalize_question(one), one)
        new = [one for one in usable.values() if not searched(one)][:MOST_SUBQUERIES]
        raw = "\n".join(f"[SUBQ] {one[:MAX_SUBQUERY]}" for one in chosen[:MOST_SUBQUERIES])
        if new:
            return replace(reply, label=label, subqueries=new, raw=raw)
        problem = _NO_TEXT.format(label=label)
        if usable:
            problem = _ASKED.format(subquery=next(iter(usable.values())))
        return replace(reply, raw=raw, problem=problem)
    answer, numbers = cited_numbers(text)
    answer = clean_answer(answer if "[" in answer else answer.removesuffix("]"))
    if not answer and label == "ANSWER":
        return replace(reply, raw=raw, problem=_NO_TEXT.format(label=label))
    numbers = list(dict.fromkeys([*numbers, *steps[0].numbers]))
    return replace(reply, label=label, text=answer, numbers=numbers, raw=raw)


def _read(text: str) -> tuple[list[Fact], list[_Step], str]:
    shown = visible(spoken(text))
    facts, steps, rest = _read_json(shown) or _read_lines(shown)
    unique = {(fact.spo, tuple(fact.numbers)): fact for fact in facts if _is_fact(fact.spo)}
    return list(unique.values()), steps, rest


def _read_lines(text: str) -> tuple[list[Fact], list[_Step], str]:
    facts: list[Fact] = []
    steps: list[_Step] = []
    rest: list[str] = []
    for line in text.split("\n"):
        if FENCE.fullmatch(line):
            continue
        if match := _STEP.fullmatch(line):
            steps.append(_Step(_label(match[1] or match[2]), [match[3].strip()]))
        elif found := list(facts_of(line)):
            facts += found
        elif steps and _goes_on(steps[-1], line):
            steps[-1].lines.append(line.rstrip())
        else:
            rest.append(line)
    return facts, steps, "\n".join(rest).strip()


def _goes_on(step: _Step, line: str) -> bool:
    """Tell whether a line belongs to the step: not once the step is complete."""
    if not any(step.lines):
        return True
    if step.label == "SUBQ":
        return False
    last = next(one for one in reversed(step.lines) if one.strip())
    if _ENDING.search(last) is None:
        return True
    return _CITED.search(line) is not None or _BULLET.match(line) is not None


def _label(word: str) -> StepLabel:
    letters = re.sub(r"[^A-Z]", "", word.upper()).removeprefix("FINAL")
    return _LABELS["SUBQ" if letters.startswith("SUBQ") else letters]


def facts_of(line: str) -> Iterator[Fact]:
    """Read the facts of one line; nothing where it is something else."""
    if _MARKED.search(line):
        for spo in parse_triples(line).triples:
            yield Fact(spo, numbers_at_end(line)[1])
        return
    bare = line.strip()
    if bare.count("|") + bare.count("｜") < 2 or bare.startswith("|"):
        return
    leading = _LEADING.match(line)
    common = _numbers(leading[1]) if leading else []
    line = line[leading.end() :] if leading else _BULLET.sub("", line, count=1)
    subject = ""
    for piece in _NEXT.split(line):
        rest, numbers = numbers_at_end(piece)
        bare = _unwrapped(rest)
        spaced = _SPACED_BAR.split(bare)
        fields = spaced if len(spaced) > 1 + (not subject) else _BAR.split(bare)
        if len(fields) == 2 and subject:
            fields = [subject, *fields]
        if len(fields) < 3:
            continue
        subject, predicate = fields[0], fields[1]
        spo = (clean_field(subject), clean_field(predicate), clean_field("|".join(fields[2:])))
        yield Fact(spo, numbers or common)


def numbers_at_end(text: str) -> tuple[str, list[int]]:
    """Take the passages' numbers off the end of a text."""
    match = _ENDING.search(text)
    if match is None:
        return text, []
    return text[: match.start()], _numbers(match[1])


def _numbers(text: str) -> list[int]:
    """Read "[1, 3]" and "[1-3]"."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s*[–-]\s*(\d+))?", text):
        end = int(last or first)
        found += range(int(first), end + 1) if end - int(first) < MOST_FACTS else [int(first), end]
    return found


def _unwrapped(text: str) -> str:
    text = text.strip().strip("*`").strip()
    wrapped = text.startswith("(") and text.endswith(")") and text.count("(") == text.count(")")
    return text[1:-1] if wrapped and text.find(")") == len(text) - 1 else text


def _is_fact(spo: Spo) -> bool:
    fields = all(any(char.isalnum() for char in part) and len(part) <= MAX_FIELD for part in spo)
    # A table's header, or the form that was asked for.
    return fields and tuple(map(str.casefold, spo)) != ("subject", "predicate", "object")


def _read_json(text: str) -> tuple[list[Fact], list[_Step], str] | None:
    """Read the JSON form (:func:`ras_flow.prompts.hop_reader.schema`), wherever it stands."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        made, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(made, dict) or not made.keys() & {"facts", "search", *_JSON_STEPS}:
        return None
    facts = [fact for item in _list(made.get("facts")) if (fact := _json_fact(item))]
    steps = [_Step("SUBQ", [text]) for text in _list(made.get("search")) if isinstance(text, str)]
    if not any(line.strip() for step in steps for line in step.lines):
        steps = []
    for name, label in _JSON_STEPS.items():
        said = made.get(name)
        if not steps and isinstance(said, str) and said.strip():
            steps = [_Step(label, [said], _integers(made.get("passages")))]
    return facts, steps, ""


def _json_fact(item: Any) -> Fact | None:
    if not isinstance(item, Mapping):
        return None
    fields = [item.get(name) for name in _FIELDS]
    if not all(isinstance(one, str | int | float) for one in fields):
        return None
    subject, predicate, object = (clean_field(str(one)) for one in fields)
    return Fact((subject, predicate, object), _integers(item.get("passages")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _integers(value: Any) -> list[int]:
    return [one for one in _list(value) if isinstance(one, int) and not isinstance(one, bool)]
