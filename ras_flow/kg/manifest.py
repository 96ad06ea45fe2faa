"""What makes a folder a knowledge graph; see :mod:`ras_flow.indexes.manifest`."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from ras_flow.documents.index_folders import GRAPH
from ras_flow.indexes.manifest import EncoderRecord, Generation
from ras_flow.indexes.texts import text_files

RELATIONS = "relations.json"
FLAGS = "flags.npy"
IDS, NAMES = "ids", "names"
FORMS, FORM_NODES = "forms.npy", "form_nodes.npy"
RELATION_VECTORS, VECTORS = "relation_vectors.npy", "vectors.npy"


def edge_files(way: str) -> tuple[str, str, str]:
    """Return the names of the files of all nodes' edges, ``"out"`` or ``"in"``.

    They are where each node's edges begin, their relations, and the nodes at their other ends.
    """
    return f"{way}.npy", f"{way}_relations.npy", f"{way}_nodes.npy"


STORED = (
    RELATIONS,
    FLAGS,
    *text_files(IDS),
    *text_files(NAMES),
    FORMS,
    FORM_NODES,
    *edge_files("out"),
    *edge_files("in"),
)


@dataclass(frozen=True, kw_only=True)
class KgManifest(Generation):
    """What a knowledge graph holds, and what made its vectors if it has any."""

    what = GRAPH
    command = "ras-flow kg build"
    format = "kg 1"

    nodes: int
    relations: int
    triples: int
    embedder: EncoderRecord | None = None

    @property
    def digest(self) -> str:
        """Names its content, without its vectors."""
        sums = [self.files[name].sha256 for name in STORED]
        return sha256("".join(sums).encode()).hexdigest()[:12]
