"""Indexes whose words an earlier version counted otherwise."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ras_flow.cli.index import app
from ras_flow.documents import SourceDocument
from ras_flow.errors import IndexMismatchError
from ras_flow.indexes import CorpusIndex, open_retriever
from ras_flow.indexes.bm25 import ANALYSIS
from ras_flow.indexes.manifest import read_manifest
from ras_flow.indexes.sync import sync_index
from tests.indexes.helpers import DOCUMENTS, WordEncoder, edit_manifest, files, titles


def words() -> WordEncoder:
    return WordEncoder("words@1", dimension=64)


async def make_old(
    path: Path, monkeypatch: pytest.MonkeyPatch, encoder: WordEncoder | None = None
) -> None:
    """Build an index as it was when words were split at spaces and kept their accents."""
    with monkeypatch.context() as old:
        old.setattr("ras_flow.indexes.bm25.tokenize", lambda text: text.casefold().split())
        await CorpusIndex.build(path, DOCUMENTS, encoder=encoder)
    edit_manifest(path, analysis=None)


def test_words_of_another_version_are_not_searched_and_a_command_renews_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my index"
    asyncio.run(make_old(path, monkeypatch, words()))
    for kind in ("bm25", "hybrid"):
        with pytest.raises(IndexMismatchError, match=r"`ras-flow index renew '.*/my index'`"):
            open_retriever(path, kind, words())  # type: ignore[arg-type]
    dense = open_retriever(path, "dense", words())
    assert asyncio.run(titles(dense, "textile mills"))[0] == "Łódź"

    encoder = words()
    monkeypatch.setattr("ras_flow.llms.sentence_encoder.LocalSentenceEncoder", lambda _: encoder)
    done = CliRunner().invoke(app, ["renew", str(path)])
    assert done.output.startswith(f"{path}: 5 documents, 5 passages\n"), done.output
    assert encoder.encoded == []
    assert asyncio.run(titles(open_retriever(path, "bm25"), "LODZ")) == ["Łódź"]
    asyncio.run(CorpusIndex.build(tmp_path / "new", DOCUMENTS, encoder=words()))
    assert files(path) == files(tmp_path / "new")


def test_an_index_of_this_version_is_not_renewed_and_one_of_a_later_version_is(
    tmp_path: Path,
) -> None:
    asyncio.run(CorpusIndex.build(tmp_path, DOCUMENTS, encoder=None))
    before = read_manifest(tmp_path)
    assert CliRunner().invoke(app, ["renew", str(tmp_path)]).exit_code == 0
    assert read_manifest(tmp_path) == before
    edit_manifest(tmp_path, analysis=ANALYSIS + 1)
    with pytest.raises(IndexMismatchError, match="ras-flow index renew"):
        open_retriever(tmp_path, "bm25")
    assert CliRunner().invoke(app, ["renew", str(tmp_path)]).exit_code == 0
    assert asyncio.run(titles(open_retriever(tmp_path, "bm25"), "lodz")) == ["Łódź"]


async def test_an_update_renews_an_index_whether_or_not_its_documents_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = words()
    for name, added in (("a", []), ("b", [SourceDocument("x", "Lodz", "A word.")])):
        await make_old(tmp_path / name, monkeypatch, encoder)
        encoder.encoded.clear()
        index = await sync_index(tmp_path / name, [*DOCUMENTS, *added], encoder)
        assert await titles(index.retriever("bm25"), "lodz") == ["Lodz"] * len(added) + ["Łódź"]
        assert len(encoder.encoded) == len(added)
