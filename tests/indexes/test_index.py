from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ras_flow.documents import SourceDocument
from ras_flow.errors import (
    ConfigurationError,
    CorpusIndexError,
    DocumentError,
    IndexCorruptError,
    IndexMismatchError,
    IndexMissingError,
    InputError,
)
from ras_flow.indexes import CorpusIndex, IndexProgress, open_retriever
from ras_flow.indexes.manifest import read_manifest
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from tests.indexes.helpers import DOCUMENTS, WordEncoder, edit_manifest, titles

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    await CorpusIndex.build(path, DOCUMENTS, encoder=WordEncoder())
    return path


def files(path: Path) -> dict[str, bytes]:
    folder = path / read_manifest(path).generation
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


async def test_an_index_opens_in_another_process(path: Path) -> None:
    program = (
        "import asyncio, sys; from ras_flow.indexes import open_retriever; "
        "found = asyncio.run(open_retriever(sys.argv[1], 'bm25').retrieve(['首都'], 1)); "
        "sys.stdout.buffer.write(found[0][0].passage['title'].encode())"
    )
    done = subprocess.run([sys.executable, "-c", program, path], cwd=ROOT, capture_output=True)
    assert done.stdout.decode() == "東京", done.stderr.decode()


async def test_open_retriever_serves_each_kind_and_nothing_is_pickled(path: Path) -> None:
    for kind in ("bm25", "dense", "hybrid"):
        retriever = open_retriever(path, kind, WordEncoder())  # type: ignore[arg-type]
        assert (await titles(retriever, "textile mills"))[0] == "Łódź"
    assert {Path(name).suffix for name in files(path)} == {".json", ".jsonl", ".npy"}
    assert read_manifest(path).files.keys() == files(path).keys()


async def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    documents = [SourceDocument(f"{n}", "", f"Document {n}.") for n in range(700)]
    seen: list[IndexProgress] = []
    await CorpusIndex.build(tmp_path, documents, encoder=WordEncoder(), progress=seen.append)
    assert [p.done for p in seen if p.stage == "embed"] == [512, 700]
    assert max(p.done for p in seen if p.stage == "read") == 700
    assert seen[-1].stage == "write" and seen[-1].done == seen[-1].total


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
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    damage: Callable[[bytes], bytes],
) -> None:
    monkeypatch.setattr("ras_flow.indexes.manifest.SMALL", 0)
    file = path / read_manifest(path).generation / name
    file.write_bytes(damage(file.read_bytes()))
    before = files(path)
    index = CorpusIndex.open(path, encoder=WordEncoder())
    with pytest.raises(IndexCorruptError, match=f"{name}.*build the index again"):
        await index.update([SourceDocument("x", "X", "New.")])
    assert files(path) == before


async def test_verify_tells_an_update_from_damage(path: Path) -> None:
    opened = CorpusIndex.open(path)
    await CorpusIndex.open(path, encoder=WordEncoder()).update(remove=["ada.txt"])
    with pytest.raises(CorpusIndexError, match="updated since it was opened: open it again"):
        opened.verify()


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


async def test_a_manifest_that_someone_edited_is_noticed(path: Path) -> None:
    manifest = path / "manifest.json"
    manifest.write_text(re.sub(r'"max_words": \d+', '"max_words": 7', manifest.read_text()))
    with pytest.raises(IndexCorruptError, match="was altered"):
        CorpusIndex.open(path)


async def test_another_format_says_to_build_again(path: Path) -> None:
    (path / "manifest.json").write_text('{"format": 99, "surprise": []}')
    with pytest.raises(IndexMismatchError, match="format 99.*Build the index again"):
        CorpusIndex.open(path)


