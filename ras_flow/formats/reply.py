"""What a model's reply says, without its thoughts, its channels' headers and its end tokens.

Servers should part these and often do not. Thoughts stand at a reply's head and end tokens at its
end: a text that mentions a tag elsewhere keeps it.
"""

from __future__ import annotations

import re
from itertools import groupby

_NAMES = r"(?:think(?:ing)?|thought|reasoning|seed:think)"
_FINAL = r"<\|channel\|>\s*final\b[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>"
_THOUGHTS = (
    (rf"<{_NAMES}>", rf"</{_NAMES}>"),
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (r"<\|channel>\s*thought\b", r"<channel\|>"),  # Gemma
    (r"<unused94>\s*thought\b", r"<unused95>"),  # MedGemma
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
    # gpt-oss, with its special tokens and without them.
    (r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:analysis|commentary)\b", _FINAL),
    (r"(?-i:analysis(?=[A-Z\"“'(<\[]|.*?assistant\s*final))", r"(?-i:assistant\s*final)"),
    (r"Here(?:'s| is) my thought process:", r"Here(?:'s| is) my response:"),  # Granite
    (r"Here are my reasoning steps:", r"\[BEGIN FINAL RESPONSE\]"),  # Apriel
)
_HEADERS = (
    _FINAL,
    r"(?:<\|(?:im_start|start|start_header_id|turn)(?:\|>|>)|<start_of_turn>)\s*"
    r"(?:assistant|model)\b(?:<\|end_header_id\|>)?",
    r"<\|(?:assistant|START_RESPONSE|START_TEXT|begin_of_solution)\|>",
    r"\[BEGIN FINAL RESPONSE\]",
)
_TURN = (
    r"(?:<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text|END_OF_TURN_TOKEN"
    r"|END_RESPONSE|END_TEXT|end_of_solution)\|>|<end_of_turn>|<turn\|>|<eos>|</s>"
    r"|<｜end▁of▁sentence｜>|\[END FINAL RESPONSE\])"
)
_NEXT = (
    r"(?:<\|(?:im_start|start|start_header_id|user|assistant|START_OF_TURN_TOKEN)\|>"
    r"|<start_of_turn>|<\|turn>|<｜User｜>|\[INST\])"
)
_BLANK = r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff]*"

_OPENINGS = [re.compile(_BLANK + opening, re.IGNORECASE | re.DOTALL) for opening, _ in _THOUGHTS]
_CLOSINGS = [re.compile(closing, re.IGNORECASE) for _, closing in _THOUGHTS]
_HEADER = re.compile(f"{_BLANK}(?:{'|'.join(_HEADERS)})")
_END = re.compile(rf"(?<![ \t])(?:{_TURN}\s*(?={_NEXT})|(?:{_TURN}\s*){{1,4}}\Z)")
_ALONE = re.compile(
    rf"\s*(?:{'|'.join(part for pair in _THOUGHTS[:7] for part in pair)}|{_TURN})\s*", re.IGNORECASE
)
_FRAME = re.compile(
    r"\s*<(answer|response|solution|output)>((?:(?!</?\1>).)*)</\1>\s*", re.IGNORECASE | re.DOTALL
)
_MENTION = re.compile(r"[ ,/]+[^\s<]{0,6}[ /]?")
"""What stands between two tags that a text names: "<think> and </think>"."""

_TAG = "|".join(closing for _, closing in _THOUGHTS[:7])
_OPENED = re.compile("|".join(opening for opening, _ in _THOUGHTS[:7]), re.IGNORECASE)
_UNOPENED = re.compile(
    rf"(?:(?:\A|(?<=\n))[ \t]*|(?<=[.!?…。])[ \t]+|(?<=\S))(?:{_TAG}|<\|end\|>.{{0,40}}?{_FINAL})"
    r"(?![.,;:!?)])",
    re.IGNORECASE,
)
"""The end of thoughts whose opening was part of the prompt: it ends a line or a sentence."""

_QUOTES = "\"'`"


def spoken(text: str) -> str:
    """Return what a reply says; what it says of itself a second time is the same."""
    if _ALONE.fullmatch(text):
        return text
    start, before = 0, -1
    while start != before:
        before = start
        start = _after_thought(text, start)
        if header := _HEADER.match(text, start):
            start = header.end()
    end = _END.search(text, start)
    said = text[start : end.start() if end else None]
    framed = _FRAME.fullmatch(said)
    return spoken(framed[2]) if framed else said


def _after_thought(text: str, start: int) -> int:
    """Return where a thought at this place ends; the same place if none begins here."""
    for opening, closing in zip(_OPENINGS, _CLOSINGS, strict=True):
        if opened := opening.match(text, start):
            closed = closing.search(text, opened.end())
            if closed is None:
                return len(text)  # It came to the limit of tokens first.
            named = _MENTION.fullmatch(text, opened.end(), closed.start())
            return start if named and opened[0][-1] in ">]" else closed.end()
    ends = _UNOPENED.finditer(text, start)
    for line, here in groupby(ends, key=lambda end: text.rfind("\n", 0, end.end()) + 1):
        end = next(here)
        tag = end[0].lstrip(" \t")
        at = end.end() - len(tag)
        if not _OPENED.search(text, max(line, start), at) and not _quoted(text, at, end.end()):
            return end.end()
    return start


def _quoted(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start] in {*_QUOTES} and text[end : end + 1] in {*_QUOTES}
