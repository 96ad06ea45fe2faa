"""What the readers of several file types share: titles, raised numbers, archives, and damage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile
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

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How Microsoft's older container of files begins, which also holds encrypted files."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_UNPACKED_FREELY, _UNPACKED_FOLD = 128 * 1024 * 1024, 20
"""A file may unpack to so many bytes, or to so many times its size: a zip bomb is small."""


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


@contextmanager
def archive(path: Path, source: str, *errors: type[Exception]) -> Iterator[BinaryIO]:
    """Open an archive for a library, whose errors then say that the file is damaged."""
    # zipfile raises a RuntimeError for an encrypted entry.
    damage: tuple[type[Exception], ...] = (BadZipFile, RuntimeError, *errors, *DAMAGE)
    try:
        with path.open("rb") as file:
            _check(file, source, path.suffix.lower())
            yield file
    except DocumentError:
        raise
    except damage as error:
        raise damaged(source, path.suffix.lower(), error) from error


def _check(file: BinaryIO, source: str, kind: str) -> None:
    """Refuse what is encrypted, in an older format, or would unpack to far more than its size."""
    if file.read(len(_OLE)) == _OLE:
        if _ENCRYPTED in file.read():
            raise DocumentError(f"{source} is encrypted: save a copy without a password.")
        raise DocumentError(f"{source} is in an older format than {kind}: save it as {kind}.")
    with ZipFile(file) as content:
        unpacked = sum(part.file_size for part in content.infolist())
    size = file.seek(0, SEEK_END)
    file.seek(0)
    if unpacked > max(_UNPACKED_FREELY, _UNPACKED_FOLD * size):
        raise DocumentError(
            f"{source} has {size} bytes and would unpack to {unpacked}, as a file made to fill the "
            "memory would: leave it out, or save its text as .txt."
        )
