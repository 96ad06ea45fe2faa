"""Triples as text: ``(S> subject| P> predicate| O> object), (S> ...`` (paper eq. 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ras_flow.formats.normalize import name_key
from ras_flow.formats.triple_json import COLUMNS, read_json, read_whole_json

Spo = tuple[str, str, str]
"""Subject, predicate and object of a triple."""

MAX_FIELD = 300
"""Characters; a longer field is a sentence, not an entity or a relation."""

_MARKER = re.compile(r"(?<![^\s(（|\[{\"'`,;*])([SPO])\s*[>＞](?:\*\*)?", re.IGNORECASE)
_LOOKALIKE = re.compile(rf"{_MARKER.pattern}(?:\s*[>＞](?:\*\*)?)*", re.IGNORECASE)
_UNMARKED_OBJECT = re.compile(
    r"(?<=[\s|(])(P\s*>[^|()\n]{1,300}\|)(?!\s*[SP]\s*>)"
    r"(?!(?:(?!(?<![^\s(|])S\s*>)[^\n]){0,300}\bO\s*>)\s*(?:[A-Z]\s*>)?",
    re.IGNORECASE,
)
_OBJECT_IN_PREDICATE = re.compile(
    r"(?<=[\s|(])(P\s*>\s*(?:is|are|was|were))\s+((?:an?|the)\s[^|()\n]{1,300}\))", re.IGNORECASE
)
_COMPARISON = re.compile(r"\w(?:\s+[>＞]|[>＞](?=[\d.]))")
_NAME = re.compile(
    r"(?:^[ \t]*[-*•][ \t]+)?\*{0,2}(?:<|&lt;)?(?<!\{)\b(subject|predicate|relation|object|[spo])"
    r"(?:>|&gt;|\*{0,2}[ \t]?[:：])\*{0,2}",
    re.IGNORECASE | re.MULTILINE,
)
_WIDE = re.compile(r"[（【]\s*S\s*[>＞]|\bS\s*＞", re.IGNORECASE)
_NARROW = str.maketrans("（）【】｜＞", "()()|>")
_PARENTHESIS = re.compile(r"[()]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\ufeff\ud800-\udfff]")
_CLEAN = re.compile(r"[\w.'’&/:%+-]+(?: [\w.'’&/:%+-]+)*")
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\+(?=[\"'])")
_UNMARKED = r"(?!\s*\w\s*[>＞])([^()\[\]|\n]{1,300})"
_BARS = re.compile(rf"[(\[]{_UNMARKED}\|{_UNMARKED}\|{_UNMARKED}[)\]]")
_NONE = re.compile(
    r"(?:```\w*\s+)?(?:\{\s*[\"'](?:triples|facts)[\"']\s*:\s*)?\[\s*\](?:\s*\})?(?:\s*```)?"
    r"|\W*(?:none|null|n/a|(?:there are |the text states )?no (?:facts|triples)[^\n.]{0,60})\W*",
    re.IGNORECASE,
)
_BAR = re.compile(r"\|[^\w|]*$")
"""The bar between a field and the next marker, with what models write around that one."""
_SURPLUS = re.compile(r"\|(?=\s*[A-Za-z]\s*[>＞])")
_FOURTH = re.compile(r"(\|\s*[A-Za-z])(?:\s*[>＞])+")
_SPACES = " \t,;"


@dataclass(frozen=True)
class ParsedTriples:
    """What was read from an extractor's output.

    Attributes:
        triples: (subject, predicate, object), each once, in the order of the text.
        dropped: Pieces that could not be read as triples, each cut at 300 characters.
    """

    triples: list[tuple[str, str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def clean_field(text: str) -> str:
    """Bring a subject, predicate or object into a form that the triple format can hold."""
    if _CLEAN.fullmatch(text):
        return text
    text = _ESCAPED_QUOTE.sub("", _drop_unmatched(_INVISIBLE.sub("", text)))
    text = " ".join(text.split()).strip(_SPACES + "|")
    return _FOURTH.sub(r"\1", _LOOKALIKE.sub(r"\1", text)).strip(_SPACES + "|")


def format_triple(subject: str, predicate: str, object: str) -> str:
    """Write one triple."""
    subject, predicate, object = map(clean_field, (subject, predicate, object))
    return f"(S> {subject}| P> {predicate}| O> {object})"


def format_triples(triples: Iterable[tuple[str, str, str]]) -> str:
    """Write triples, separated by a comma and a space."""
    return ", ".join(format_triple(*triple) for triple in triples)


def by_subject(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Write facts of one subject, each given as subject and rest, as one line."""
    said: dict[str, list[str]] = {}
    for subject, rest in facts:
        said.setdefault(subject, []).append(rest)
    return [f"{subject} | {'; '.join(rests)}" for subject, rests in said.items()]


