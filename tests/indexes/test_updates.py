"""Updates: an updated index equals one that is built from scratch."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ras_flow.documents import SourceDocument
from ras_flow.documents import source as documents_source
from ras_flow.documents.blocks import Block
from ras_flow.errors import ConfigurationError, DocumentError, InputError
from ras_flow.indexes import CorpusIndex, open_retriever
from ras_flow.indexes.manifest import read_manifest
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from tests.indexes.helpers import DOCUMENTS, WordEncoder, files, titles


async def test_an_update_equals_a_build_from_scratch(path: Path, tmp_path: Path) -> None:
    encoder = WordEncoder()
    changed = SourceDocument("ada.txt", "Ada Lovelace", "She foresaw composing machines.")
    added = SourceDocument("bach.txt", "Bach", "He composed fugues.")
    index = CorpusIndex.open(path, encoder=encoder)
    index = await index.update([changed, added, DOCUMENTS[0]], remove=["gauss.txt"])
    assert encoder.encoded == [f"{d.title}\n{d.text}" for d in (changed, added)]

    final = [DOCUMENTS[0], added, DOCUMENTS[2], changed, DOCUMENTS[3]]
    scratch = await CorpusIndex.build(tmp_path / "scratch", final, encoder=WordEncoder())
    assert files(path) == files(tmp_path / "scratch")
    for kind in ("bm25", "dense", "hybrid"):
        queries = ["composing", "first published program", "Königreich", "Paris"]
        assert await index.retriever(kind).retrieve(queries, 5) == await scratch.retriever(
            kind
        ).retrieve(queries, 5)


async def test_only_what_is_split_in_another_way_now_is_a_changed_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prose = SourceDocument("a", "A", "One line.")
    lines = SourceDocument("b", "B", "Two\n\nlines.")
    blocks = SourceDocument("c", "C", blocks=(Block("paragraph", "One.", anchor="px-9"),))
    index = await CorpusIndex.build(tmp_path / "i", [prose, lines, blocks], encoder=None)
    assert [passage["source"] for passage in index.passages] == ["a", "b", "c#px-9"]
    held = await index.sources()
    monkeypatch.setattr(documents_source, "SPLITTING", 0)
    changed = [one.source for one in (prose, lines, blocks) if held[one.source] != one.content_hash]
    assert changed == ["b", "c"]


def document(source: str, text: str) -> SourceDocument:
    """A text, or one of a block at a place of its own in each document."""
    if text != "five":
        return SourceDocument(source, "T", text)
    return SourceDocument(source, "T", blocks=(Block("paragraph", text, anchor=f"in-{source}"),))


documents = st.dictionaries(
    st.sampled_from("abcd"), st.sampled_from(["one two", "three", "one two.\n\nthree four", "five"])
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(documents, min_size=1, max_size=4))
def test_any_series_of_updates_equals_a_build_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    async def play() -> None:
        folder = tmp_path_factory.mktemp("series")
        index = await CorpusIndex.build(folder / "a", [], encoder=WordEncoder(), max_words=2)
        for state in states:
            given = [document(source, text) for source, text in state.items()]
            gone = (await index.sources()).keys() - state.keys()
            index = await index.update(given, remove=gone)
        await CorpusIndex.build(folder / "b", given, encoder=WordEncoder(), max_words=2)
        assert files(folder / "a") == files(folder / "b")

    asyncio.run(play())


async def test_an_opened_index_is_not_disturbed_by_an_update(path: Path) -> None:
    old = CorpusIndex.open(path, encoder=WordEncoder())
    retrievers = [old.retriever(kind) for kind in ("bm25", "dense")]
    await old.update(remove=["lodz.txt"])
    for retriever in retrievers:
        assert (await titles(retriever, "textile mills"))[0] == "Łódź"
    assert "lodz.txt" in await old.sources()
    assert [item.name for item in path.glob("gen-*")] == [read_manifest(path).generation]


async def test_a_run_sees_an_update_and_the_old_index_is_let_go_of(tmp_path: Path) -> None:
    index = await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=None)
    parts, context = Parts.of(), Context(index=str(tmp_path), retriever="bm25")
    old = weakref.ref(await parts.get_retriever(context))
    assert await parts.get_retriever(context) is old()
    await index.update([SourceDocument("x", "Radom", "Mills of another town.")])
    assert "Radom" in await titles(await parts.get_retriever(context), "mills")
    gc.collect()
    assert old() is None


async def test_an_index_that_is_slow_to_open_holds_up_its_own_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = (Context(index=str(tmp_path / name), retriever="bm25") for name in "ab")
    for context in (slow, quick):
        await CorpusIndex.build(Path(context.index), DOCUMENTS, encoder=None)
    release, opened = threading.Event(), []

    def waits(path: Path, *rest: Any) -> Any:
        opened.append(path)
        if str(path) == slow.index:
            assert release.wait(60)
        return open_retriever(path, *rest)

    monkeypatch.setattr("ras_flow.parts.named.open_retriever", waits)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    parts = Parts.of()
    waiting = [asyncio.create_task(parts.get_retriever(slow)) for _ in range(8)]
    while not opened:
        await asyncio.sleep(0.001)
    async with asyncio.timeout(30):
        assert "Łódź" in await titles(await parts.get_retriever(quick), "textile mills")
    waiting.pop().cancel()
    release.set()
    assert len({id(retriever) for retriever in await asyncio.gather(*waiting)}) == 1
    assert len(opened) == 2


async def test_wrong_updates_are_refused_and_change_nothing(path: Path, tmp_path: Path) -> None:
    before = files(path)
    index = CorpusIndex.open(path, encoder=WordEncoder())
    with pytest.raises(InputError, match="'nowhere'"):
        await index.update(remove=["nowhere"])
    with pytest.raises(InputError, match="source 'x'"):
        await index.update([SourceDocument("x", "", text) for text in "ab"])
    with pytest.raises(DocumentError, match="x has no text"):
        await index.update([SourceDocument("x", "Title alone", " \n")])
    with pytest.raises(ConfigurationError, match="open it with this encoder"):
        await CorpusIndex.open(path).update(DOCUMENTS)
    plain = await CorpusIndex.build(tmp_path / "b", DOCUMENTS, encoder=None)
    await CorpusIndex.build(tmp_path / "b", DOCUMENTS, encoder=WordEncoder())
    with pytest.raises(ConfigurationError, match="open it with this encoder"):
        await plain.update([SourceDocument("x", "X", "New.")])
    await index.update(DOCUMENTS)
    assert files(path) == before


async def test_an_update_sees_what_others_wrote_meanwhile(path: Path) -> None:
    mine = CorpusIndex.open(path, encoder=WordEncoder())
    await CorpusIndex.open(path, encoder=WordEncoder()).update([SourceDocument("x", "X", "New.")])
    index = await mine.update([SourceDocument("y", "Y", "Newer.")])
    assert {"x", "y"} < (await index.sources()).keys()
