"""Triples by passage and extractor, in a store that others may write to as well."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from ras_flow.errors import ModelUnavailableError, RunError
from ras_flow.parts import Extraction
from ras_flow.runs import open_store
from ras_flow.state.schema import Passage, make_passage
from ras_flow.triples.cache import KeptTriples, TripleCache, clear_kept, read_kept

FOUND = Extraction([("Mira Lund", "place of birth", "Narvik")], ["(S> broken"], None, 40, 9)


async def test_what_was_put_is_found_by_the_same_extractor_at_no_cost() -> None:
    store, failure = InMemoryStore(), Extraction([], error="the server was away")
    await TripleCache(store, "a").put({"p1": FOUND, "p2": Extraction([]), "p3": failure})
    kept = await TripleCache(store, "a").get(["p2", "p1", "p3", "p4"])
    assert kept == {"p1": Extraction(FOUND.triples), "p2": Extraction([])}
    assert await TripleCache(store, "b").get(["p1"]) == {}


async def test_of_a_passage_with_failed_parts_these_alone_are_asked_again() -> None:
    store, passage = InMemoryStore(), make_passage("Title", "One. Two. Three.")
    made = [Extraction([("one", "is", "read")], error="2 of 3 failed", left=["Two.", "Three."])]
    asked: list[Passage] = []

    async def ask(passages: Sequence[Passage]) -> list[Extraction]:
        asked.extend(passages)
        return made

    async def extract() -> Extraction:
        cache = TripleCache(store, "a")
        assert await cache.get([passage["id"]]) == {}
        [extraction] = await cache.extract([passage], ask)
        return extraction

    assert await extract() == made[0] and asked == [passage]
    asked.clear()
    made = [
        Extraction([("One", "is", "read"), ("two", "is", "read")], calls=1, input_tokens=7),
        Extraction([], error="refused", calls=1),
    ]
    again = await extract()
    assert [(one["title"], one["text"]) for one in asked] == [
        ("Title", "Two."),
        ("Title", "Three."),
    ]
    assert again.triples == [("one", "is", "read"), ("two", "is", "read")]
    assert (again.error, again.left, again.calls) == ("refused", ["Three."], 2)
    assert again.input_tokens == 7
    assert [(one.passage, one.triples) async for one in read_kept(store)] == [
        (passage["id"], again.triples)
    ]
    made = [Extraction([("three", "is", "read")])]
    whole = await extract()
    assert (len(whole.triples), whole.error) == (3, None)
    assert await TripleCache(store, "a").get([passage["id"]]) == {
        passage["id"]: Extraction(whole.triples)
    }
    assert await clear_kept(store) == 1


async def test_passages_that_several_runs_ask_for_at_once_are_extracted_once() -> None:
    store, asked = InMemoryStore(), list[str]()

    async def ask(passages: Sequence[Passage]) -> list[Extraction]:
        asked.extend(passage["text"] for passage in passages)
        await asyncio.sleep(0.01)
        return [Extraction([(one["text"], "is", "x")], [], None, 7, 3) for one in passages]

    async def extract(texts: str) -> list[Extraction]:
        passages = [make_passage("T", text) for text in texts]
        return await TripleCache(store, "a").extract(passages, ask)

    made = await asyncio.gather(*map(extract, ("ab", "bc", "ca")))
    assert sorted(asked) == ["a", "b", "c"]
    assert [one.triples for some in made for one in some] == [[(t, "is", "x")] for t in "abbcca"]
    assert sum(one.calls for some in made for one in some) == 3
    assert sum(one.input_tokens for some in made for one in some) == 21


async def test_who_waits_for_a_call_that_fails_makes_its_own() -> None:
    store, passage = InMemoryStore(), make_passage("T", "text")
    answers: list[Extraction | Exception] = [ModelUnavailableError("gone"), FOUND]

    async def ask(_: Sequence[Passage]) -> list[Extraction]:
        await asyncio.sleep(0.01)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [answer]

    calls = [TripleCache(store, "a").extract([passage], ask) for _ in range(3)]
    first, second, third = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(first, ModelUnavailableError) and second == [FOUND]
    assert isinstance(third, list) and (third[0].triples, third[0].calls) == (FOUND.triples, 0)


@pytest.mark.parametrize("ticks", range(0, 8, 2))
async def test_who_is_cancelled_leaves_the_store_to_the_others(tmp_path: Path, ticks: int) -> None:
    made = {f"p{number}": FOUND for number in range(20)}
    async with open_store(str(tmp_path), new=True) as store:
        cache = TripleCache(store, "a")
        putting = asyncio.create_task(cache.put(made))
        for _ in range(ticks):
            await asyncio.sleep(0)
        putting.cancel()
        with suppress(asyncio.CancelledError):
            await putting
        assert len(await cache.get(list(made))) in (0, 20)
        await cache.put({"after": FOUND})
    async with open_store(str(tmp_path)) as store:
        assert await TripleCache(store, "a").get(["after"])


@pytest.mark.parametrize("kind", ["folder", "postgres"])
async def test_what_an_extractor_did_not_clean_is_stored_without_what_stores_refuse(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path) if kind == "folder" else request.getfixturevalue("postgres")
    passage = make_passage("Title", "One. Two.")
    dirty = Extraction([("Mira\0 Lund", "is\ud800", "\udfffread")], error="cut", left=["Two\0."])

    async def ask(_: Sequence[Passage]) -> list[Extraction]:
        return [dirty]

    async with open_store(address, new=True) as store:
        [made] = await TripleCache(store, "dirty").extract([passage], ask)
        assert (made.triples, made.left) == ([("Mira Lund", "is", "read")], ["Two."])
        [kept] = [one async for one in read_kept(store, "dirty")]
        assert kept.triples == made.triples


@pytest.mark.parametrize(
    "value",
    [{}, {"triples": None}, {"triples": "abc"}, {"triples": [["a", "b"]]}, {"triples": [[1, 2, 3]]}]
    + [{"triples": ["abc"]}, {"triples": {"a": "b"}}, {"other": 1}]
    + [{"triples": [], "left": "abc"}, {"triples": [], "left": [None]}],
)
async def test_a_damaged_record_counts_as_unknown(value: dict[str, Any]) -> None:
    store = InMemoryStore()
    cache = TripleCache(store, "a")
    await cache.put({"p1": FOUND, "p2": FOUND})
    [item, _] = store.search(("ras_flow", "triples"))
    store.put(item.namespace, item.key, value)
    assert list(await cache.get(["p1", "p2"])) == [id for id in ("p1", "p2") if id != item.key]


async def kept(store: BaseStore, extractor: str = "") -> list[tuple[str, str]]:
    return sorted([(one.passage, one.extractor) async for one in read_kept(store, extractor)])


async def test_what_is_kept_can_be_read_and_cleared_by_extractor(tmp_path: Path) -> None:
    stores: list[BaseStore] = [InMemoryStore()]
    async with open_store(str(tmp_path / "new"), new=True) as on_disk:
        for store in [*stores, on_disk]:
            ids = [f"{i:x}{i}" for i in range(40)]
            await TripleCache(store, "model:a").put(dict.fromkeys(ids, FOUND))
            await TripleCache(store, "model:b").put({"p1": FOUND, "p2": Extraction([])})
            await store.aput(("ras_flow", "triples", "x"), "k", {"triples": "alien"})
            await store.aput(("other",), "k", {"triples": []})
            assert await kept(store, "b") == [("p1", "model:b"), ("p2", "model:b")]
            assert len(await kept(store)) == 42
            [one] = [one async for one in read_kept(store, "b") if one.passage == "p1"]
            assert isinstance(one, KeptTriples) and one.triples == FOUND.triples
            assert await clear_kept(store, "model:a") == 40
            assert len(await kept(store)) == 2
            assert await TripleCache(store, "model:a").get(ids) == {}
            assert await clear_kept(store) == 2
            assert await store.aget(("other",), "k") is not None


def write(folder: str, number: int, together: Any) -> None:
    async def work() -> None:
        async with open_store(folder, new=True) as store:
            cache = TripleCache(store, f"extractor {number % 2}")
            for batch in range(25):
                ids = [f"{number:x}-{batch}-{i}" for i in range(6)]
                assert await cache.get(ids) == {}
                await cache.put(
                    {id: Extraction([(id, "is", "kept")]) for id in ids}
                    | {"common": Extraction([("all", "agree", "here")])}
                )

    together.wait(60)
    asyncio.run(work())


async def test_writers_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("spawn")
    together = processes.Barrier(4)
    writers = [processes.Process(target=write, args=(str(tmp_path), n, together)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        await asyncio.to_thread(writer.join, 120)
    assert [writer.exitcode for writer in writers] == [0] * 4
    async with open_store(str(tmp_path)) as store:
        found = {(one.passage, one.extractor): one.triples async for one in read_kept(store)}
    assert found.pop(("common", "extractor 0")) == found.pop(("common", "extractor 1"))
    assert found == {
        (id, f"extractor {n % 2}"): [(id, "is", "kept")]
        for n in range(4)
        for id in (f"{n:x}-{batch}-{i}" for batch in range(25) for i in range(6))
    }


@pytest.mark.parametrize("address", ["http://localhost:1", "mysql://x/y"])
async def test_an_address_without_a_store_is_told(address: str) -> None:
    with pytest.raises(RunError, match="postgresql"):
        async with open_store(address):
            pass


async def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_text("not a database, but long enough to look at" * 9)
    with pytest.raises(RunError, match=r"cannot be used.*move its files away"):
        async with open_store(str(tmp_path)):
            pass
