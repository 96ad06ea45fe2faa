"""Proposition indexes: incremental like the passages', and searched as a lazy search ranks."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.documents import SourceDocument
from ras_flow.errors import (
    ConfigurationError,
    CorpusIndexError,
    IndexCorruptError,
    IndexMismatchError,
    IndexMissingError,
    InputError,
)
from ras_flow.indexes import CorpusIndex, writer
from ras_flow.indexes.propositions.index import PropositionIndex, proposition_folder
from ras_flow.indexes.propositions.retriever import open_propositions
from ras_flow.indexes.propositions.update import Change, update_propositions
from ras_flow.parts import Extraction, FoundTriples, TripleQuery
from ras_flow.parts.chosen import Parts
from ras_flow.state.schema import Passage
from ras_flow.testing import ListRetriever
from ras_flow.triples.cache import TripleCache
from ras_flow.triples.lazy import LazyTripleRetriever
from ras_flow.triples.precompute import precompute
from tests.cli.command import Command
from tests.indexes.helpers import WordEncoder, files


class Sentences:
    """Reads each sentence of three parts, divided by commas, as a triple; "fails" fails."""

    identity, batch_size = "sentences", 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.asked += [passage["text"] for passage in passages]
        return [
            Extraction([], error="unreadable")
            if "fails" in passage["text"]
            else Extraction(
                [(s, p, o) for s, p, o in (line.split(", ") for line in lines(passage["text"]))]
            )
            for passage in passages
        ]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split(".") if line.count(", ") == 2]


DOCUMENTS = [
    SourceDocument("a", "Narvik", "Narvik, lies in, Norway. Narvik, has, a harbour."),
    SourceDocument("b", "Lund", "Mira Lund, was born in, Narvik. Mira Lund, wrote, Tides."),
    SourceDocument("c", "Tides", "Tides, is, a novel. mira lund, wrote, Tides."),
]


class World:
    """A corpus, its extractor and its store, brought up to date in one step."""

    def __init__(self, path: Path) -> None:
        self.path, self.extractor, self.store = path, Sentences(), InMemoryStore()
        self.encoder = WordEncoder()

    @property
    def folder(self) -> Path:
        return proposition_folder(self.path, self.extractor.identity)

    async def index(self) -> Change:
        corpus = CorpusIndex.open(self.path)
        await precompute(corpus.passages, self.extractor, self.store)
        cache = TripleCache(self.store, self.extractor.identity)
        return await update_propositions(corpus, self.extractor.identity, cache, self.encoder)

    async def find(self, *queries: TripleQuery, k: int = 2) -> FoundTriples:
        opened = open_propositions(self.path, self.extractor.identity, self.encoder)
        return await opened.find(queries, k)


@pytest.fixture
async def world(tmp_path: Path) -> World:
    await CorpusIndex.build(tmp_path / "index", DOCUMENTS, encoder=None)
    return World(tmp_path / "index")


async def test_only_what_is_new_is_extracted_and_embedded(world: World) -> None:
    assert await world.index() == Change(propositions=5, passages=3, failed=0, new=5)
    asked, embedded = len(world.extractor.asked), len(world.encoder.encoded)
    before = files(world.folder)
    assert await world.index() == Change(propositions=5, passages=3, failed=0)
    assert files(world.folder) == before
    assert (len(world.extractor.asked), len(world.encoder.encoded)) == (asked, embedded)

    corpus = CorpusIndex.open(world.path)
    added = SourceDocument("d", "Harbour", "Narvik, has, a harbour. It, fails, here.")
    good = SourceDocument("e", "Bach", "Bach, composed, fugues.")
    await corpus.update([added, good], remove=["b"])
    found = await world.find(TripleQuery("Mira Lund wrote"), k=5)
    [warning] = found.warnings
    assert "2 of its 4 passages" in warning and "triples index" in warning
    assert "Lund" not in [one.passage["title"] for one in found.passages]

    change = await world.index()
    assert change == Change(propositions=5, passages=4, failed=1, new=2, gone=2)
    assert world.extractor.asked[asked:].count(good.text) == 1
    assert world.encoder.encoded[-2:] == ["mira lund wrote Tides", "Bach composed fugues"]
    assert not (await world.find(TripleQuery("Bach"))).warnings
    assert await world.index() == Change(propositions=5, passages=4, failed=1)


documents = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from(["X, is, y.", "x, is, Y. Z, is, y.", "Z, is, y.", "Q, fails, r.", "no facts."]),
)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(documents, min_size=1, max_size=3))
def test_any_series_of_updates_equals_an_index_made_anew(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    async def play() -> None:
        one, other = (World(tmp_path_factory.mktemp("series") / "index") for _ in "ab")
        corpus = await CorpusIndex.build(one.path, [], encoder=None)
        for state in states:
            given = [SourceDocument(name, "T", text) for name, text in state.items()]
            gone = (await corpus.sources()).keys() - state.keys()
            corpus = await corpus.update(given, remove=gone)
            await one.index()
        await CorpusIndex.build(other.path, given, encoder=None)
        await other.index()
        assert files(one.folder) == files(other.folder)

    asyncio.run(play())


async def test_a_stored_search_is_a_lazy_one_of_everything(world: World) -> None:
    await world.index()
    everything = ListRetriever([{"title": d.title, "text": d.text} for d in DOCUMENTS])
    cache = TripleCache(world.store, world.extractor.identity)
    lazy = LazyTripleRetriever(everything, world.extractor, cache, world.encoder)
    passages = CorpusIndex.open(world.path).passages
    given = LazyTripleRetriever(list(passages), world.extractor, cache, world.encoder)
    narvik, lund, tides = passages
    queries = [
        TripleQuery("Mira Lund was born in"),
        TripleQuery("Mira Lund wrote", frozenset({lund["id"]})),
    ]
    found = await world.find(*queries, k=3)
    assert [one.passage for one in found.passages] == [lund, tides, narvik]
    assert found.triples[0].triple["object"] == "Narvik" and found.triples[0].query == 0
    assert {id for one in found.triples for id in one.triple["passages"]} == {
        passage["id"] for passage in passages
    }
    for other in (lazy, given):
        again = await other.find(queries, 3)
        assert [one.passage["id"] for one in again.passages] == [
            one.passage["id"] for one in found.passages
        ]
        assert [(one.triple, one.query) for one in again.triples] == [
            (one.triple, one.query) for one in found.triples
        ]
        assert not again.extractions, "all came from the cache"
    fresh = LazyTripleRetriever(everything, world.extractor, TripleCache(None, "x"), world.encoder)
    assert len((await fresh.find(queries, 3)).extractions) == 3


def killed(arguments: list[str]) -> None:
    """Bring an index up to date; be killed when all is written but the manifest."""
    writer.write_manifest = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    asyncio.run(World(Path(arguments[0])).index())


async def test_a_writer_that_is_killed_leaves_the_index_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.index()
    before = await world.find(TripleQuery("Tides"))
    await CorpusIndex.open(world.path).update(remove=["a"])
    assert Command(str(world.path), main=killed).wait().code == -signal.SIGKILL
    assert len(list(world.folder.glob("gen-*/vectors.npy"))) == 2
    assert await world.find(TripleQuery("Tides")) == before
    await world.index()
    anew = World(world.path.with_name("anew"))
    await CorpusIndex.build(anew.path, DOCUMENTS[1:], encoder=None)
    await anew.index()
    assert files(world.folder) == files(anew.folder) and len(list(world.folder.glob("gen-*"))) == 1
    file = next(world.folder.glob("gen-*/vectors.npy"))
    content = file.read_bytes()
    file.write_bytes(content[:-9] + b"\x01" + content[-8:])
    monkeypatch.setattr("ras_flow.indexes.manifest.SMALL", 0)
    with pytest.raises(IndexCorruptError, match="altered"):
        PropositionIndex.open(world.folder).verify()
    assert (await world.index()).new == 3, "a damaged index is made anew"
    PropositionIndex.open(world.folder).verify()


async def test_settings_choose_between_stored_and_lazy_and_say_what_is_missing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asking(Context):
        triple_index: str = "auto"

    def parts(**more: object) -> Parts:
        return Parts.of(extractor=world.extractor, encoder=world.encoder, defaults=Asking(), **more)

    auto = Asking(index=str(world.path), retriever="bm25")
    stored, lazy = (auto.override({"triple_index": kind}) for kind in ("stored", "lazy"))
    opened = await parts().get_triple_retriever(auto, None)
    assert opened.identity.startswith("lazy")
    with pytest.raises(IndexMissingError, match="triples index"):
        await parts().get_triple_retriever(stored, None)
    await world.index()
    found = await (await parts().get_triple_retriever(auto, None)).find([TripleQuery("Tides")], 1)
    assert found.passages[0].passage["title"] == "Tides" and not found.warnings
    opened = await parts().get_triple_retriever(lazy, None)
    assert opened.identity.startswith("lazy")

    world.extractor.identity = "another"
    with pytest.raises(IndexMismatchError, match="'sentences'.*'another'.*triples index"):
        await parts().get_triple_retriever(stored, None)
    lazily = await parts().get_triple_retriever(auto, None)
    assert (await lazily.find([TripleQuery("Tides")], 1)).warnings
    world.extractor.identity = "sentences"
    world.encoder = WordEncoder("other words")
    with pytest.raises(IndexMismatchError, match="encoder"):
        await parts().get_triple_retriever(stored, None)
    with pytest.raises(ConfigurationError, match="lazy"):
        await parts(retriever=ListRetriever([])).get_triple_retriever(stored, None)
    none = auto.override({"extractor": "none"})
    with pytest.raises(ConfigurationError, match="extractor"):
        await Parts.of(defaults=Asking()).get_triple_retriever(none, None)


async def test_an_index_without_propositions_says_so(tmp_path: Path) -> None:
    world = World(tmp_path / "index")
    await CorpusIndex.build(world.path, [], encoder=None)
    assert await world.index() == Change(propositions=0, passages=0, failed=0)
    with pytest.raises(CorpusIndexError, match="no propositions.*Add documents"):
        await world.find(TripleQuery("Tides"))
    with pytest.raises(InputError, match="k is 0"):
        await CorpusIndex.build(world.path, DOCUMENTS, encoder=None)
        await world.index()
        await world.find(TripleQuery("Tides"), k=0)
