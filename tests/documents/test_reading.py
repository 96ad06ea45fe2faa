"""Files and folders to documents, and what is said of those that cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pypdf
import pytest

from ras_flow.documents import ReadReport, read_documents
from ras_flow.errors import DocumentError
from ras_flow.indexes import CorpusIndex
from tests.documents.samples import read, write_docx, write_pdf

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    def broken(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    encrypted = tmp_path / "encrypted.pdf"
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(encrypted)
    cases = {
        broken("latin.md", b"caf\xe9"): "not UTF-8 at byte 3",
        broken("paper.txt", b"%PDF-1.7\nin ASCII"): "PDF",
        broken("windows.txt", "Ada".encode("utf-16")): "UTF-16",
        broken("unmarked.txt", "Ada".encode("utf-16-be")): "UTF-16",
        broken("none.html", b"caf\xe9"): "not utf-8",
        broken("unknown.html", b'<meta charset="no-such">x'): "not no-such",
        broken("empty.txt", b" \n"): "has no text",
        broken("empty.html", b"<script>1</script>"): "has no text",
        broken("no.pdf", b"no pdf"): "PDF",
        broken("cut.pdf", (tmp_path / "plain.pdf").read_bytes()[:300]): "PDF|no text",
        encrypted: "password",
        write_pdf(tmp_path / "scan.pdf", text=" "): "OCR",
        write_pdf(tmp_path / "font.pdf", text="- . -"): "OCR",
        broken("no.docx", b"no zip"): ".docx",
        broken("locked.xlsx", OLE + "EncryptedPackage".encode("utf-16-le")): "is encrypted",
        broken("old.pptx", OLE + bytes(2000)): "older format than .pptx",
        broken("cut.docx", write_docx(tmp_path / "whole.docx").read_bytes()[:5000]): ".docx",
        tmp_path / "missing.txt": "no file or folder",
        broken("data.dat", b"a,b"): "unsupported type",
    }
    for path, message in cases.items():
        with pytest.raises(DocumentError, match=message) as caught:
            read(path)
        assert path.name in str(caught.value)


def test_a_folder_is_walked_in_order_and_the_rest_is_reported(tmp_path: Path) -> None:
    for name in [
        "b.txt",
        "a.txt",
        "sub/c.txt",
        ".hidden.txt",
        ".git/d.txt",
        "~$b.docx",
        "data.dat",
    ]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    report = ReadReport()
    found = list(read_documents([tmp_path], report=report))
    assert [document.text for document in found] == ["a.txt", "b.txt", "sub/c.txt"]
    assert [path.name for path in report.ignored] == [
        *(".git", ".hidden.txt", "data.dat", "~$b.docx")
    ]
    assert read(tmp_path / "~$b.docx") == []


def test_links_that_loop_or_lead_nowhere_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "up").symlink_to(tmp_path)
    (tmp_path / "self.txt").symlink_to(tmp_path / "self.txt")
    (tmp_path / "dead.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "long.txt").symlink_to("x" * 300)
    (tmp_path / "linked.txt").symlink_to(tmp_path / "a.txt")
    report = ReadReport()
    found = list(read_documents([tmp_path], report=report))
    assert [Path(document.source).name for document in found] == ["a.txt"]
    assert {path.name for path in report.ignored} == {"up", "self.txt", "dead.txt", "long.txt"}
    with pytest.raises(DocumentError, match="no file or folder"):
        read(tmp_path / "self.txt")


async def test_an_index_among_the_documents_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    await CorpusIndex.build(tmp_path / "index", read(tmp_path), encoder=None)
    assert list(tmp_path.glob("index/gen-*/passages.jsonl"))
    assert [Path(document.source).name for document in read(tmp_path)] == ["a.txt"]
    with pytest.raises(DocumentError, match="index is an index"):
        read(tmp_path / "index")
    (tmp_path / "index" / "manifest.json").unlink()
    assert [Path(document.source).name for document in read(tmp_path)] == ["a.txt"]


def test_a_file_that_is_reached_twice_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path, tmp_path / "a.txt", tmp_path, Path("a.txt"), Path("link/a.txt")]
    assert [document.source for document in read(*paths)] == [str(tmp_path / "a.txt")]


def test_odd_file_names_work_and_sources_can_be_stored(tmp_path: Path) -> None:
    names = [b"with space & \xc3\xa9.txt", b"new\nline.txt", b"{0}%s.txt", b"not utf8 \xff.txt"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"text")
    found = read(tmp_path)
    assert len({json.dumps(d.source).encode() for d in found}) == 4
    assert any(document.title == "not utf8 \\xff" for document in found)


def test_a_folder_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "data.dat").write_text("a,b")
    with pytest.raises(DocumentError, match=r"has no documents\. .*jsonl\.$"):
        read(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path.parent)
    with pytest.raises(DocumentError, match="linked folders"):
        read(tmp_path)


def _skips_one_beside_b(folder: Path) -> str:
    """Check that all but one document is read, and return what is said of that one."""
    report = ReadReport()
    found = read_documents([folder], on_error="skip", report=report)
    assert [document.text for document in found] == ["fine"]
    assert len(report.errors) == 1
    return str(report.errors[0])


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_the_system_does_not_let_us_see_is_named_or_left_out(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here since its path is too long, which stops root as well."""
    (tmp_path / "b.txt").write_text("fine")
    monkeypatch.chdir(tmp_path)
    while len(os.getcwd()) < 3_900:
        os.mkdir("d" * 150)
        os.chdir("d" * 150)
    if kind == "file":
        Path(f"{'a' * 240}.txt").write_text("text")
    else:
        os.mkdir("e" * 240)
    with pytest.raises(DocumentError, match=r"Cannot read .*\(File name too long\)"):
        read(tmp_path)
    _skips_one_beside_b(tmp_path)
