"""Triples in JSON, as models write it: whole, between other text, or cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

COLUMNS = {
    "s": "subject",
    "subject": "subject",
    "head": "subject",
    "p": "predicate",
    "predicate": "predicate",
    "relation": "predicate",
    "o": "object",
    "object": "object",
    "tail": "object",
}
"""What models call the parts of a triple, in lower case."""

LONGEST = 100_000
"""Characters of an output that are read; models write far less about one part of a passage."""

_MOST_WASTED = 10 * LONGEST
"""Characters read again and again because what holds them is broken: bounds the time it takes."""

Fields = tuple[str, str, str]


class _Number(str):
    """A number as it was written."""


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, strict=False)
_OPENING = re.compile(r"[\[{]")
_FENCED = re.compile(r"\s*```\w*\s+(.*?)\s*```\s*", re.DOTALL)


def read_whole_json(text: str) -> list[tuple[str, Fields | None]]:
    """Read a text that is JSON and nothing else; nothing if it is not."""
    fenced = _FENCED.fullmatch(text)
    body = (fenced[1] if fenced else text).strip()[:LONGEST]
    try:
        return list(_pieces(_DECODER.decode(body)))
    except (ValueError, RecursionError):
        return []


def read_json(text: str) -> Iterator[tuple[str, Fields | None]]:
    """Read the objects and lists in a text; yield each with its triple, or None."""
    text = text[:LONGEST]
    at = end = wasted = 0
    while wasted < _MOST_WASTED and (opening := _OPENING.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            at = opening.end()
            wasted += error.pos - opening.start()
            continue
        except RecursionError:  # Far deeper than triples: a model repeats itself.
            break
        yield from _pieces(value)
        end = at
    if "{" in text[end:]:
        yield text[text.index("{", end) :], None


def _pieces(value: Any, name: str = "triple") -> Iterator[tuple[str, Fields | None]]:
    """Yield what a value holds; a list of texts is a triple within a list or as "triple"."""
    if isinstance(value, dict):
        if not COLUMNS.keys().isdisjoint(key.lower() for key in value):
            found = _of_object(value)
            yield from ((_shown(value), fields) for fields in found)
            if not found:
                yield _shown(value), None
        else:
            for key, item in value.items():
                yield from _pieces(item, key.lower())
    elif isinstance(value, list):
        if any(isinstance(item, dict | list) for item in value):
            for item in value:
                yield from _pieces(item) if isinstance(item, dict | list) else ()
        elif name == "triple":
            yield _shown(value), _of_list(value)


def _of_object(record: dict[str, Any]) -> list[Fields]:
    """Return a triple for each text of the object's "object"."""
    values = {COLUMNS.get(key.lower()): value for key, value in record.items()}
    subject, predicate, said = map(values.get, ("subject", "predicate", "object"))
    objects = said if isinstance(said, list) else [said]
    if not all(isinstance(part, str) for part in (subject, predicate, *objects)):
        return []
    return [(str(subject), str(predicate), str(object)) for object in objects]


def _of_list(parts: list[Any]) -> Fields | None:
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        return None
    subject, predicate, object = parts
    numbers = isinstance(subject, _Number) and isinstance(predicate, _Number)
    return None if numbers else (str(subject), str(predicate), str(object))


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
