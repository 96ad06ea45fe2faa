"""What the readers of several file types share: titles, raised numbers, and damage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from zlib import error as ZlibError

from ras_flow.documents.blocks import Block
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError

RAISED = "\ufdd0"
"""Where raised text begins: a character that no text has."""

DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    ZlibError,
)
"""What pypdf and python-docx raise on damaged files besides their own errors."""

_POWER = re.compile(rf"(?<=\d){RAISED}(?=[-−+]?\d)")
_PLACEHOLDER = re.compile(
    r"\W*(?:untitled(?:\W*(?:document|\d+))?|(?:word )?document\d*|(?:powerpoint )?presentation\d*"
    r"|(?:slide|layout) \d+)\W*"
    r"|microsoft (?:word|powerpoint|excel) - .*"
    r"|\S.*\.(?:docx?|dvi|indd|odt|pdf|pptx?|ps|qxd|rtf|tex|xlsx?)",
    re.IGNORECASE,
)
"""What programs write if nobody gave a title; many files would share it."""


def as_powers(text: str) -> str:
    """Write a raised number that follows another as a power: 10⁶ must not become 106."""
    return _POWER.sub("^", text).replace(RAISED, "")


def given_title(title: str) -> str:
    """Return a title that a person gave, or the empty text for a program's placeholder."""
    return "" if _PLACEHOLDER.fullmatch(title) else title


def block_document(
    source: str, title: str, blocks: Sequence[Block], gap: str = ""
) -> SourceDocument:
    """Return a document of blocks, titled by its first heading or its file's name if need be."""
    if not any(block.text.strip() for block in blocks):
        raise DocumentError(f"{source} has no text: leave it out.")
    headings = (block.text for block in blocks if block.kind == "heading")
    title = title.strip() or next(headings, "") or Path(source).stem
    if len(blocks) > 1 and blocks[0].kind == "paragraph" and blocks[0].text == title:
        blocks = blocks[1:]
    return SourceDocument(source, title, gap=gap, blocks=tuple(blocks))


def damaged(source: str, kind: str, error: Exception) -> DocumentError:
    """Return the error for a file that its library cannot read."""
    why = " ".join(str(error).split()).rstrip(".")
    return DocumentError(
        f"{source} cannot be read as a {kind} file ({why}): save or download it again."
    )
