"""Files that are ZIP archives: what is refused before a library opens them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from ras_flow.documents.shared import DAMAGE, damaged
from ras_flow.errors import DocumentError

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How Microsoft's older container of files begins, which also holds encrypted files."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_UNPACKED_FREELY, _UNPACKED_FOLD = 128 * 1024 * 1024, 20
"""A file may unpack to so many bytes, or to so many times its size: a zip bomb is small."""


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