def parse_triples(text: str) -> ParsedTriples:
    """Read an extractor's output: the triple format, and what models make of it. Never raises.

    ======================================  =====================================================
    text                                    outcome
    ======================================  =====================================================
    markers spaced, bold, in lower case,    read as the format; a missing "|" or outer
    wide, or as "S:", "<S>", "Subject:"     parenthesis does not matter
    JSON objects or lists, "(a | b | c)"    read if there are no markers, or if all is JSON
    "|" in a field                          part of it
    "| X> …" after a field                  the triple is kept, the surplus dropped
    no "O>", or another letter in place     the third field is the object
    no object, but "P> is a member)"        "is" is the predicate, "a member" the object
    a marker twice or out of order          dropped; after a complete triple, surplus
    "p > 0.05" in an object                 part of it, without the ">"
    an empty or too long field              dropped
    no final ")" at the end of the text     dropped as cut off, unless a line end, a quote or a
                                            bracket ends the object
    a triple a second time                  left out (compared by name keys)
    text around the triples                 left out; dropped if there are no triples at all
    "[]", '{"triples": []}', "No facts."    no triples, none dropped
    ======================================  =====================================================
    """
    if _NONE.fullmatch(text.strip()):
        return ParsedTriples()
    if _WIDE.search(text):
        text = text.translate(_NARROW)
    text = _INVISIBLE.sub("", text)
    found = [(piece, fields and _cleaned(fields)) for piece, fields in read_whole_json(text)]
    text = _OBJECT_IN_PREDICATE.sub(r"\1| O> \2", _UNMARKED_OBJECT.sub(r"\1 O>", text))
    for read in () if found else (_read_marked, _read_json, _read_named, _read_bars):
        if not any(triple for _, triple in found):
            found += read(text)
    triples: dict[tuple[str, ...], Spo] = {}
    dropped: list[str] = []
    for piece, triple in found:
        if triple is None or not all(0 < len(part) <= MAX_FIELD for part in triple):
            dropped.append(piece)
        else:
            triples.setdefault(tuple(map(name_key, triple)), triple)
    if not triples and not dropped:
        dropped.append(text)
    pieces = (" ".join(piece.strip(_SPACES)[:MAX_FIELD].split()) for piece in dropped)
    return ParsedTriples(list(triples.values()), [piece for piece in pieces if piece])


_Piece = tuple[str, Spo | None]  # A piece of text, and what it says.
_Found = Iterable[_Piece]


def _cleaned(fields: Spo) -> Spo:
    subject, predicate, object = map(clean_field, fields)
    return subject, predicate, object


def _read_marked(text: str) -> _Found:
    """Cut the text before each subject marker and read the parts."""
    group: list[re.Match[str]] = []
    markers = list(_MARKER.finditer(text))
    for number, marker in enumerate(markers):
        if len(group) > 2 and _compares(text, markers, number):
            continue
        if group and marker[1] in "Ss":
            yield from _read_group(text, group, marker.start())
            group = []
        group.append(marker)
    if group:
        yield from _read_group(text, group, len(text))


