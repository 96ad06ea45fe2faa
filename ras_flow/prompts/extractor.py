"""What the extractor f_t2t is told (eq. 4; the rules of appendix F.1 in our words)."""

from __future__ import annotations

import re

from ras_flow.formats.text import tidy

RULES = """\
Each fact has one subject, one clear predicate and one object. Write every fact that the text \
states. Use full names, never pronouns.
Keep names, dates and numbers exactly as written. Write only the facts."""

INSTRUCTION = f"""\
Turn the text into facts of the form (S> subject| P> predicate| O> object), separated by commas.
{RULES}"""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Title: Pier House\n"
        "Text: Pier House is an office building in Halden, Norway. It was designed by the "
        "Norwegian architect Ingrid Moe and opened on 4 May 1931.",
        "(S> Pier House| P> instance of| O> office building), "
        "(S> Pier House| P> location| O> Halden, Norway), "
        "(S> Pier House| P> architect| O> Ingrid Moe), "
        "(S> Ingrid Moe| P> nationality| O> Norwegian), "
        "(S> Pier House| P> opened| O> 4 May 1931)",
    ),
]
"""A titled passage whose pronoun stands for the title, and its triples."""

TRAINED_INSTRUCTION = "Write every fact of the text as (S> subject| P> predicate| O> object)."
"""For an extractor that is trained with it: it knows the format, and needs no example."""

NUMBERED_INSTRUCTION = f"""\
Turn the numbered texts into facts, those of one subject in one line:
subject | predicate | object [number of the text]; predicate | object [number]
{RULES}"""

JSON_INSTRUCTION = f"""\
Turn the numbered texts into facts, as a JSON object with a list "facts" of objects that have a \
"subject", a "predicate", an "object" and "passages", a list of the text's number.
{RULES}"""

NUMBERED_EXAMPLES: list[tuple[str, str]] = [
    (
        "1 [Pier House] Pier House is an office building in Halden, Norway. It was designed by the "
        "Norwegian architect Ingrid Moe and opened on 4 May 1931.\n"
        "2 [Salt Road (film)] Salt Road is a film that Per Holm directed in 1987.",
        "Pier House | instance of | office building [1]; location | Halden, Norway [1]; "
        "architect | Ingrid Moe [1]; opened | 4 May 1931 [1]\n"
        "Ingrid Moe | nationality | Norwegian [1]\n"
        "Salt Road (film) | instance of | film [2]; directed by | Per Holm [2]; year | 1987 [2]",
    ),
]
"""Two numbered passages, and their facts by subject."""

FACTS: dict[str, object] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "subject": {"type": "string"},
            "predicate": {"type": "string"},
            "object": {"type": "string"},
            "passages": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["subject", "predicate", "object", "passages"],
        "additionalProperties": False,
    },
}
"""JSON schema of facts with the numbers of their passages."""

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"facts": FACTS},
    "required": ["facts"],
    "additionalProperties": False,
}
"""JSON schema of the structured form, within what strict servers take."""


_MARKER = re.compile("^(?=Title:|Text:)", re.MULTILINE)


def source(title: str, text: str) -> str:
    """Write a passage as extractors read it.

    A model that was trained to extract reads nothing else; a prompted one reads it as the last
    message.
    """
    return f"Title: {' '.join(title.split())}\nText: {_MARKER.sub(' ', tidy(text))}"
