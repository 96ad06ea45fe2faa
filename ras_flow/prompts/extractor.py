"""What the extractor f_t2t is told (eq. 4; the rules of appendix F.1 in our words)."""

from __future__ import annotations

INSTRUCTION = """\
Turn the text into facts of the form (S> subject| P> predicate| O> object), separated by commas.
Each fact has one subject, one clear predicate and one object. Write every fact that the text \
states. Use full names, never pronouns.
Keep names, dates and numbers exactly as written. Write only the facts."""

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