def test_no_index_says_so(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(IndexMissingError, match="no index at"):
        CorpusIndex.open(tmp_path / "nothing")
    with pytest.raises(IndexMissingError, match="file.txt is a file, and an index is a folder"):
        CorpusIndex.open(tmp_path / "file.txt")


async def test_another_encoder_is_refused_and_a_moved_one_is_the_same(tmp_path: Path) -> None:
    await CorpusIndex.build(tmp_path, DOCUMENTS, encoder=WordEncoder("./model@0123456789ab"))
    moved = open_retriever(tmp_path, "dense", WordEncoder("/models/words@0123456789ab"))
    assert (await titles(moved, "textile mills"))[0] == "Łódź"
    # Other weights, and another encoder around the same weights.
    for other in ("./model@0123456789ac", "query: ./model@0123456789ab", "others"):
        with pytest.raises(IndexMismatchError, match=f"not with '{other}'"):
            open_retriever(tmp_path, "dense", WordEncoder(other))
        assert await titles(open_retriever(tmp_path, "bm25", WordEncoder(other)), "mills")


async def test_an_encoder_of_the_same_name_and_another_dimension_is_refused(path: Path) -> None:
    before = files(path)
    longer = CorpusIndex.open(path, encoder=WordEncoder(dimension=4096))
    with pytest.raises(IndexMismatchError, match="2048.*4096"):
        await longer.retriever("dense").retrieve(["mills"], 1)
    with pytest.raises(IndexMismatchError, match="2048.*4096"):
        await longer.update([SourceDocument("x", "X", "New.")])
    assert files(path) == before


async def test_retrieval_without_vectors_or_encoder_says_what_to_do(
    path: Path, tmp_path: Path
) -> None:
    plain = await CorpusIndex.build(tmp_path / "plain", DOCUMENTS, encoder=None)
    with pytest.raises(ConfigurationError, match="built without an encoder"):
        plain.retriever("hybrid")
    with pytest.raises(ConfigurationError, match="opened without an encoder"):
        CorpusIndex.open(path).retriever("dense")
    with pytest.raises(ConfigurationError, match="'best'"):
        CorpusIndex.open(path).retriever("best")  # type: ignore[arg-type]


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


async def test_what_to_remove_may_depend_on_the_documents_that_were_read(path: Path) -> None:
    read: list[str] = []

    def documents() -> Iterator[SourceDocument]:
        for document in DOCUMENTS[:2]:
            read.append(document.source)
            yield document

    index = CorpusIndex.open(path, encoder=WordEncoder())
    held = await index.sources()
    index = await index.update(documents(), remove=(one for one in held if one not in read))
    assert (await index.sources()).keys() == set(read)
    index = await index.update(DOCUMENTS[:1], remove=held, missing_ok=True)
    assert (await index.sources()).keys() == {DOCUMENTS[0].source}


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
            given = [SourceDocument(source, "T", text) for source, text in state.items()]
            gone = (await index.sources()).keys() - state.keys()
            index = await index.update(given, remove=gone)
        await CorpusIndex.build(folder / "b", given, encoder=WordEncoder(), max_words=2)
        assert files(folder / "a") == files(folder / "b")

    asyncio.run(play())


async def test_a_passage_of_two_documents_survives_the_removal_of_one(tmp_path: Path) -> None:
    twins = [SourceDocument(name, "T", "The same text.") for name in "ab"]
    index = await CorpusIndex.build(tmp_path, twins, encoder=None)
    assert len(index) == 1
    index = await index.update(remove=["a"])
    [[(passage, _)]] = await index.retriever("bm25").retrieve(["text"], 5)
    assert passage["source"] == "b"
    assert len(await index.update(remove=["b"])) == 0


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


async def test_a_failing_build_leaves_the_old_index(path: Path) -> None:
    class Failing(WordEncoder):
        async def encode(self, texts):  # type: ignore[no-untyped-def]
            raise ConfigurationError("no model today")

    before = files(path)
    with pytest.raises(ConfigurationError, match="no model today"):
        await CorpusIndex.build(path, DOCUMENTS, encoder=Failing())

    def broken() -> Iterator[SourceDocument]:
        yield DOCUMENTS[0]
        raise DocumentError("bad file")

    with pytest.raises(DocumentError, match="bad file"):
        await CorpusIndex.build(path, broken(), encoder=WordEncoder())
    assert files(path) == before
    assert len(list(path.glob("gen-*"))) == 1


async def test_a_cancelled_build_leaves_the_old_index(path: Path) -> None:
    class Slow(WordEncoder):
        async def encode(self, texts):  # type: ignore[no-untyped-def]
            await asyncio.sleep(60)

    before = files(path)
    task = asyncio.create_task(CorpusIndex.build(path, DOCUMENTS[:1], encoder=Slow()))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert files(path) == before
    await CorpusIndex.build(path, DOCUMENTS[:1], encoder=None)


@pytest.mark.parametrize("point", ["embedding", "before the switch", "after the switch"])
async def test_a_killed_build_leaves_one_whole_index(path: Path, point: str) -> None:
    before = files(path)
    program = [sys.executable, "-m", "tests.indexes.killed_build", path, point]
    process = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"now\n"
    with pytest.raises(CorpusIndexError, match="Another process or task is writing"):
        await CorpusIndex.build(path, DOCUMENTS, encoder=None)
    process.kill()
    process.wait()
    process.stdout.close()

    index = CorpusIndex.open(path, encoder=WordEncoder())
    index.verify()
    if point == "after the switch":
        assert await titles(index.retriever("bm25"), "entirely new mills") == ["New"]
    else:
        assert files(path) == before
        assert await titles(index.retriever("bm25"), "entirely new mills") == ["Łódź"]
    await index.update([SourceDocument("x", "X", "Next.")])
    assert len(list(path.glob("gen-*"))) == 1


async def test_two_writers_in_one_process_do_not_meet(path: Path) -> None:
    results = await asyncio.gather(
        *(CorpusIndex.build(path, DOCUMENTS, encoder=None) for _ in range(2)),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == [
        "CorpusIndex",
        "CorpusIndexError",
    ]


async def test_a_reader_never_sees_a_half_written_index(path: Path) -> None:
    async def write() -> None:
        for n in range(15):
            index = CorpusIndex.open(path, encoder=WordEncoder())
            await index.update([SourceDocument("n", "N", f"Version {n}.")])

    writer = asyncio.create_task(write())
    opened = 0
    while not writer.done():
        index = await asyncio.to_thread(CorpusIndex.open, path)
        assert len(index) in (5, 6)
        opened += 1
    await writer
    assert opened > 5


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
    with pytest.raises(CorpusIndexError, match="Cannot write an index at /proc/index"):
        await CorpusIndex.build("/proc/index", DOCUMENTS, encoder=None)


@pytest.mark.parametrize("damage", ["{", '{"format": 0}', "no manifest", "no files"])
async def test_a_damaged_index_is_replaced_by_a_build(path: Path, damage: str) -> None:
    kept = path / "gen-reports.txt"
    kept.write_text("somebody's own")
    if damage == "no files":
        shutil.rmtree(path / read_manifest(path).generation)
    elif damage == "no manifest":
        (path / "manifest.json").unlink()
        kept.rename(kept := path.parent / kept.name)
    else:
        (path / "manifest.json").write_text(damage)
    await CorpusIndex.build(path, DOCUMENTS[:1], encoder=None)
    CorpusIndex.open(path).verify()
    assert kept.exists() and len([one for one in path.glob("gen-*") if one.is_dir()]) == 1


async def test_text_that_utf8_cannot_hold_is_stored_with_a_replacement(tmp_path: Path) -> None:
    document = SourceDocument("a\udc80", "T\ud800", "Lone \udfff surrogate\0.")
    index = await CorpusIndex.build(tmp_path, [document], encoder=None)
    [[(passage, _)]] = await index.retriever("bm25").retrieve(["surrogate \ud800"], 1)
    assert passage["text"] == "Lone \ufffd surrogate\ufffd."


def test_importing_retrieval_is_light() -> None:
    heavy = "bm25s faiss torch numpy scipy langchain_core sentence_transformers bs4 pypdf docx"
    program = (
        f"import sys, ras_flow.indexes; print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
    assert done.stdout.strip() == b"[]", done.stderr.decode()


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
