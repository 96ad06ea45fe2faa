"""Which documents of an index a file stands for, by any name of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.documents.files import IndexedFiles, gone_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("a.txt", "b.jsonl"):
        (tmp_path / "docs" / name).touch()
    (tmp_path / "link").symlink_to("docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_has_the_name_that_the_index_knows_it_by(folder: Path) -> None:
    files = IndexedFiles(dict.fromkeys(["docs/a.txt", f"{folder}/docs/b.jsonl#1"], ""))
    assert files.add(f"{folder}/link/a.txt") == "docs/a.txt"
    assert files.add("link/b.jsonl#2") == f"{folder}/docs/b.jsonl#2"
    assert files.add("new.txt") == "new.txt"
    assert list(files.outdated()) == [f"{folder}/docs/b.jsonl#1"]


def test_a_document_that_is_held_under_two_names_keeps_one(folder: Path) -> None:
    files = IndexedFiles(dict.fromkeys(["docs/a.txt", f"{folder}/docs/a.txt"], ""))
    assert files.add("link/a.txt") == "docs/a.txt"
    assert list(files.outdated()) == [f"{folder}/docs/a.txt"]


def test_what_other_programs_put_into_an_index_is_not_gone(folder: Path) -> None:
    files = IndexedFiles(
        dict.fromkeys(["docs/gone.txt", "00017", "https://x.org/a.html", "elsewhere/gone.txt"], "")
    )
    assert list(files.gone([folder])) == ["docs/gone.txt", "elsewhere/gone.txt"]
    assert list(files.gone([Path("link")])) == ["docs/gone.txt"]
    assert list(files.gone([Path("docs/a.txt")])) == []


def test_a_file_that_was_moved_is_gone_and_others_elsewhere_are_missing(folder: Path) -> None:
    files = IndexedFiles({"old/a.txt": "hash a", "old/c.txt": "hash c"})
    files.add("docs/a.txt", "hash a")
    assert list(files.gone([folder / "docs"])) == ["old/a.txt"]
    assert list(files.missing()) == ["old/a.txt", "old/c.txt"]
    assert gone_folder(f"{folder}/old/deep/c.txt") == f"{folder}/old"
    assert files.named("old") == files.named(f"{folder}/link/../old/") == ["old/a.txt", "old/c.txt"]


def test_a_linked_file_whose_target_is_gone_is_gone(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder / "docs" / "a.txt")
    files = IndexedFiles(dict.fromkeys(["link.txt"], ""))
    assert list(files.gone([folder])) == []
    (folder / "docs" / "a.txt").unlink()
    for held in (files, IndexedFiles(dict.fromkeys(["link.txt"], ""))):
        assert list(held.gone([folder])) == ["link.txt"]
        assert list(held.gone([folder / "docs"])) == [], "it is not in this folder"


def test_a_file_whose_name_is_no_text_is_there(folder: Path) -> None:
    files = IndexedFiles(dict.fromkeys(["docs/bad\\xff.txt"], ""))
    assert files.add("docs/bad\\xff.txt") == "docs/bad\\xff.txt"
    assert list(files.gone([folder])) == []


def test_what_cannot_be_looked_at_is_not_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    files = IndexedFiles(dict.fromkeys(["docs/gone.txt"], ""))
    above = [folder]
    assert list(files.gone(above)) == ["docs/gone.txt"]
    monkeypatch.setattr("os.stat", closed)
    assert list(files.gone(above)) == []


def test_a_name_stands_for_a_document_or_all_lines(folder: Path) -> None:
    held = [f"{folder}/docs/a.txt", "docs/b.jsonl#1", "docs/b.jsonl#12", "00017"]
    files = IndexedFiles(dict.fromkeys(held, ""))
    assert files.named("docs/a.txt") == held[:1]
    assert files.named("link/b.jsonl") == held[1:3]
    assert files.named("link/b.jsonl#1") == held[1:2]
    assert files.named("00017") == ["00017"]
    assert files.named("nope") == []
