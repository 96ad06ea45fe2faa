"""Indexes made, changed, looked into and asked from the command line."""

from __future__ import annotations

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
from typer.testing import CliRunner

from ras_flow.cli.index import app
from ras_flow.cli.progress import progress_on
from ras_flow.indexes import IndexProgress
from ras_flow.indexes.manifest import read_manifest
from ras_flow.indexes.opening import settings_of
from tests.cli.command import Command, ras_flow
from tests.cli.model import QUESTION, Model
from tests.indexes.helpers import WordEncoder

STAGE = re.compile("reading documents|writing the index")


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
    options = list(model.options)
    at = options.index("--retriever")
    del options[at : at + 2]
    done = ras_flow("ask", QUESTION, "--index", str(index), "--json", *options)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["answer"] == "Narvik"
    assert result["settings"]["retriever"] == "bm25"


def test_an_index_is_built_with_the_encoder_that_is_named(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ras_flow.cluster.parts.LocalSentenceEncoder", lambda name: WordEncoder(f"{name}@1")
    )
    path = tmp_path / "index"
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, kept in (("my/encoder", "my/encoder"), ("./model", str(tmp_path / "model"))):
        built = CliRunner().invoke(app, ["build", str(path), str(docs), "--encoder", name])
        assert built.exit_code == 0, built.output
        assert settings_of(path) == {"index": str(path), "encoder": kept}
    assert info(path)["encoder"] == f"{tmp_path}/model@1"


def test_documents_are_added_changed_and_removed(index: Path, docs: Path) -> None:
    assert info(index)["passages"] == 4
    more, other = docs.parent / "more.md", docs.parent / "docs" / ".." / "docs" / "Narvik.txt"
    more.write_text("# Leo Fahr\n\nLeo Fahr was born in Oslo.")
    added = ras_flow("index", "add", str(index), str(more))
    assert added.out == f"{index}: 5 documents, 5 passages\n", added.err
    before = info(index)["documents"]
    more.write_text("# Leo Fahr\n\nLeo Fahr was born in Bergen.")
    assert ras_flow("index", "add", str(index), str(more)).code == 0
    after = info(index)["documents"]
    assert {source for source in after if before[source] != after[source]} == {str(more)}
    names = [str(more), str(docs / "Narvik.txt"), str(other)]
    removed = ras_flow("index", "remove", str(index), *names)
    assert removed.out == f"{index}: 3 documents, 3 passages\n", removed.err
    again = ras_flow("index", "remove", str(index), str(more))
    assert again.code == 1 and str(more) in again.err
    assert len(again.err.splitlines()) == 1
    shown = ras_flow("index", "info", str(index)).out
    assert f"  {docs / 'Mira Lund.txt'}" in shown.splitlines()
    assert "BM25 only" in shown


def test_documents_whose_files_are_gone_are_told_and_removed_on_request(
    index: Path, docs: Path
) -> None:
    outside, linked = docs.parent / "more.txt", docs.parent / "linked.txt"
    for file in (outside, linked):
        file.write_text(f"{file.name} is outside of the folder.")
    (docs / "link.txt").symlink_to(linked)
    add = ["index", "add", str(index), str(docs)]
    assert ras_flow(*add, str(outside)).out == f"{index}: 6 documents, 6 passages\n"
    for file in (outside, linked, docs / "Narvik.txt"):
        file.unlink()
    (docs / "Mira Lund.txt").write_bytes(b"\xff is not UTF-8")
    told = ras_flow(*add, "--skip")
    assert told.out == f"{index}: 6 documents, 6 passages\n"
    *_, inside, outside_of_it = told.err.splitlines()
    assert "2 documents whose files are gone" in inside and "--prune" in inside
    assert f"index remove {index} {outside}`" in outside_of_it
    pruned = ras_flow(*add, "--skip", "--prune")
    assert pruned.out == f"{index}: 4 documents, 4 passages\n" and "--prune" not in pruned.err
    assert {str(docs / "Mira Lund.txt"), str(outside)} < info(index)["documents"].keys()


def test_a_moved_folders_old_documents_are_told_and_removed(index: Path, docs: Path) -> None:
    moved = docs.rename(docs.parent / "moved")
    (moved / "Narvik.txt").write_text("It changed since.")
    told = ras_flow("index", "add", str(index), str(moved))
    assert told.out == f"{index}: 8 documents, 5 passages\n"
    there, changed = told.err.splitlines()
    assert "3 documents whose files are gone" in there and "--prune" in there
    assert f"index remove {index} {docs}`" in changed
    pruned = ras_flow("index", "add", str(index), str(moved), "--prune")
    assert pruned.out == f"{index}: 5 documents, 5 passages\n" and "remove" in pruned.err
    removed = ras_flow("index", "remove", str(index), str(docs))
    assert removed.out == f"{index}: 4 documents, 4 passages\n", removed.err


