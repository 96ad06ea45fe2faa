"""A proposition index on disk: triples, the passages that state them, and their vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ras_flow.documents.index_folders import is_index
from ras_flow.indexes.manifest import Generation, read_generation
from ras_flow.indexes.passages import LineFile, map_file
from ras_flow.indexes.snapshot import Snapshot
from ras_flow.state.schema import Triple

FOLDER = "triples"
PROPOSITIONS, OFFSETS, READ = "propositions.jsonl", "offsets.npy", "passages.txt"


class Proposition(Triple):
    """A triple of a corpus; ``passages`` are all that state it, in the corpus's order."""

    id: str


@dataclass(frozen=True, kw_only=True)
class PropositionManifest(Generation):
    """What a proposition index holds.

    A file names the passages that were read; the extractor made nothing of ``failed`` ones.
    """

    extractor: str
    passages: int
    failed: int
    propositions: int


class _PropositionFile(LineFile[Proposition]):
    needs = frozenset({"id", "subject", "predicate", "object", "passages"})


class PropositionIndex(Snapshot[PropositionManifest]):
    """An opened proposition index.

    Attributes:
        propositions: In the order in which the corpus states them; read from disk one by one.
    """

    def _load(self, folder: Path) -> tuple[int, int]:
        self.propositions = _PropositionFile(folder / PROPOSITIONS, folder / OFFSETS)
        self._read = map_file(folder / READ)
        return self.manifest.propositions, len(self.propositions)

    @staticmethod
    def _read_manifest(path: Path) -> PropositionManifest:
        return read_generation(path, PropositionManifest, (PROPOSITIONS, OFFSETS, READ))

    def __len__(self) -> int:
        """Return the number of propositions."""
        return len(self.propositions)

    def read(self) -> list[str]:
        """Return the ids of the passages that were read, in the corpus's order."""
        return self._read[:].decode().split()


def proposition_folder(index: Path, extractor: str) -> Path:
    """Return where an index has the propositions of an extractor."""
    return index / FOLDER / sha256(extractor.encode()).hexdigest()[:16]


def proposition_indexes(index: Path) -> Iterator[PropositionIndex]:
    """Open the proposition indexes of a passage index, one for each extractor."""
    for folder in sorted((index / FOLDER).glob("*")):
        if is_index(folder):
            yield PropositionIndex.open(folder)
