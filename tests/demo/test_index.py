"""The demo's index in the cache is ours: whatever happened to it, the demo works."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from ras_flow import Context
from ras_flow.demo import passages
from ras_flow.demo.index import demo_index, demo_propositions
from ras_flow.demo.triples import DemoExtractor, shipped
from ras_flow.errors import IndexCorruptError
from ras_flow.indexes import CorpusIndex
from ras_flow.indexes.propositions.retriever import open_propositions
from ras_flow.parts import Extraction, TripleQuery
from ras_flow.parts.named import extractor_of, retriever_of
from ras_flow.state.schema import make_passage
from tests.indexes.helpers import WordEncoder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))


async def test_it_is_made_once_and_holds_every_passage() -> None:
    encoder = WordEncoder()
    path = await demo_index(encoder)
    made = (path / "manifest.json").read_bytes()
    assert await demo_index(encoder) == path
    assert (path / "manifest.json").read_bytes() == made
    index = CorpusIndex.open(path, encoder=encoder)
    assert len(encoder.encoded) == len(index.passages)
    titles = {passage["title"] for passage in index.passages}
    assert titles > {passage["title"] for passage in passages()}
    assert "SI base units › The seven units" in titles
    assert await demo_index(None) != path, "an index for each encoder"


@pytest.mark.parametrize(
    "name", ["manifest.json", "passages.jsonl", "documents.jsonl", "bm25/vocab.index.json"]
)
@pytest.mark.parametrize("damage", ["cut", "flip", "lose"])
async def test_a_damaged_one_is_made_again(name: str, damage: str) -> None:
    path = await demo_index(None)
    [file] = [path / name] if name == "manifest.json" else path.glob(f"gen-*/{name}")
    whole = file.read_bytes()
    if damage == "lose":
        file.unlink()
    else:
        file.write_bytes(whole[:-9] if damage == "cut" else whole[:-9] + b"~" + whole[-8:])
        with pytest.raises(IndexCorruptError):
            CorpusIndex.open(path)
    assert await demo_index(None) == path
    index = CorpusIndex.open(path)
    index.verify()
    [[(found, _)]] = await index.retriever("bm25").retrieve(["Marie Curie"], 1)
    assert found["title"] == "Marie Curie"


async def test_a_cache_that_was_cleaned_is_filled_again_while_the_index_is_in_use(
    tmp_path: Path,
) -> None:
    context = Context(index="demo", retriever="bm25")
    for _ in range(3):
        retriever = await asyncio.to_thread(retriever_of, context)
        assert (await retriever.retrieve(["Marie Curie"], 1))[0]
        shutil.rmtree(tmp_path / "cache")


@pytest.fixture(scope="module")
def identity() -> str:
    """Name the shipped extractor, before the cache with its weights is out of sight."""
    return extractor_of(Context()).identity


async def test_its_triples_ship_so_that_nothing_is_extracted(identity: str) -> None:
    extractor = DemoExtractor(Refusing(identity))
    path = await demo_index(None)
    index = CorpusIndex.open(path)
    assert set(index.ids()) == shipped(identity).keys(), "renew demo/triples.jsonl"
    made = await extractor.extract(index.passages[:9])
    assert sum(len(one.triples) for one in made) > 9 and not any(one.calls for one in made)
    with pytest.raises(AssertionError):
        await extractor.extract([make_passage("Another", "text")])
    encoder = WordEncoder(dimension=64)
    await demo_propositions(path, identity, encoder)
    opened = open_propositions(path, identity, encoder)
    found = await opened.find([TripleQuery("Nosferatu director F. W. Murnau")], 1)
    assert found.triples[0].triple["object"] == "F. W. Murnau" and not found.warnings


class Refusing:
    batch_size = 1

    def __init__(self, identity: str) -> None:
        self.identity = identity

    async def extract(self, passages: object) -> list[Extraction]:
        raise AssertionError("nothing is to be extracted")