def test_indexes_are_listed_and_searched(
    index: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(docs.parent)
    (docs.parent / "deep" / "broken").mkdir(parents=True)
    (docs.parent / "deep" / "broken" / "manifest.json").write_text('{"format": 1, "generation": 0}')
    found = ras_flow("search", "demo", "Finlandia Hall", "--retriever", "bm25", "--top-k", "1")
    assert found.out.startswith("1. Finlandia Hall  [demo/Finlandia Hall]\n"), found.err
    demo, broken, here = json.loads(ras_flow("index", "list", "--json").out)
    assert broken["problem"]
    assert (here["path"], here["documents"], here["of"]) == (str(index), 4, str(docs))
    assert demo["of"] == "demo"
    assert f"4 documents, 4 passages of {docs}, BM25 only" in ras_flow("index", "list").out
    [[passage]] = [json.loads(ras_flow("search", "index", "Narvik", "--top-k", "1", "--json").out)]
    assert "Narvik" in passage["text"] and passage["score"] > 0
    none = ras_flow("index", "list", str(docs))
    assert ras_flow("search", "index", " ").code == 1 and none.code == 0
    assert "demo" in none.out, "what the cache has is listed everywhere"


def test_the_demos_index_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ras_flow.llms.sentence_encoder.LocalSentenceEncoder", lambda name: WordEncoder(f"{name}@1")
    )
    shown = CliRunner().invoke(app, ["info", "demo"])
    assert "demo/Finlandia Hall" in shown.output and "all-MiniLM" in shown.output


def test_a_folder_that_became_empty_is_pruned_only_beside_other_documents(
    index: Path, docs: Path
) -> None:
    for file in docs.iterdir():
        file.unlink()
    add = ["index", "add", str(index), str(docs)]
    for command in (add, [*add, "--prune"]):
        assert ras_flow(*command).code == 1, "its disk may not be mounted"
    assert len(info(index)["documents"]) == 4
    outside = docs.parent / "outside.txt"
    outside.write_text("Outside of the folder.")
    pruned = ras_flow(*add, str(outside), "--prune")
    assert (pruned.code, pruned.out) == (0, f"{index}: 1 document, 1 passage\n"), pruned.err
    assert list(info(index)["documents"]) == [str(outside)]


def test_progress_is_shown_on_a_terminal_alone(docs: Path) -> None:
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    shown = ras_flow(*build, terminal=True)
    assert shown.code == 0 and STAGE.search(shown.out)
    plain = ras_flow(*build)
    assert plain.code == 0 and not STAGE.search(plain.out + plain.err)
    with StringIO() as out:
        with progress_on(Console(file=out, force_terminal=True)) as progress:
            progress(IndexProgress("embed", 512, 700))
            time.sleep(0.3)
        assert "embedding: 512 of 700" in out.getvalue()


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
    assert "files: all as" in ras_flow("index", "info", str(index), "--verify").out
    [passages] = index.glob("gen-*/passages.jsonl")
    passages.write_bytes(passages.read_bytes().replace(b"Narvik", b"Oslo__"))
    done = ras_flow("index", "info", str(index), "--verify")
    assert done.code == 1 and "passages.jsonl was altered" in done.err
    assert len(done.err.splitlines()) == 1


BROKEN = {"table.jsonl": b'{"text": "One."}\nno json\n', "empty.docx": b"", "scan.pdf": b"%PDF-1.7"}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_named_or_left_out(docs: Path, name: str) -> None:
    (docs / name).write_bytes(BROKEN[name])
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    for options, code in (([], 1), (["--skip"], 0)):
        done = ras_flow(*build, *options)
        [line] = done.err.splitlines()
        assert done.code == code and name in line and ("--skip" in line) == (not options)
    for file in docs.iterdir():
        file.write_bytes(BROKEN["empty.docx"])
    empty = ras_flow(*build[:2], str(docs / "new"), *build[3:], "--skip")
    assert empty.code == 1 and ras_flow("index", "info", str(docs / "new")).code == 1


def test_what_is_left_out_of_folders_and_files_is_told(docs: Path) -> None:
    elsewhere = docs.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("Radium glows.")
    for name, place in {"up": docs, ".hidden": elsewhere, "link": elsewhere}.items():
        (docs / name).symlink_to(place)
    for name in ("a.dat", "B.DAT", "notes", ".hidden.dat"):
        (docs / name).write_text("x")
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    pdf.cell(text="Radium glows.")
    pdf.add_page()
    pdf.image(Image.new("L", (40, 40), 99))
    pdf.output(str(docs / "paper.pdf"))
    build = ["index", "build", str(docs.parent / "index"), str(docs), "--bm25-only"]
    done = ras_flow(*build)
    [scans, others] = done.err.splitlines()
    assert "5 documents" in done.out
    assert "1 of 2 pages" in scans and str(docs / "paper.pdf") in scans
    assert ".dat (2), files without an extension (1), linked folders" in others
    (docs / "dead.txt").symlink_to(docs / "nothing.txt")
    done = ras_flow(*build, str(docs / "link"))
    assert "6 documents" in done.out
    assert "broken links (1)" in done.err and "linked folders" not in done.err
