from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ras_flow.documents import SourceDocument
from ras_flow.errors import CorpusIndexError
from ras_flow.indexes import manifest
from ras_flow.indexes.listing import find_indexes
from ras_flow.indexes.sync import cached_index_path, sync_index
from tests.indexes.helpers import DOCUMENTS, WordEncoder, titles


async def test_an_index_follows_its_documents(tmp_path: Path) -> None:
    encoder = WordEncoder()
    path = tmp_path / "index"
    await sync_index(path, DOCUMENTS, encoder)
    encoder.encoded.clear()

    changed = SourceDocument("ada.txt", "Ada Lovelace", "She foresaw composing machines.")
    index = await sync_index(path, [changed, *DOCUMENTS[2:]], encoder)
    assert (await index.sources()).keys() == {d.source for d in DOCUMENTS} - {"curie.txt"}
    assert encoder.encoded == ["Ada Lovelace\nShe foresaw composing machines."]
    assert await titles(index.retriever("bm25"), "composing radioactivity") == ["Ada Lovelace"]


async def test_two_that_follow_the_same_documents_do_not_disturb_each_other(tmp_path: Path) -> None:
    await sync_index(tmp_path, DOCUMENTS, None)
    left = DOCUMENTS[1:]

    def read_while_another_is_quicker() -> Iterator[SourceDocument]:
        yield from left
        asyncio.run(sync_index(tmp_path, left, None))

    index = await sync_index(tmp_path, read_while_another_is_quicker(), None)
    assert (await index.sources()).keys() == {document.source for document in left}


async def test_another_encoder_makes_the_index_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path))
    paths = set()
    for encoder in (WordEncoder(), None, WordEncoder("others"), WordEncoder()):
        paths.add(cached_index_path("../b", encoder))
        index = await sync_index(tmp_path / "index", DOCUMENTS[:2], encoder)
        made_by = index.manifest.encoder
        assert (made_by and made_by.identity) == (encoder and encoder.identity)
        assert len(index) == 2
    assert len(paths) == 3 and {path.parent for path in paths} == {tmp_path / "indexes"}


async def test_an_index_of_a_cache_below_the_folder_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAS_FLOW_CACHE", "cache")
    await sync_index(cached_index_path("docs", None), DOCUMENTS, None)
    [found] = await asyncio.to_thread(lambda: list(find_indexes(tmp_path)))
    assert found.path.parent == tmp_path / "cache" / "indexes"


async def test_a_passing_fault_embeds_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    encoder = WordEncoder()
    await sync_index(tmp_path, DOCUMENTS, encoder)
    encoder.encoded.clear()
    with monkeypatch.context() as patch:
        patch.setattr(manifest, "checksum", fails)
        with pytest.raises(CorpusIndexError, match="try again"):
            await sync_index(tmp_path, DOCUMENTS, encoder)
    await sync_index(tmp_path, DOCUMENTS, encoder)
    assert not encoder.encoded
