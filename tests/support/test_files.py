"""Files written whole: a failure leaves what was there, links and pipes stay what they are."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ras_flow.errors import RunError
from ras_flow.support.files import file_lock, let_all_read, whole_file, whole_folder, write_whole


def test_a_text_replaces_a_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "card.md"
    write_whole(file, "Åse\r\n\n")
    assert file.read_bytes() == "Åse\r\n\n".encode()
    write_whole(file, "new")
    assert file.read_text() == "new"
    assert os.listdir(tmp_path) == ["card.md"]


def test_an_error_half_way_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "card.md"
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "half a pair \ud800")
    with pytest.raises(KeyError), whole_file(file) as opened:
        opened.write("new")
        raise KeyError
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["card.md"]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "missing" / "card.md", "new")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    named = tmp_path / "pipe"
    os.mkfifo(named)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(named.read_text()))
    reader.start()
    write_whole(named, "through")
    reader.join(10)
    assert read == ["through"] and named.is_fifo()
    # As `-o /dev/stdout` before a `|`: a pipe without a path.
    reading, writing = os.pipe()
    write_whole(Path(f"/dev/fd/{writing}"), "through")
    os.close(writing)
    with open(reading) as pipe:
        assert pipe.read() == "through"


def test_an_error_leaves_the_folder_that_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    others = [tmp_path / "model.before", tmp_path / "model.unfinished"]
    for other in others:
        other.mkdir()
        (other / "card.md").write_text("a person's own")
    for text in ("old", "new"):
        with whole_folder(folder) as scratch:
            (scratch / "card.md").touch(0o600)
            (scratch / "card.md").write_text(text)
    with pytest.raises(KeyError), whole_folder(folder) as scratch:
        (scratch / "card.md").write_text("half")
        raise KeyError
    assert (folder / "card.md").read_text() == "new"
    assert all((other / "card.md").read_text() == "a person's own" for other in others)
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, *(o.name for o in others)}
    let_all_read(folder)
    assert (folder / "card.md").stat().st_mode & 0o777 == 0o644


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path, busy = tmp_path / "new" / ".lock", RunError("busy")
    with file_lock(path, busy), pytest.raises(RunError, match="busy"), file_lock(path, busy):
        pass
    with file_lock(path, busy):
        pass


def test_what_a_kill_between_two_names_moved_away_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    with whole_folder(folder) as scratch:
        (scratch / "card.md").write_text("old")
    moved, put = os.replace, [True, False]

    def killed(source: Path, target: Path) -> None:
        if not put.pop(0):
            raise SystemExit
        moved(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(SystemExit), whole_folder(folder) as scratch:
            (scratch / "card.md").write_text("new")
    assert not folder.exists()
    with pytest.raises(KeyError), whole_folder(folder):
        raise KeyError
    assert (folder / "card.md").read_text() == "old"
    assert os.listdir(tmp_path) == ["model"]
