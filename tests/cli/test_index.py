"""Indexes made, changed, looked into and asked from the command line."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image
from rich.console import Console

from ras_flow.cli.progress import progress_on
from ras_flow.documents import read_documents
from ras_flow.indexes import CorpusIndex, IndexProgress
from ras_flow.indexes.manifest import read_manifest
from tests.cli.command import Command, ras_flow
from tests.cli.model import QUESTION, Model
from tests.indexes.helpers import WordEncoder

STAGE = re.compile("reading documents|writing the index: 8 of 8")


def info(index: Path) -> Any:
    done = ras_flow("index", "info", str(index), "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


@pytest.fixture
def index(docs: Path) -> Path:
    path = docs.parent / "index"
    done = ras_flow("index", "build", str(path), str(docs), "--bm25-only")
    assert (done.code, done.out) == (0, f"{path}: 4 documents, 4 passages\n"), done.err
    return path


def test_an_index_is_asked_without_naming_its_retriever(model: Model, index: Path) -> None:
    options = model.options[: model.options.index("--retriever")]
    done = ras_flow("ask", QUESTION, "--index", str(index), "--json", *options)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["answer"] == "Narvik"
    assert result["settings"]["retriever"] == "bm25"


def test_an_index_whose_encoder_has_no_name_is_asked_by_bm25(model: Model, docs: Path) -> None:
    index = docs.parent / "index"
    encoder = WordEncoder("acme/embedder")
    asyncio.run(CorpusIndex.build(index, read_documents([docs]), encoder=encoder))
    done = ras_flow("ask", QUESTION, "--index", str(index), "--json", *model.options)
    assert done.code == 0, done.err
    assert json.loads(done.out)["answer"] == "Narvik"
    refused = ras_flow("index", "remove", str(index), str(docs / "Narvik.txt"))
    assert refused.code == 1 and "has vectors of 'acme/embedder'" in refused.err


def test_documents_are_added_changed_and_removed(index: Path, docs: Path) -> None:
    assert info(index)["passages"] == 4
    more = docs.parent / "more.md"
    more.write_text("# Leo Fahr\n\nLeo Fahr was born in Oslo.")
    added = ras_flow("index", "add", str(index), str(more))
    assert added.out == f"{index}: 5 documents, 5 passages\n", added.err
    before = info(index)["documents"]
    more.write_text("# Leo Fahr\n\nLeo Fahr was born in Bergen.")
    assert ras_flow("index", "add", str(index), str(more)).code == 0
    after = info(index)["documents"]
    assert {source for source in after if before[source] != after[source]} == {str(more)}
    removed = ras_flow("index", "remove", str(index), str(more), str(docs / "Narvik.txt"))
    assert removed.out == f"{index}: 3 documents, 3 passages\n", removed.err
    again = ras_flow("index", "remove", str(index), str(more))
    assert again.code == 1 and f"no document '{more}'" in again.err
    assert len(again.err.splitlines()) == 1
    shown = ras_flow("index", "info", str(index)).out
    assert f"  {docs / 'Mira Lund.txt'}" in shown.splitlines()
    assert "encoder: none (BM25 only)" in shown


def test_a_file_of_many_documents_is_removed_at_once(index: Path, docs: Path) -> None:
    lines = docs.parent / "more.jsonl"
    lines.write_text('{"text": "One."}\n{"text": "Two."}\n')
    assert ras_flow("index", "add", str(index), str(lines)).code == 0
    removed = ras_flow("index", "remove", str(index), str(lines))
    assert removed.out == f"{index}: 4 documents, 4 passages\n", removed.err


def test_a_document_that_is_named_twice_is_removed_once(index: Path, docs: Path) -> None:
    names = [str(docs / "Narvik.txt"), str(docs.parent / "docs" / ".." / "docs" / "Narvik.txt")]
    removed = ras_flow("index", "remove", str(index), *names)
    assert removed.out == f"{index}: 3 documents, 3 passages\n", removed.err


def test_lines_that_a_file_no_longer_has_are_gone_when_it_is_added_again(
    index: Path, docs: Path
) -> None:
    lines, other = docs.parent / "more.jsonl", docs.parent / "other.jsonl"
    lines.write_text('{"text": "One."}\n{"text": "Two."}\n{"text": "Three."}\n')
    other.write_text('{"text": "Four."}\n')
    assert ras_flow("index", "add", str(index), str(lines), str(other)).code == 0
    lines.write_text('{"text": "Two."}\n')
    added = ras_flow("index", "add", str(index), str(lines))
    assert added.out == f"{index}: 6 documents, 6 passages\n", added.err
    assert {f"{lines}#1", f"{other}#1"} <= info(index)["documents"].keys()


def test_a_folder_is_held_once_however_its_path_is_spelt(
    index: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "more.jsonl").write_text('{"text": "One."}\n{"text": "Two."}\n')
    (docs.parent / "link").symlink_to(docs)
    monkeypatch.chdir(docs.parent)
    for name in ("docs", "./docs/", "docs/../docs", "link"):
        added = ras_flow("index", "add", "index", name)
        assert (added.out, added.err) == ("index: 6 documents, 6 passages\n", "")
    monkeypatch.chdir(docs)
    (docs / "Narvik.txt").write_text("Narvik is a harbour.")
    (docs / "more.jsonl").write_text('{"text": "Two."}\n')
    assert ras_flow("index", "add", str(index), ".").out == f"{index}: 5 documents, 5 passages\n"
    assert {str(docs / "Narvik.txt"), str(docs / "more.jsonl#1")} <= info(index)["documents"].keys()
    removed = ras_flow("index", "remove", str(index), "Narvik.txt", "../link/more.jsonl")
    assert removed.out == f"{index}: 3 documents, 3 passages\n", removed.err


def test_files_of_the_same_name_in_two_folders_are_two_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text(f"The notes of {name}.")
        monkeypatch.chdir(tmp_path / name)
        command = ["add"] if name == "b" else ["build", "--bm25-only"]
        assert ras_flow("index", *command, "../index", "notes.txt").code == 0
    assert len(info(tmp_path / "index")["documents"]) == 2


def test_documents_whose_files_are_gone_are_told_and_removed_on_request(
    index: Path, docs: Path
) -> None:
    (docs.parent / "more.txt").write_text("Outside of the folder.")
    assert ras_flow("index", "add", str(index), str(docs.parent / "more.txt")).code == 0
    (docs.parent / "more.txt").unlink()
    (docs / "Narvik.txt").unlink()
    (docs / "Mira Lund.txt").write_bytes(b"\xff is not UTF-8")
    add = ["index", "add", str(index), str(docs), "--skip"]
    told = ras_flow(*add)
    assert told.out == f"{index}: 5 documents, 5 passages\n"
    assert "1 documents whose files are gone" in told.err and "Narvik.txt" in told.err
    pruned = ras_flow(*add, "--prune")
    assert pruned.out == f"{index}: 4 documents, 4 passages\n" and "gone" not in pruned.err
    assert str(docs / "Mira Lund.txt") in info(index)["documents"], "its file is there"


def test_a_folder_that_became_empty_is_pruned(index: Path, docs: Path) -> None:
    outside = docs.parent / "outside.txt"
    outside.write_text("Outside of the folder.")
    (docs / "link.txt").symlink_to(outside)
    add = ["index", "add", str(index), str(docs)]
    assert ras_flow(*add).out == f"{index}: 5 documents, 5 passages\n"
    outside.unlink()
    told = ras_flow(*add)
    assert told.code == 0 and "1 documents whose files are gone" in told.err
    for file in docs.iterdir():
        file.unlink()
    refused = ras_flow(*add)
    assert refused.code == 1 and "has no document" in refused.err
    unmounted = ras_flow(*add, "--prune")
    assert unmounted.code == 1 and "no document at all" in unmounted.err
    assert len(info(index)["documents"]) == 5
    outside.write_text("Outside of the folder.")
    pruned = ras_flow(*add, str(outside), "--prune")
    assert (pruned.code, pruned.out) == (0, f"{index}: 1 documents, 1 passages\n"), pruned.err
    assert list(info(index)["documents"]) == [str(outside)]


def test_progress_is_shown_on_a_terminal_alone(docs: Path) -> None:
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    shown = ras_flow(*build, terminal=True)
    assert shown.code == 0 and STAGE.search(shown.out)
    plain = ras_flow(*build)
    assert plain.code == 0 and not STAGE.search(plain.out + plain.err)


def test_progress_says_what_is_done_and_how_much_of_it() -> None:
    with StringIO() as out:
        with progress_on(Console(file=out, force_terminal=True)) as progress:
            progress(IndexProgress("embed", 512, 700))
            time.sleep(0.3)
        shown = out.getvalue()
    assert "embedding passages: 512 of 700" in shown


def test_without_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ras_flow.cli.progress.PAUSE", 0.2)
    for quiet in (True, False):
        with progress_on(Console(file=StringIO(), quiet=quiet)) as progress:
            for done in (1, 2, 3, 4):
                progress(IndexProgress("embed", done, 700))
                time.sleep(0.25 if done == 1 else 0)
    # The first is too early, the second is due, and the others follow too soon.
    assert capsys.readouterr().err == "embedding passages: 2 of 700\n"


def test_an_interrupted_build_leaves_the_index_as_it_was(index: Path, docs: Path) -> None:
    before = info(index)
    sentences = " ".join(f"Sentence {n} ends here." for n in range(300_000))
    (docs / "long.txt").write_text(sentences)
    building = Command("index", "build", str(index), str(docs), "--bm25-only")
    # Not by its lock: to look at it is to hold it for a moment, and the build would be refused.
    building.until(lambda: len(list(index.glob("gen-*"))) > 1)
    building.send(signal.SIGINT)
    done = building.wait()
    assert (done.code, done.out, done.err) == (130, "", "ras-flow: interrupted.\n")
    assert info(index) == before
    assert [item.name for item in index.glob("gen-*")] == [read_manifest(index).generation]


def test_verify_finds_a_changed_byte(index: Path) -> None:
    assert ras_flow("index", "info", str(index), "--verify").code == 0
    [passages] = index.glob("gen-*/passages.jsonl")
    passages.write_bytes(passages.read_bytes().replace(b"Narvik", b"Oslo__"))
    done = ras_flow("index", "info", str(index), "--verify")
    assert done.code == 1 and "was altered" in done.err
    assert len(done.err.splitlines()) == 1


def test_what_cannot_be_read_is_named_or_left_out(docs: Path) -> None:
    (docs / "table.jsonl").write_text('{"text": "One."}\nno json\n')
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    refused = ras_flow(*build)
    assert refused.code == 1 and "table.jsonl, line 2" in refused.err and "--skip" in refused.err
    done = ras_flow(*build, "--skip")
    assert (done.code, done.out) == (0, f"{build[2]}: 5 documents, 5 passages\n")
    assert "left out" in done.err and "table.jsonl, line 2" in done.err


def test_the_types_of_files_that_no_one_reads_are_told(docs: Path) -> None:
    for name in ("a.csv", "B.CSV", "notes", ".hidden.csv"):
        (docs / name).write_text("x")
    done = ras_flow("index", "build", str(docs.parent / "index"), str(docs), "--bm25-only")
    [line] = done.err.splitlines()
    assert done.code == 0 and "4 documents" in done.out
    assert line == "left out: files of types that are not read: .csv (2), without an ending (1)"


def test_links_that_are_left_out_are_told(docs: Path) -> None:
    elsewhere = docs.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("Radium glows.")
    for name, place in {"up": docs, ".hidden": elsewhere, "link": elsewhere}.items():
        (docs / name).symlink_to(place)
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    done = ras_flow(*build)
    [line] = done.err.splitlines()
    assert "4 documents" in done.out
    assert line.startswith(f"left out: linked folders (1), such as {docs / 'link'}: a link is")
    (docs / "dead.txt").symlink_to(docs / "nothing.txt")
    done = ras_flow(*build, str(docs / "link"))
    assert "5 documents" in done.out
    assert done.err == f"left out: links that lead nowhere (1), such as {docs / 'dead.txt'}\n"


def test_scanned_pages_are_told_each_time_and_end_nothing(tmp_path: Path) -> None:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    pdf.cell(text="Radium glows.")
    pdf.add_page()
    pdf.image(Image.new("L", (40, 40), 99))
    pdf.output(str(tmp_path / "paper.pdf"))
    index, docs = str(tmp_path / "index"), str(tmp_path / "paper.pdf")
    for command in (["build", index, docs, "--bm25-only"], ["add", index, docs]):
        done = ras_flow("index", *command)
        [line] = done.err.splitlines()
        assert done.code == 0 and "1 documents, 1 passages" in done.out
        assert line.startswith("left out: 1 of 2 pages of ") and docs in line


@pytest.mark.parametrize("name", ["scan.pdf", "empty.docx"])
def test_a_broken_file_is_one_line(docs: Path, name: str) -> None:
    (docs / name).write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 9 if "pdf" in name else b"")
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    refused = ras_flow(*build)
    [line] = refused.err.splitlines()
    assert refused.code == 1 and name in line and "--skip" in line
    left_out = ras_flow(*build, "--skip")
    [line] = left_out.err.splitlines()
    assert left_out.code == 0 and line.startswith("left out: ") and name in line


def test_documents_of_which_none_can_be_read_make_no_index(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("  \n")
    build = ["index", "build", str(tmp_path / "index"), str(tmp_path / "a.txt"), "--bm25-only"]
    done = ras_flow(*build, "--skip")
    assert done.code == 1 and "None of these documents can be read" in done.err
    assert ras_flow("index", "info", build[2]).code == 1
