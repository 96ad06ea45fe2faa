"""In which form an extractor is asked, and how its output is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ras_flow.formats.triples import ParsedTriples, format_triples, parse_triples, triples_of
from ras_flow.parts.prompted.prompting import few_shot
from ras_flow.parts.records import Message
from ras_flow.prompts import extractor as prompts

_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True)
class Form:
    """A way to ask for triples.

    Attributes:
        prefix: The messages before the passage.
        max_new_tokens: Limit for what is written about one piece of text.
        parse: Reads what was written; never raises.
        schema: JSON schema to send along; None for free text.
    """

    prefix: Sequence[Message]
    max_new_tokens: int = 256
    parse: Callable[[str], ParsedTriples] = parse_triples
    schema: Mapping[str, Any] | None = None


def read_json_triples(text: str) -> ParsedTriples:
    """Read the structured form: an object with a list of triples."""
    try:
        found = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return parse_triples(text)
    items = found.get("triples") if isinstance(found, dict) else found
    if not isinstance(items, list):
        return parse_triples(text)
    if items and not any(isinstance(item, dict | list) for item in items):
        return parse_triples(text)
    read = [(item, triples_of(item)) for item in items]
    good = [triple for _, triples in read for triple in triples]
    bad = [json.dumps(item, ensure_ascii=False)[:300] for item, triples in read if not triples]
    parsed = parse_triples(format_triples(good))
    return ParsedTriples(parsed.triples, parsed.dropped + bad)


def _as_json(triples: str) -> str:
    names = ("subject", "predicate", "object")
    facts = [dict(zip(names, triple, strict=True)) for triple in parse_triples(triples).triples]
    return json.dumps({"triples": facts}, ensure_ascii=False)


def text_form(max_new_tokens: int = 512) -> Form:
    """Return the form for chat models of any kind: rules and example; the triple format back.

    What 100 words state takes up to some 400 tokens, of every fifth passage more than 256.
    """
    return Form(few_shot(prompts.INSTRUCTION, prompts.EXAMPLES), max_new_tokens)


def json_form() -> Form:
    """Return the form for chat models whose server takes a schema: the same rules, with JSON."""
    examples = [(given, _as_json(made)) for given, made in prompts.EXAMPLES]
    return Form(
        few_shot(prompts.JSON_INSTRUCTION, examples),
        max_new_tokens=1024,
        parse=read_json_triples,
        schema=prompts.SCHEMA,
    )


def trained_form(instruction: str, max_new_tokens: int = 512) -> Form:
    """Return the form in which `ras-flow train triples` trains extractors."""
    return Form(few_shot(instruction, ()) if instruction else (), max_new_tokens)