def _compares(text: str, markers: list[re.Match[str]], number: int) -> bool:
    """Tell whether what looks like a marker after a whole triple is a comparison: "p > 0.05"."""
    marker = markers[number]
    if not _COMPARISON.match(text, marker.start()):
        return False
    if marker[1] in "Ss":
        return not any(following[1] in "Pp" for following in markers[number + 1 : number + 2])
    return not text[markers[number - 1].end() : marker.start()].rstrip().endswith("|")


def _read_group(text: str, markers: list[re.Match[str]], end: int) -> _Found:
    """Read one triple and its surplus from markers up to the next subject marker at ``end``."""
    if "".join(marker[1] for marker in markers[:3]).upper() != "SPO":
        yield text[markers[0].start() : end], None
        return
    subject, predicate, object = markers[:3]
    object_end = markers[3].start() if len(markers) > 3 else end
    region = text[object.end() : object_end]
    length = _closing(region)
    if length is not None:
        region = region[:length]
    elif object_end == end:
        cut_off = end == len(text) and text[: subject.start()].rstrip().endswith("(")
        unclosed = _unclosed(region, followed=end < len(text), strict=cut_off)
        if unclosed is None:
            yield text[subject.start() : end], None
            return
        region = unclosed
    fields = [
        _SURPLUS.split(_BAR.sub("", text[subject.end() : predicate.start()]), maxsplit=1),
        _SURPLUS.split(_BAR.sub("", text[predicate.end() : object.start()]), maxsplit=1),
        _SURPLUS.split(region, maxsplit=1),
    ]
    first, second, third = (part for part, *_ in fields)
    yield text[subject.start() : object_end], _cleaned((first, second, third))
    for surplus in [*(more for _, *rest in fields for more in rest), text[object_end:end]]:
        if surplus.strip(_SPACES + "\n|()*"):
            yield surplus, None


def _closing(region: str) -> int | None:
    """Return where a triple's own ")" is, behind any parentheses inside its object."""
    depth = 0
    for match in _PARENTHESIS.finditer(region):
        depth += 1 if match[0] == "(" else -1
        if depth < 0:
            return match.start()
    return None


def _unclosed(region: str, *, followed: bool, strict: bool) -> str | None:
    """Return the object of a triple without a final ")"; None if it may have been cut off."""
    line, newline, _ = region.lstrip().partition("\n")
    line = line.rstrip()
    if followed and not newline:
        line = line.rstrip(_SPACES + "([{\"'`")
    elif strict and not newline and not line.endswith((")", "]", '"', "'", "`")):
        return None
    closed = "".join(end for begin, end in ("[]", "{}") if begin not in line)
    line = line.rstrip(_SPACES + closed)
    return line[:-1] if line[-1:] in "\"'`" and line.count(line[-1:]) % 2 else line


def _read_json(text: str) -> _Found:
    for piece, fields in read_json(text):
        yield piece, fields and _cleaned(fields)


def _read_bars(text: str) -> _Found:
    for match in _BARS.finditer(text):
        first, second, third = match.groups()
        yield match[0], _cleaned((first, second, third))


def _read_named(text: str) -> _Found:
    """Read fields with names in front; return nothing if they do not form a triple."""
    marked = _NAME.sub(lambda name: f" {COLUMNS[name[1].lower()][0]}> ", text)
    found = list(_read_marked(marked))
    return found if any(triple for _, triple in found) else []


def _drop_unmatched(text: str) -> str:
    """Drop parentheses that have no partner."""
    opened: list[int] = []
    unmatched: set[int] = set()
    for match in _PARENTHESIS.finditer(text):
        if match[0] == "(":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            unmatched.add(match.start())
    unmatched.update(opened)
    if not unmatched:
        return text
    return "".join(char for position, char in enumerate(text) if position not in unmatched)
