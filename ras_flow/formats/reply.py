"""What a model's reply says, without its thoughts, its channels' headers and its end tokens.

Servers should part these and often do not. Thoughts stand at a reply's head and end tokens at its
end: a text that mentions a tag elsewhere keeps it.
"""

from __future__ import annotations

import re

_NAMES = r"(?:think(?:ing)?|thought|reasoning|seed:think)"
_FINAL = r"<\|channel\|>\s*final\b[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>"
_TAGS = (
    (rf"<{_NAMES}>", rf"</{_NAMES}>"),
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (r"<\|channel>\s*thought\b", r"<channel\|>"),  # Gemma
    (r"<unused94>\s*thought\b", r"<unused95>"),  # MedGemma
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
)
_THOUGHTS = (
    *_TAGS,
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
    rf"\s*(?:{'|'.join(part for pair in _TAGS for part in pair)}|{_TURN})\s*", re.IGNORECASE
)
_FRAME = re.compile(
    r"\s*<(answer|response|solution|output)>((?:(?!</?\1>).)*)</\1>\s*", re.IGNORECASE | re.DOTALL
)
_MENTION = re.compile(r"[ ,/]+[^\s<]{0,6}[ /]?")
"""What stands between two tags that a text names: "<think> and </think>"."""

_TAG = re.compile(
    rf"(?P<opens>{'|'.join(opening for opening, _ in _TAGS)})"
    rf"|(?P<closes>{'|'.join(closing for _, closing in _TAGS)})|<\|end\|>.{{0,40}}?{_FINAL}",
    re.IGNORECASE,
)


def spoken(text: str) -> str:
    """Return what a reply says; reading that again changes nothing."""
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
    depth = 0
    for tag in _TAG.finditer(text, start):
        if tag["opens"]:
            depth += 1
        elif not tag["closes"] or (not depth and _ends_thought(text, start, *tag.span())):
            return tag.end()
        else:
            depth = max(0, depth - 1)
    return start


def _ends_thought(text: str, begin: int, start: int, end: int) -> bool:
    """Tell whether a closing tag ends what the prompt opened, and not a text that names the tag."""
    before, after = text[max(begin, start - 20) : start], text[end : end + 1]
    if after and (after in ".,;:!?)" or {before[-1:], after} <= {*"\"'`"}):
        return False
    said = before.rstrip(" \t")
    return said == before or said[-1:] in {"", *"\n.!?…。"}
