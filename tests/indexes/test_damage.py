"""Damaged indexes, other folders, and manifests that do not fit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ras_flow.documents import SourceDocument
from ras_flow.errors import (
    ConfigurationError,
    CorpusIndexError,
    IndexCorruptError,
    IndexMismatchError,
    IndexMissingError,
)
from ras_flow.indexes import CorpusIndex
from ras_flow.indexes.manifest import read_manifest
from tests.indexes.helpers import DOCUMENTS, WordEncoder, edit_manifest, files


@pytest.mark.parametrize("damage", ["missing", "truncated", "altered"])
async def test_damage_to_any_file_is_noticed_on_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    if damage == "truncated":  # Of a file that is too big to be hashed the size is looked at.
        monkeypatch.setattr("ras_flow.indexes.manifest.SMALL", 0)
    manifest = read_manifest(path)
    names = ["manifest.json", *(f"{manifest.generation}/{name}" for name in manifest.files)]
    assert len(names) == 10
    for name in names:
        file = path / name
        content = file.read_bytes()
        middle = len(content) // 2
        if damage == "missing":
            file.unlink()
        elif damage == "truncated":
            file.write_bytes(content[:-1])
        else:
            file.write_bytes(
                content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
            )
        lost = (name, damage) == ("manifest.json", "missing")
        with pytest.raises(IndexMissingError if lost else IndexCorruptError, match=r"build"):
            CorpusIndex.open(path)
        file.write_bytes(content)
    CorpusIndex.open(path).verify()


async def test_damage_to_a_big_file_is_noticed_by_verify_and_on_reading(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ras_flow.indexes.manifest.SMALL", 0)
    folder = path / read_manifest(path).generation
    terms = " ".join(f"{document.title} {document.text}" for document in DOCUMENTS)
    matrix = folder / "bm25" / "indices.csc.index.npy"
    content = matrix.read_bytes()
    matrix.write_bytes(content[:-128] + b"\x7f" * 128)
    with pytest.raises(IndexCorruptError, match="BM25's files are damaged"):
        await CorpusIndex.open(path).retriever("bm25").retrieve([terms], 1)
    matrix.write_bytes(content)
    file = folder / "passages.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"text"', b'"txet"'))
    index = CorpusIndex.open(path)
    with pytest.raises(IndexCorruptError, match="was altered"):
        index.verify()
    with pytest.raises(IndexCorruptError, match="line 1, is damaged"):
        await index.retriever("bm25").retrieve(["program"], 1)


@pytest.mark.parametrize(
    "name, damage",
    [
        ("passages.jsonl", lambda content: content.replace(b"mills", b"hills")),
        ("documents.jsonl", lambda content: re.sub(rb'\["\w', b'["x', content)),
        ("vectors.npy", lambda content: content[:-2] + b"\0\0"),
    ],
)
async def test_an_update_gives_no_new_checksum_to_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr("ras_flow.indexes.manifest.SMALL", 0)
    file = path / read_manifest(path).generation / name
    file.write_bytes(damage(file.read_bytes()))
    before = files(path)
    index = CorpusIndex.open(path, encoder=WordEncoder())
    with pytest.raises(IndexCorruptError, match=f"{name}.*build the index again"):
        await index.update([SourceDocument("x", "X", "New.")])
    assert files(path) == before


FILE = {"size": 1, "sha256": "x"}


@pytest.mark.parametrize(
    "change",
    [
        {"passages": 4},
        {"encoder": {"identity": "words", "dimension": 7}},
        {"generation": 5},
        {"generation": "../elsewhere"},
        {"files": []},
        {"files": {"../../secrets.txt": FILE}},
        {"files": {"vectors-000.npy": FILE}},
        {"files": {"documents.jsonl": None}},
        {"dense": {"shards": -1}},
    ],
)
async def test_a_manifest_that_does_not_fit_an_index_is_noticed(
    path: Path, change: dict[str, Any]
) -> None:
    shutil.copytree(path / read_manifest(path).generation, path.parent / "elsewhere")
    if isinstance(change.get("files"), dict):
        known = json.loads((path / "manifest.json").read_text())["files"] | change["files"]
        change = {"files": {name: file for name, file in known.items() if file}}
    edit_manifest(path, **change)
    with pytest.raises(IndexCorruptError, match="build the index again"):
        CorpusIndex.open(path)


async def test_another_format_says_to_build_again(path: Path) -> None:
    (path / "manifest.json").write_text('{"format": 99, "surprise": []}')
    with pytest.raises(IndexMismatchError, match="format 99.*build the index again"):
        CorpusIndex.open(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("thesis.docx", "years of work"),
        ("gen-settings.json", "{}"),
        ("manifest.json", '{"name": "an app", "manifest_version": 3}'),
        ("manifest.json", '["format"]'),
        ("manifest.json", "{"),
        ("manifest.json", "[" * 100_000),
    ],
)
async def test_other_folders_are_not_touched(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigurationError, match=f"holds '{name}'"):
        await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=None)
    with pytest.raises(ConfigurationError, match="is a file"):
        await CorpusIndex.build(tmp_path / name, DOCUMENTS, encoder=None)
    with pytest.raises(IndexCorruptError if name == "manifest.json" else IndexMissingError):
        CorpusIndex.open(tmp_path)
    assert os.listdir(tmp_path) == [name] and (tmp_path / name).read_text() == content
    with pytest.raises(CorpusIndexError, match="Cannot write /proc/index"):
        await CorpusIndex.build("/proc/index", DOCUMENTS, encoder=None)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("os.setuid(65534) if os.getuid() == 0 else os.chmod(f'{path}/manifest.json', 0)", "user"),
        ("resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir('/dev/fd')), 99))", "ulimit"),
    ],
    ids=["another user's", "too many open files"],
)
async def test_an_index_that_the_system_does_not_give_is_not_called_damaged(
    limit: str, said: str, tmp_path: Path
) -> None:
    """Its owner would build it again, for nothing."""
    await CorpusIndex.build(tmp_path / "index", DOCUMENTS, encoder=None)
    code = f"""
import os, resource, sys
from pathlib import Path
from ras_flow.errors import CorpusIndexError
from ras_flow.indexes import CorpusIndex

path = Path({str(tmp_path / "index")!r})
CorpusIndex.open(path)
{limit}
try:
    CorpusIndex.open(path)
except CorpusIndexError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot be read" in done.stdout and said in done.stdout
    assert "build" not in done.stdout
