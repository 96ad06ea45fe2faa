"""An opened index on disk, of whatever kind: one generation, checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Generic, Self

from ras_flow.errors import CorpusIndexError, IndexCorruptError, IndexMismatchError
from ras_flow.indexes.manifest import REBUILD, G, check_files, unreadable
from ras_flow.indexes.vectors import VectorIndex, load_vectors
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.protocols import SentenceEncoder


class Snapshot(ABC, Generic[G]):
    """What an index held when it was opened; later updates on disk do not change it."""

    vectors: VectorIndex | None

    def __init__(self, path: Path, manifest: G, encoder: SentenceEncoder | None) -> None:
        self.path = path
        self.manifest = manifest
        self.encoder = encoder
        check_files(path, manifest, searched=encoder is not None, thorough=False)
        folder = path / manifest.generation
        try:
            expected, held = self._load(folder)
            self.vectors = (
                load_vectors(folder, manifest.dense, searched=encoder is not None)
                if manifest.dense
                else None
            )
        except OSError as error:
            raise unreadable(folder, error) from error
        except (ValueError, KeyError) as error:
            raise IndexCorruptError(f"{folder} cannot be read ({error}). {REBUILD}") from error
        whole = held == expected
        if manifest.encoder and self.vectors is not None:
            whole = whole and self.vectors.shape == (expected, manifest.encoder.dimension)
        if not whole:
            raise IndexCorruptError(f"{folder} does not hold what its manifest says. {REBUILD}")

    @abstractmethod
    def _load(self, folder: Path) -> tuple[int, int]:
        """Open a generation's files; return how many records it should have, and has."""

    @staticmethod
    @abstractmethod
    def _read_manifest(path: Path) -> G:
        """Read and check what the index holds now."""

    @classmethod
    def open(cls, path: str | Path, *, encoder: SentenceEncoder | None = None) -> Self:
        """Open an index; takes milliseconds to a second, so call it in a thread from async code.

        Each file that is opened is checked: its size, and its hash up to 8 MiB. What searches the
        vectors approximately is opened only with an encoder, and then hashed whatever its size;
        without one, damage to it goes unnoticed until :meth:`verify`.
        """
        path = Path(path)
        while True:
            manifest = cls._read_manifest(path)
            _check_encoder(path, manifest, encoder)
            try:
                return cls(path, manifest, encoder)
            except CorpusIndexError:
                # A writer may have replaced the generation after its manifest was read.
                if cls._read_manifest(path).generation == manifest.generation:
                    raise

    def verify(self) -> None:
        """Hash every file, whatever its size, also what was not opened."""
        try:
            check_files(self.path, self.manifest, searched=True, thorough=True)
        except IndexCorruptError as error:
            if self._read_manifest(self.path).generation == self.manifest.generation:
                raise
            raise CorpusIndexError(
                f"The index at {self.path} was updated since it was opened: open it again to "
                "verify what is there now."
            ) from error


def _check_encoder(path: Path, manifest: G, encoder: SentenceEncoder | None) -> None:
    built = manifest.encoder
    if built and encoder and not same_encoder(built.identity, encoder.identity):
        raise IndexMismatchError(
            f"The index at {path} was built with the encoder {built.identity!r}, not with "
            f"{encoder.identity!r}: open it with the former, or build it again with the latter."
        )
