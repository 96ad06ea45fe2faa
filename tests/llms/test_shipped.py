"""The weights that come with the package are whole, small, and what `local:default` means."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.graph_llm import shared
from ras_flow.graph_llm.manifest import checked_manifest
from ras_flow.llms.local.shipped import WEIGHTS
from ras_flow.llms.local.tuned import HOP, extractor_name, find_tuned, hop_reader_name
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.sentence_encoder import MINILM

MIB = 2**20


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("name", ["local", "local:", "local:default"])
def test_the_extractor(name: str) -> None:
    tuned = find_tuned(extractor_name(name).removeprefix("local:"))
    assert tuned is not None and (tuned.base, tuned.folder) == (SMOLLM2, WEIGHTS / "extractor")
    tuned.check_files(tuned.folder, tuned.files)
    assert size(tuned.folder) < 12 * MIB


def test_the_hop_reader() -> None:
    tuned = find_tuned(hop_reader_name("local:default").removeprefix("local:"))
    assert tuned is not None and (tuned.base, tuned.folder) == (SMOLLM2, WEIGHTS / "hop-reader")
    assert set(tuned.instructions) == {HOP} and tuned.kind == "causal"
    tuned.check_files(tuned.folder, tuned.files)
    assert size(tuned.folder) < 12 * MIB


@pytest.mark.parametrize("name", ["local", "local:", "local:default"])
def test_the_graph_llm(name: str) -> None:
    found = shared.find_graph_llm(name)
    assert found is not None and found.folder == WEIGHTS / "graph-llm"
    manifest = checked_manifest(found.folder)
    assert (manifest.config.base, found.config.encoder_name) == (SMOLLM2, MINILM)
    assert found.takes_soft_tokens and size(found.folder) < 25 * MIB


def test_others_can_read_them() -> None:
    assert all(file.stat().st_mode & 0o444 == 0o444 for file in WEIGHTS.rglob("*"))
